// A depth limit and a penalty together.  Two searches can answer: depth-first under the depth limit, and best-first without
// it, whose optimum is a bound and, when its tree is shallow enough, the answer.  Which is quicker is not known in advance
// (a small depth favours the first, a large penalty the second), so they take turns with doubling work.  The answer comes
// within a small factor of the better one's work, and each leaves its bounds in the table for the other.
#pragma once

#include "search/columns/worker.hpp"

namespace certree {

void run_alternating(const Context& context, std::int32_t depth, Counters& counters);

}  // namespace certree
