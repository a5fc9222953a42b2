// The problem of a search with limits on the whole tree.
//
// Every row adds, for every label, a vector of integer quantities; a tree adds up those of its leaves' labels and counts its
// splits.  A plane is a linear function of these sums.  Plane 0 is the objective, the others are limited from above: `at
// least` is the negated plane, an interval is two planes.  A multiplier is a non-negative combination of these planes,
// which every wanted tree keeps below the same combination of the bounds.  docs/theory/limits.md
//
// Where tests have prices (data/test_costs.hpp), the last quantity is what the tree pays for them: labels add nothing to it,
// and no plane has a negative entry for it.
//
// A limit whose totals need more than 64 bits has several digits: a unit of its plane is 2^digit_bits units of the next
// finer plane, and so on.  Digits are sums, so they leave their range, and comparing them carries.  The corner of the
// first plane is wide enough for every tree within the limit; `digits` are those of the bound itself.  Finer planes come
// after all others and have no corners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cost.hpp"

namespace certree {

// A limit has no more digits than this: enough for products of any two float64.
inline constexpr std::size_t kMostDigits = 128;

struct LimitTask {
  std::size_t n_labels = 0;
  std::size_t n_quantities = 0;
  std::size_t n_planes = 0;       // the objective and the limits
  std::vector<Cost> planes;       // [plane][quantity, then splits]
  std::vector<Cost> multipliers;  // [multiplier][plane]
  std::vector<Cost> corners;      // [corner][plane]: a tree is wanted if it is at or below one of them
  // [plane]; empty: the best tree; a positive one: the front of the objective and the gap; -1: the front of the objective
  // and these planes, each by itself.
  std::vector<Cost> scales;
  std::vector<Cost> label_min;      // [label]: a leaf needs so many of its label's counts; empty: no such limit
  std::vector<std::int64_t> finer;  // [plane]: the plane of the next digit, 0: none; empty: all limits have one digit
  std::vector<Cost> digits;         // [plane]: of the bounds of limits that have several digits
  std::vector<Cost> digit_bits;     // [plane], where there is a finer one

  std::size_t width() const { return n_quantities + 1; }
  std::size_t n_multipliers() const { return n_planes == 0 ? 0 : multipliers.size() / n_planes; }
  std::size_t n_corners() const { return n_planes == 0 ? 0 : corners.size() / n_planes; }
  bool is_front() const { return !scales.empty(); }
  bool is_objective(std::size_t plane) const { return plane == 0 || (is_front() && scales[plane] < 0); }
  bool has_objectives() const;
  std::size_t finer_than(std::size_t plane) const { return finer.empty() ? 0 : static_cast<std::size_t>(finer[plane]); }
  // The objective and the limits, without the planes of their finer digits.
  std::size_t n_bounded() const;
  // Throws std::invalid_argument for invalid numbers.
  void check() const;

 private:
  void check_digits() const;
};

}  // namespace certree
