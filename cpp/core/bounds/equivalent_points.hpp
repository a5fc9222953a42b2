// Equivalent points.  Rows with equal columns reach the same leaf of every tree; a group of them whose types disagree
// costs at least what it costs as a leaf of its own.  As leaf costs are superadditive,
//
//     cost(leaf) >= sum over groups g in the leaf of cost(g),   hence   V_d(D) >= eq(D) := sum over g in D of cost(g)
//
// for every depth, any number of splits and any minimum leaf size (Angelino et al., CORELS, JMLR 2018, theorem 20;
// docs/theory/equivalent-points.md).  eq is additive over rows, so it is counted like one more row type: every child's
// share comes with the column counts.
//
// Precondition: a superadditive leaf cost (task law), which every count task has; other tasks count 0 if they lack it.
#pragma once

#include "base/cost.hpp"

namespace certree {

// Unavoidable leaf cost of a node's rows, of which `counted` is the sum of cost(g).
inline Cost unavoidable_errors(Cost counted, bool enabled) { return enabled ? counted : 0; }

}  // namespace certree
