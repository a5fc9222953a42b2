// Directions: a few weights (w_fp, w_fn) in which sets of trees are bounded from below.
// If w . p >= v for every tree's point p, for each of the directions w, and no corner of the wanted set reaches all of these
// values at once, then no tree is wanted.  So a bound is a few numbers, which add up over the children of a
// split, and the kernels of the scalar search compute them.  docs/theory/front.md
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "search/fronts/front.hpp"

namespace certree {

struct Direction {
  Cost fp = 1;
  Cost fn = 1;
  Cost weigh(Cost false_positives, Cost false_negatives) const { return fp * false_positives + fn * false_negatives; }
};
using Directions = std::vector<Direction>;

// Normals of the lower convex hull of the points outside of which something is wanted, at most `count` of them, with
// weights from 1 to `most_weight`.  Any directions are valid; these are where the front is.
Directions choose_directions(const Stairs& found, std::size_t count, Cost most_weight);

// The wanted part of the plane, as its corners.
class Wanted {
 public:
  void set(const Directions& directions, const Stairs& excluded);
  void clear() { corners_.clear(); }
  bool is_empty() const { return corners_.empty(); }
  const Corners& corners() const { return corners_; }
  // Is there a point with w_d . p >= lower[d] for every d?
  bool admits(const Cost* lower) const;

 private:
  std::size_t n_directions_ = 0;
  Corners corners_;
  std::vector<Cost> weighed_;  // [corner][direction]
  std::vector<Cost> most_;     // [direction]
};

// Points such that every integer point of {w_d . p >= lower[d] for all d} is at or above one of them, at most `pieces`.
void lower_points(const Directions& directions, const Cost* lower, Cost most_fp, Cost most_fn, std::int64_t pieces,
                  FrontPoints& out);

}  // namespace certree
