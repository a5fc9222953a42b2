// Best-first search over columns without a depth limit (search/shared/best_first.hpp).
#pragma once

#include "search/columns/worker.hpp"
#include "search/shared/shared_root.hpp"

namespace certree {

// Raises context.progress to the optimum over trees of any depth, or as far as the budget allows.
void run_best_first(const Context& context, Counters& counters);

}  // namespace certree
