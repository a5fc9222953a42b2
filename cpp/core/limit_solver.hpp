// The entry point for searches with limits on the whole tree.
#pragma once

#include "data/limit_data.hpp"
#include "result.hpp"
#include "search/shared/options.hpp"

namespace certree {

// The wanted tree with the least objective, none, or the front of objective and gap by rising objective; points are
// quantities and splits.  Optimal: what is neither here nor dominated by a tree that is here is not wanted.
// options.max_splits is not read: a limit on splits is a plane.
PointsResult solve_limited(const LimitTable& table, const LimitTask& task, const Options& options,
                           PointObserver observer = {});

}  // namespace certree
