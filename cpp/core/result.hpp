// What a solve returns.
#pragma once

#include <cstdint>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "search/options.hpp"
#include "search/path_entry.hpp"
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

struct PathResult {
  Status status = Status::optimal;
  std::vector<PathEntry> entries;
  Counters counters;
  double seconds = 0;
};
// The path that needs no memory: a single leaf, as `leaf` has it, and no bound but zero.
PathResult path_of_leaf(Result leaf, const Options& options);

// `interval` and `gap` in the caller's units.  A search that ended by itself above the gap had found a better tree and could
// not rebuild it, because the table had no room for its parts.
Status status_of(const Budget& budget, const Interval& interval, Cost gap = kInfinite);

}  // namespace certree
