// Counting splits.  Every split costs the penalty P and no tree has leaf cost below eq(D), so a tree with at least m
// splits has value at least S eq(D) + m P.  Once the optimum V_k over all trees of depth at most k is known, a better tree
// is deeper than k, and a tree of depth k + 1 has at least k + 1 splits:
//
//     V(D) >= min(V_k(D), S eq(D) + (k + 1) P).
//
// The depth-two pass gives V_2 of a node (so 3 P) and V_1 of both children of every split (so 2 P); V_0 is the leaf.
// A node closes as soon as V_2(D) <= S eq(D) + 3 P.  Holds for any depth limit, split limit and minimum leaf size, since
// these only take trees away.  docs/theory/split-count.md
#pragma once

#include <algorithm>

#include "base/cost.hpp"

namespace certree {

// `value`: the optimum over trees of depth at most `depth`.  P = 0 makes the bound S eq(D).
inline Cost split_count_bound(const Objective& objective, Cost value, Cost unavoidable, int depth) {
  return std::min(value, objective.leaf(unavoidable) + (depth + 1) * objective.split_penalty);
}

}  // namespace certree
