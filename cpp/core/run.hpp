// One search over a data set: everything that lives from the first bound to the report, and nothing of what a leaf costs.
#pragma once

#include <cstdint>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "data/dataset.hpp"
#include "result.hpp"
#include "search/columns/worker.hpp"
#include "search/shared/options.hpp"
#include "search/shared/path_entry.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/scale.hpp"
#include "search/shared/table.hpp"

namespace certree {

struct Run {
  // `worst`: no tree's leaves cost more than this, in units of the statistic.
  Run(const Dataset& data, const DepthTwoMaker& statistic, Cost worst, const Options& options, Budget& budget,
      MemoryBudget& memory, Observer observer);

  // Runs the search that fits depth and splits; what it finds is in `progress`.  If memory ends, the budget does.
  void search(Counters& counters);
  // Threads come to the tie-break with different incumbents.  If it was cut short, one thread decides, with `alone`.
  bool must_go_alone() const;
  Options alone() const;
  // False: there is no tree to report.
  bool report(Result& result);
  // Every entry of the error-versus-splits curve within depth and splits, and the status.
  void find_path(PathResult& result);

  const Dataset& data;
  Budget& budget;
  MemoryBudget& memory;
  const Options& asked;  // the caller's options
  std::int32_t depth;
  Options inner;  // the options as the search sees them
  Scale scale;
  Progress progress;
  Table subproblems;
  Context context;
  std::vector<SplitBound> split_bounds;  // of an assignment
  std::vector<SharedEntry> entries;      // and what is worth telling others
};

}  // namespace certree
