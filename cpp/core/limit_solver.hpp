// The door to the core for searches with limits on the whole tree.
#pragma once

#include <vector>

#include "data/limit_data.hpp"
#include "result.hpp"
#include "search/limit_search.hpp"
#include "search/options.hpp"

namespace certree {

struct LimitTree {
  std::vector<Cost> point;  // quantities and splits
  Tree tree;                // columns are the caller's
};

struct LimitResult {
  Status status = Status::optimal;  // optimal: what is not in `trees` and not dominated by one of them is not wanted
  std::vector<LimitTree> trees;     // one, none, or a front by rising objective
  Counters counters;
  std::vector<LimitEvent> history;
  double seconds = 0;
};

// The wanted tree with the least objective, or the front of objective and gap.  options.max_splits is not read: a limit on
// splits is a plane.  Throws std::invalid_argument for arguments that make no sense; reaching a limit is a result.
LimitResult solve_limited(const LimitTable& table, const LimitTask& task, const Options& options,
                          LimitObserver observer = {});

}  // namespace certree
