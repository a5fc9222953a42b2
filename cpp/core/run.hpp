// One search over a data set: everything that lives from the first bound to the report, and nothing of what a leaf costs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "data/dataset.hpp"
#include "result.hpp"
#include "search/options.hpp"
#include "search/path_entry.hpp"
#include "search/progress.hpp"
#include "search/scale.hpp"
#include "search/table.hpp"
#include "search/worker.hpp"

namespace certree {

// Throws std::invalid_argument for options that make no sense.
void check_options(std::int64_t n_rows, const Options& options);

// More splits than a tree of this depth has on these data.
std::int64_t most_splits(const Dataset& data, std::int32_t depth);

struct Run {
  // `worst`: no tree's leaves cost more than this, in units of the statistic.
  Run(const Dataset& data, const DepthTwoMaker& statistic, Cost worst, const Options& options, Budget& budget,
      MemoryBudget& memory, Observer observer);

  // Runs the search that fits the limits; what it finds is in `progress`.
  void search(Counters& counters);
  // Every entry of the error-versus-splits curve within the limits, and the status.
  void find_path(PathResult& result);
  // From the data set's columns to the caller's.
  void translate(Tree& tree) const;
  void count(Counters& counters) const;
  void report(Result& result) const;

  const Dataset& data;
  Budget& budget;
  MemoryBudget& memory;
  Cost caller_gap;
  std::int32_t depth;
  Options inner;  // the options as the search sees them
  Scale scale;
  Progress progress;
  Table subproblems;
  Context context;
};

}  // namespace certree
