// The vector task: a leaf's cost is a function g of the sum of one vector of integers per row.
//
//   least      g(s) = min over k of s[k], all s not negative: the cost of every label (row costs, policies).
//   squares    g(s) = floor(scale (s[2] - s[1]^2 / s[0])) with s = (w, w y, w y^2): squared error around the mean.
//   callback   g is a function of the caller's, asked about many sums at once.
//
// Laws, used by the bounds (docs/theory/vector-statistics.md):
//   superadditive   g(a + b) >= g(a) + g(b).  least: a minimum of linear functions.  squares: two means fit better than one,
//                   and rounding down keeps it.  callback: if the caller says so.
//   worst change    a row added to a leaf raises its cost by at most the row's worst.  least: its dearest label.  squares: its
//                   squared distance from the farther end of the targets.  callback: what the caller says.
#pragma once

#include <cstdint>
#include <functional>

#include "base/cost.hpp"

namespace certree {

enum class VectorKind : std::uint8_t { least, squares, callback };

// Costs and labels of `n` sums; statistic s of sum k is at sums[s * stride + k].  False: the function asks the search to
// stop; the answers are still valid.
using LeafFunction =
    std::function<bool(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t* labels)>;

struct VectorTask {
  VectorKind kind = VectorKind::least;
  std::int32_t n_statistics = 0;
  Cost scale = 1;          // squares
  LeafFunction leaf;       // callback
  bool is_native = false;  // callback: questions cost little, so that few at a time, which stay in the cache, are best
  // callback, if the leaf cost is not superadditive: a superadditive function that is nowhere above it, or nothing.
  LeafFunction below;
  bool superadditive = true;
  bool has_worst = true;

  void check() const;
  // What all rows with the same answers cost at least is known: by the leaf cost itself, or by one below it.
  bool has_floor() const { return superadditive || below != nullptr; }
  // Exact cost of the sums of one leaf, and its label (squares have none: 0).
  Cost leaf_cost(const Cost* sums, std::int32_t* label = nullptr) const;
};

// Whole numbers around the means of vectors w, w y, w y^2; the mean of any leaf lies between them.
struct TargetRange {
  Cost least = kInfinite, most = -kInfinite;
  void add(const Cost* sums);
};
// The largest scaled squared distance of rows with these sums from a point in the range.  It is convex in the point, so it is at
// one of the two ends.  Throws std::invalid_argument if it is above `largest`.
Cost worst_square(const TargetRange& range, const Cost* sums, Cost scale, Cost largest);

// ceil(scale s^2 / w), 0 for w = 0: what a mean saves.
Cost saved_squares(Cost scale, Cost s, Cost w);

}  // namespace certree
