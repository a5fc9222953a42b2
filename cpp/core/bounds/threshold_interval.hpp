// Intervals of thresholds: what two evaluated thresholds say of all between them.
//
// Theorem (docs/theory/ordered-features.md, 2).  Let a < p < b be thresholds of one feature at a node, L and R lower bounds
// of what subtrees cost on the left and the right side of each, and w(x, y) the worst cost of the rows between two
// thresholds.  Then
//     monotone:    L(p) >= L(a),            R(p) >= R(b):            fewer rows never cost more;
//     similarity:  L(p) >= L(b) - w(p, b),  R(p) >= R(a) - w(a, p):  a row adds at most its worst,
// and so every tree with its test at p costs at least the larger of L(a) + R(b) and L(b) + R(a) - w(a, b), and near a at
// least L(a) + R(a) - w(a, p).
// Precondition: as for dropped rows, and `worst` bounds what a row can add.
//
// Where the number of splits is limited, the sides share what is left in one of several ways.  The theorem holds for each of
// these divisions with bounds of its own, and a tree with its test at p costs at least the least of their bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/cost.hpp"

namespace certree {

struct ThresholdSides {
  Cost left = 0;
  Cost right = 0;
};

// One per division; a single one where splits are not limited.
using DividedSides = std::span<const ThresholdSides>;

// `between`: the worst cost of the rows between the two.
inline Cost interval_bound(const Objective& objective, const ThresholdSides& a, const ThresholdSides& b, Cost between) {
  return objective.split(std::max(a.left + b.right, a.right + b.left - between));
}

inline Cost interval_bound(const Objective& objective, DividedSides a, DividedSides b, Cost between) {
  Cost least = interval_bound(objective, a[0], b[0], between);
  for (std::size_t j = 1; j < a.size(); ++j) least = std::min(least, interval_bound(objective, a[j], b[j], between));
  return least;
}

// What the ends say of the sides of a threshold between them.
inline ThresholdSides sides_between(const ThresholdSides& a, const ThresholdSides& b, Cost from_a, Cost to_b) {
  return {std::max(a.left, b.left - to_b), std::max(b.right, a.right - from_a)};
}

// Thresholds within this worst cost of an evaluated one cannot be below `bound`.
inline Cost margin(const Objective& objective, const ThresholdSides& at, Cost bound) {
  return objective.split(at.left + at.right) - bound;
}

inline Cost margin(const Objective& objective, DividedSides at, Cost bound) {
  Cost least = margin(objective, at[0], bound);
  for (std::size_t j = 1; j < at.size(); ++j) least = std::min(least, margin(objective, at[j], bound));
  return least;
}

}  // namespace certree
