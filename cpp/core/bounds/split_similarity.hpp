// Similar sets, applied to the children of the splits of one node.
//
// Theorem.  For row sets A and B and any depth, V(A) >= V(B) - S worst(B \ A).
// Proof.  Apply the best tree for A to B.  The rows in both cost at most what they cost in A (costs are not negative), every
// other row of B at most its worst cost, and the number of splits is the same: V(B) <= V(A) + S worst(B \ A).
//
// (MurTree's similarity bound, Demirovic et al., JMLR 2022, section 4.4, with the set difference the right way round; two
// papers print it the wrong way, see tests/regression.)  Any lower bound of V(B) serves.  Here A and B run over the
// children of two splits f and h of one node, where worst(B \ A) follows from the pair counts, so that one solved or
// bounded child bounds all others in one pass:
//
//     A = f holds      B = h holds:       worst(h) - worst(fh)
//     A = f holds      B = h does not:    worst(D) - worst(h) - worst(f) + worst(fh)
//     A = f does not   B = h holds:       worst(fh)
//     A = f does not   B = h does not:    worst(f) - worst(fh)
//
// Adding the bounds of both children gives v(f) >= v(h) - S worst(f xor h), the similar-support bound of GOSDT (Lin et
// al., ICML 2020, theorems 4.1 and B.10) for arbitrary columns; child by child it is stronger.
// docs/theory/split-similarity.md
//
// Precondition: the tree for A must be feasible for B, which a minimum leaf size above 1 breaks (a leaf that is large
// enough in A may be too small in B).  A leaf that is empty in B is harmless: dropping it removes a split.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cost.hpp"

namespace certree {

inline bool similarity_is_valid(std::int64_t min_leaf) { return min_leaf <= 1; }

// worst(f xor h), the sides of h renamed at will.
inline Cost split_distance(Cost worst_f, Cost worst_h, Cost common, Cost worst_all) {
  const Cost distance = worst_f + worst_h - 2 * common;
  return std::min(distance, worst_all - distance);
}

// Raises the children's bounds of every split h by those of `split`, and the splits' bounds with them.
// common[h] = worst(rows where both hold); yes_worst[h] = worst(rows where h holds); worst: of all rows.
inline void apply_split_similarity(const Objective& objective, std::int32_t split, std::int32_t n_columns,
                                   const Cost* common, const Cost* yes_worst, Cost worst, Cost* no_lower,
                                   Cost* yes_lower, Cost* lower) {
  const Cost yes = yes_lower[split], no = no_lower[split], mine = yes_worst[split];
  for (std::int32_t h = 0; h < n_columns; ++h) {
    const Cost both = common[h], other = yes_worst[h];
    const Cost from_yes = yes - objective.leaf(mine - both), from_no = no - objective.leaf(worst - mine - other + both);
    yes_lower[h] = std::max(yes_lower[h], std::max(from_yes, from_no));
    no_lower[h] = std::max(no_lower[h], std::max(yes - objective.leaf(both), no - objective.leaf(other - both)));
    lower[h] = std::max(lower[h], objective.split(yes_lower[h] + no_lower[h]));
  }
}

}  // namespace certree
