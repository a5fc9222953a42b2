// What a solve returns.
#pragma once

#include <cstdint>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "search/shared/assignment.hpp"
#include "search/shared/options.hpp"
#include "search/shared/path_entry.hpp"
#include "search/shared/points.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/tree.hpp"

namespace certree {

enum class Status : std::uint8_t { optimal, gap, time_limit, memory_limit, work_limit, interrupted };
const char* status_name(Status);

// What every entry point returns.
struct Report {
  Status status = Status::optimal;
  Counters counters;
  double seconds = 0;
};

// Of a search for one best tree.  All values in the caller's units: error_scale * cost + split_penalty * splits.
struct ValueReport : Report {
  Cost lower_bound = 0;
  Cost upper_bound = 0;
  // The same in the units of the search: `factor` times the value, plus the number of splits (search/shared/scale.hpp).
  Cost inner_lower = 0;
  Cost inner_upper = kInfinite;
  Cost factor = 1;
  std::vector<ProgressEvent> history;
};

// In all results, columns of trees are the caller's.
struct Result : ValueReport {
  Tree tree;
  // Of an assignment (search/shared/assignment.hpp).
  std::vector<SplitBound> splits;
  std::vector<SharedEntry> entries;
};

struct PathResult : Report {
  std::vector<PathEntry> entries;
};

// Of a search for many trees.
struct PointsResult : Report {
  std::size_t width = 0;  // of the points
  std::vector<PointTree> trees;
  std::vector<PointEvent> history;
};

// `interval` and `gap` in the caller's units.  A search that ended by itself above the gap had found a better tree and could
// not rebuild it, because the table had no room for its parts.
Status status_of(const Budget& budget, const Interval& interval, Cost gap);
// Of a search for many trees.
Status status_of(const Budget& budget, bool is_complete);

}  // namespace certree
