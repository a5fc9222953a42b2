// What a solve returns.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "base/limits.hpp"
#include "search/options.hpp"
#include "search/progress.hpp"
#include "search/tree.hpp"

namespace certree {

enum class Status : std::uint8_t { optimal, gap, time_limit, memory_limit, work_limit, interrupted };
const char* status_name(Status);

// All values in the caller's units: error_scale * cost + split_penalty * splits.
struct Result {
  Status status = Status::optimal;
  Cost lower_bound = 0;
  Cost upper_bound = 0;
  Tree tree;  // columns are the caller's
  Counters counters;
  std::vector<ProgressEvent> history;
  double seconds = 0;
};

// `interval` in the caller's units.
Status status_of(const Limits& limits, const Interval& interval);

}  // namespace certree
