// Leaf support.  Let the split f of D send the rows of A to one side, with S worst(A) < P: all of A at its worst costs less
// than one split.  The best tree for the other side, applied to all of D, has value at most
//
//     V(D \ A) + S worst(A)  <  V(D \ A) + P  <=  v(f),
// so a tree with root f is never the best one and f is not tried (GOSDT, Lin et al., ICML 2020, theorem B.6, which
// asks the same of the parent of two leaves: a split must save what it costs).  The better tree has fewer splits and no
// more depth, so limits on these do not matter; its leaves are at least as large, so neither does a minimum leaf size.
// docs/theory/leaf-support.md
#pragma once

#include <algorithm>

#include "base/cost.hpp"

namespace certree {

// `yes_worst`, `worst`: cost of the side where the split holds, and of all rows, at their worst.
inline bool leaf_support_excludes(const Objective& objective, Cost yes_worst, Cost worst) {
  return objective.leaf(std::min(yes_worst, worst - yes_worst)) < objective.split_penalty;
}

}  // namespace certree
