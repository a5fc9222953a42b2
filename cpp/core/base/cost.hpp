// Exact values, and the one place that says how they compare.
//
// Every scalar task of the engine has integer costs.  The value of a tree is one 64-bit integer
//
//     value = error_scale * (cost of its leaves) + split_penalty * (number of splits),
//
// where the caller's fractions (a complexity of 0.005, a class weight of 2.5) have been brought to a common denominator
// outside.  To prefer the smallest of the best trees the solver multiplies both coefficients by a number larger than any
// possible number of splits and adds one to the penalty: the lexicographic order (value, splits) is then the order of
// one integer, and every bound proved for a penalty holds for the tie-break as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace certree {

using Cost = std::int64_t;

// Larger than any value, small enough that a few of them can be added.
inline constexpr Cost kInfinite = std::numeric_limits<Cost>::max() / 8;

struct Objective {
  Cost error_scale = 1;
  Cost split_penalty = 0;

  Cost leaf(Cost errors) const { return error_scale * errors; }
  // One more split above subtrees of this total value.
  Cost split(Cost subtrees) const { return subtrees + split_penalty; }
};

// What is known of the optimum of a subproblem: lower <= optimum <= upper, and a tree of value `upper` exists.
struct Interval {
  Cost lower = 0;
  Cost upper = kInfinite;
  // False: a proof is wrong.  Answers are checked for it before they are called exact (search/shared/progress.hpp, result.cpp).
  bool is_sound() const { return lower <= upper; }
  bool is_exact() const { return lower >= upper; }
  // Nothing below `ceiling` can come from here.
  bool is_closed_for(Cost ceiling) const { return lower >= std::min(upper, ceiling); }
};

}  // namespace certree
