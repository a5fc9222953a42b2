// Depth-first search of the whole problem: incumbents, rounds of growing depth, threads over the root's splits.
#pragma once

#include "search/columns/worker.hpp"

namespace certree {

// Raises context.progress to the optimum, or as far as the budget allows.  `depth`: kUnlimitedDepth or the largest.
void run_depth_first(const Context& context, std::int32_t depth, Counters& counters);

}  // namespace certree
