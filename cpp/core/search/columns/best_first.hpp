// Best-first AND/OR search without a depth limit: the AO* of Branches (Chaouki et al., ICML 2025) in the recursive form of
// RBFAOO (Kishimoto and Marinescu, UAI 2014).
//
// A node is a row set; what is known of it is an interval in the transposition table.  Selection follows, from the root,
// the split with the lowest bound and in it the child with the wider interval.  A node is left again when its bound passes
// the threshold at which a split elsewhere looks better: the second-best bound plus a few penalties, which saves most of
// the returns.  Expansion is the depth-two pass: it closes a node, or improves both
// ends of its interval, and gives every child its first.  Back-propagation is the return of the recursion; SOLVED is an
// interval that has become a point.  No graph is stored, so forgetting table entries costs time and never truth.
//
// Several threads start at the root alike, and share the table and what is known of the root's splits.  Where one is at
// work, another takes the next best way.  The optimum does not depend on them, and the tree is made from it in the end.
#pragma once

#include "search/columns/worker.hpp"
#include "search/shared/shared_root.hpp"

namespace certree {

// Raises context.progress to the optimum over trees of any depth, or as far as the budget allows.
void run_best_first(const Context& context, Counters& counters);

}  // namespace certree
