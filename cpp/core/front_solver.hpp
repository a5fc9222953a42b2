// The entry point for Pareto fronts of (false positives, false negatives).
#pragma once

#include <vector>

#include "data/dataset.hpp"
#include "result.hpp"
#include "search/fronts/front.hpp"
#include "search/shared/options.hpp"

namespace certree {

// What is asked for beyond Options.
struct FrontQuestion {
  FrontPoints dominated;    // trees at or above one of these are not wanted
  bool per_splits = false;  // nondominated in (fp, fn, splits) instead of (fp, fn)
};

// Points are (fp, fn, splits), by fp, then splits.
struct FrontResult : PointsResult {
  std::vector<Point> lower;  // every wanted tree is at or above one of these
};

// The front over all trees that `options` allow (entry_point.hpp); rows of type 1 are positive, of type 0 negative.
FrontResult solve_front(const TableView& table, const FrontQuestion& question, const Options& options,
                        PointObserver observer = {});

}  // namespace certree
