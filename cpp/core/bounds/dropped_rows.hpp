// Dropped rows: a bound of all thresholds inside of a bin.
//
// Theorem (docs/theory/ordered-features.md, 1).  Cut the rows of a node into bins along a feature.  Whatever threshold
// inside of bin b a test has, the rows of bins below b are on its left side and those of bins above b on its right.  Let
// left(b) and right(b) be lower bounds of what any subtree costs on the rows of bins up to b, and above b.  Where removing
// rows never makes a subtree costlier, every tree with such a test costs at least left(b - 1) + right(b).
// Precondition: leaf costs are superadditive and not negative, and the bounds hold for leaves of any size: a tree whose
// leaves are large enough for all rows may have too small ones for fewer.
#pragma once

#include "base/cost.hpp"

namespace certree {

// `left_before`, `right_after`: values of subtrees; 0 where there are no rows.
inline Cost dropped_rows_bound(const Objective& objective, Cost left_before, Cost right_after) {
  return objective.split(left_before + right_after);
}

}  // namespace certree
