// The entry point for ordered features: the best tree whose tests are thresholds of ranks.
#pragma once

#include "data/ordered_data.hpp"
#include "result.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"
#include "tasks/count_task.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

// Needs a limit on depth or splits.  Columns of the tree are numbers of tests: those of a
// feature follow those of the features before it, by rising ranks.
Result solve_ordered(const OrderedView& view, const CountTask& task, const Options& options, Observer observer);
// The same for costs per row and label, or squared errors.
Result solve_ordered(const OrderedView& view, const VectorTask& task, const Options& options, Observer observer);
// The best trees for every number of splits.
PathResult solve_ordered_path(const OrderedView& view, const CountTask& task, const Options& options,
                              Observer observer);
PathResult solve_ordered_path(const OrderedView& view, const VectorTask& task, const Options& options,
                              Observer observer);

}  // namespace certree
