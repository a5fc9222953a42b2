// The door to the core for Pareto fronts of (false positives, false negatives).
#pragma once

#include <vector>

#include "data/dataset.hpp"
#include "result.hpp"
#include "search/front_search.hpp"
#include "search/options.hpp"

namespace certree {

// What is asked for beyond Options.
struct FrontQuestion {
  FrontPoints dominated;    // trees at or above one of these are not wanted
  bool per_splits = false;  // nondominated in (fp, fn, splits) instead of (fp, fn)
};

struct FrontResult {
  Status status = Status::optimal;
  std::vector<FrontEntry> entries;  // by fp, then splits; columns are the caller's
  std::vector<FrontEntry> lower;    // every wanted tree is at or above one of these
  Counters counters;
  std::vector<FrontEvent> history;
  double seconds = 0;
};

// The front over all trees within the limits of `options`; rows of type 1 are positive, of type 0 negative.
// Throws std::invalid_argument for arguments that make no sense; reaching a limit is a result.
FrontResult solve_front(const TableView& table, const FrontQuestion& question, const Options& options,
                        FrontObserver observer = {});

}  // namespace certree
