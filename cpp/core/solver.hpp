// The one door to the core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cost.hpp"
#include "data/dataset.hpp"
#include "search/debug_tree.hpp"
#include "search/options.hpp"
#include "search/progress.hpp"
#include "tasks/count_task.hpp"

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

// Least error_scale * cost + split_penalty * splits over all trees within the limits of `options`.
// Throws std::invalid_argument for arguments that make no sense; reaching a limit is a result.
Result solve(const TableView& table, const CountTask& task, const Options& options, Observer observer = {});

}  // namespace certree
