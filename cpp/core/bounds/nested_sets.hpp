// Nested sets.  For A a subset of D, apply the best tree for A to all of D: the rows of A cost what they cost before, every
// other row at most its worst cost.  Hence V_d(D) <= V_d(A) + S worst(D \ A), that is
//
//     V_d(A) >= V_d(D) - S worst(D \ A),
//
// and any lower bound of V_d(D) serves.  Used for a child A of D with D \ A its sibling, where V at the child's depth is
// known from the parent's depth-two pass or from an earlier, shallower solve.  (The bound is printed with the wrong set
// difference in two papers; tests/regression has the counterexample.)  docs/theory/nested-sets.md
//
// Precondition: the best tree for A must be feasible for D.  It is, for any minimum leaf size: going from A to D its leaves
// only grow.  (The converse fails, which is why split similarity needs more.)
#pragma once

#include "base/cost.hpp"

namespace certree {

inline Cost nested_set_bound(const Objective& objective, Cost lower_of_parent, Cost worst_of_sibling) {
  return lower_of_parent - objective.leaf(worst_of_sibling);
}

}  // namespace certree
