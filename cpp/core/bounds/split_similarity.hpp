// Split similarity.  Let v(f) be the least value of a tree for D with root f (depth limit d), and let the splits f and h
// send the rows of X to different sides, the sides of h renamed at will.  Take the best tree with root h and put f in its
// place: only the rows of X reach another leaf, and each of them costs at most its worst cost there, so
//
//     v(f) <= v(h) + S worst(X),   that is   v(h) >= v(f) - S worst(X),
//
// with the same number of splits on both sides.  Any lower bound of v(f) serves in the place of v(f).  worst(X) comes
// from the pair counts: |f xor h| = n_f + n_h - 2 n_fh per row type.  After one split is solved or bounded, one vector
// operation bounds all others.  Generalises the similar-support bound of GOSDT (Lin et al., ICML 2020, theorem B.7) from
// neighbouring thresholds to all columns.  docs/theory/split-similarity.md
//
// Precondition: exchanging the root must keep the tree feasible, which a minimum leaf size above 1 breaks (moving rows
// can empty a leaf below it).  An emptied leaf under minimum leaf size 1 is harmless: dropping it removes a split.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cost.hpp"

namespace certree {

inline bool similarity_is_valid(std::int64_t min_leaf) { return min_leaf <= 1; }

// lower[h] = max(lower[h], lower_of_f - S distance[h]).
inline void apply_split_similarity(const Objective& objective, Cost lower_of_f, const Cost* distance,
                                   std::int32_t n_columns, Cost* lower) {
  for (std::int32_t h = 0; h < n_columns; ++h) lower[h] = std::max(lower[h], lower_of_f - objective.leaf(distance[h]));
}

}  // namespace certree
