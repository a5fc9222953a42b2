// The vector task: a leaf's cost is a function g of the sum of one vector of integers per row.
//
//   least      g(s) = min over k of s[k], all s not negative: the cost of every label (row costs, policies).  With several
//              outputs, each has labels of its own, and g is the sum of their minima.
//   squares    g(s) = floor(scale (s[2] - s[1]^2 / s[0])) with s = (w, w y, w y^2): squared error around the mean.  With
//              several outputs, s = (w, w y_1, w y_2, ..., q), where q is the sum of all w f_k y_k^2, and g is the sum of
//              the floors of all scale f_k (squared error of y_k); `outputs` has scale f_k.
//   quantile   no function of a sum: the least over v of sum w (above (y - v) where y > v, below (v - y) where y < v), with the
//              statistics (w, y) of every row (tasks/quantile_loss.hpp).
//   rates      g(s) = s[2] - ceil(what a rate of s[0] events in the exposure s[1] saves) (base/rates.hpp).
//   callback   g is a function of the caller's, asked about many sums at once.
//
// Laws, used by the bounds (docs/theory/vector-statistics.md):
//   superadditive   g(a + b) >= g(a) + g(b).  least: a minimum of linear functions.  squares: two means fit better than one,
//                   and rounding down keeps it.  Sums over outputs keep it, too.  quantile: two values fit better than one.
//                   rates: two rates fit better than one, up to the last bits of float64.
//                   callback: if the caller says so.
//   worst change    a row added to a leaf raises its cost by at most the row's worst.  least: its dearest label.  squares: its
//                   squared distance from the farther end of the targets.  Outputs add up.  quantile: its loss there.
//                   rates: not known.  callback: what the caller says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/cost.hpp"
#include "tasks/rate_loss.hpp"

namespace certree {

enum class VectorKind : std::uint8_t { least, squares, quantile, rates, callback };

// Costs and labels of `n` sums; statistic s of sum k is at sums[s * stride + k].  False: the function asks the search to
// stop; the answers are still valid.
using LeafFunction =
    std::function<bool(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t* labels)>;

struct VectorTask {
  VectorKind kind = VectorKind::least;
  std::int32_t n_statistics = 0;
  Cost scale = 1;             // squares
  std::vector<Cost> outputs;  // least: how many labels each has.  squares: see above.  Empty: one output
  Cost above = 1;     // quantile: what a unit of weight pays for each unit that its target is above the leaf's value
  Cost below = 1;     // the same where it is below
  RateLoss rates;     // rates
  LeafFunction leaf;  // callback
  bool is_native = false;  // callback: questions cost little, so that few at a time, which stay in the cache, are best
  // callback, if the leaf cost is not superadditive: a superadditive function that is nowhere above it, or nothing.
  LeafFunction floor;
  bool superadditive = true;
  bool has_worst = true;

  void check() const;
  // What all rows with the same answers cost at least is known: by the leaf cost itself, or by one below it.
  bool has_floor() const { return superadditive || floor != nullptr; }
  // A leaf costs its last statistic, whose sum does not depend on the tree, less what it saves, a function of all others.
  bool has_savings() const { return kind == VectorKind::squares || kind == VectorKind::rates; }
  // Exact cost of the sums of one leaf, and its label (squares and several outputs have none: 0).  Not for quantiles.
  Cost leaf_cost(const Cost* sums, std::int32_t* label = nullptr) const;
};

// Kind least: what the dearest label costs, of every output.
Cost dearest(const VectorTask& task, const Cost* sums);

// How squares count: `scale` and `outputs` of a task, the latter with one output where the task has none.
struct SquareScales {
  explicit SquareScales(const VectorTask& task)
      : scale(task.scale), outputs(task.outputs.empty() ? std::vector<Cost>{task.scale} : task.outputs) {}
  Cost scale;
  std::vector<Cost> outputs;
  // Doubles are exact for all means (counts/kernels_impl_squares.hpp), given the sums of absolute statistics of all rows.
  bool are_narrow(const Cost* sizes) const;
};

// Whole numbers around the means of every output; those of any leaf lie between them.
struct TargetRange {
  std::vector<Cost> least, most;
  void add(const Cost* sums, std::size_t n_outputs);
};
// The largest scaled squared distance of rows with these sums from a point in the range.  It is convex in the point, so it is at
// one of the two ends, for every output.  Throws std::invalid_argument if it is above `largest`.
Cost worst_square(const TargetRange& range, const Cost* sums, const SquareScales& scales, Cost largest);

// ceil(scale s^2 / w), 0 for w = 0: what a mean saves.
Cost saved_squares(Cost scale, Cost s, Cost w);

// The cost of sums of kind squares.
template <class V>
inline Cost square_cost(const V* sums, Cost scale, const Cost* outputs, std::size_t n_outputs) {
  Cost cost = scale * static_cast<Cost>(sums[n_outputs + 1]);
  for (std::size_t k = 0; k < n_outputs; ++k)
    cost -= saved_squares(outputs[k], static_cast<Cost>(sums[k + 1]), static_cast<Cost>(sums[0]));
  return cost;
}

// The cost of sums of kind least with several outputs.
template <class V>
inline V sum_of_least(const V* sums, const Cost* outputs, std::size_t n_outputs) {
  V cost = 0;
  for (std::size_t k = 0; k < n_outputs; sums += outputs[k++])
    cost = static_cast<V>(cost + *std::min_element(sums, sums + outputs[k]));
  return cost;
}

}  // namespace certree
