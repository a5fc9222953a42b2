// The best single split of some rows, by every feature and threshold.
//
// Edges of bins come first.  Thresholds inside of a bin are looked at only where dropped rows (bounds/dropped_rows.hpp) leave
// the bin open: few rows are ever put in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bounds/dropped_rows.hpp"
#include "search/ordered/bins.hpp"
#include "search/ordered/depth_two.hpp"
#include "search/ordered/stump.hpp"
#include "search/shared/options.hpp"

namespace certree {

// The best tree so far, by its root test.
struct OrderedBest {
  Cost value = 0;
  OrderedSplit* split = nullptr;
  void offer(Cost other, std::int32_t f, std::int32_t rank) {
    if (other >= value) return;
    value = other;
    *split = {f, rank};
  }
};

// All return the value of the best split that they looked at, or a bound of it, for leaves of any size.
template <class V>
class SingleSplits {
 public:
  SingleSplits(const OrderedData& data, const Options& options, const Objective& objective, Stump<V>& stump)
      : data_(data), options_(options), objective_(objective), stump_(stump) {}

  // At the edges of bins.
  Cost edges(const RowSetBins<V>& set, std::int32_t f, OrderedBest& best) const {
    const SetFeature<V>& own = set.feature(f);
    Cost loose = kInfinite;
    for (std::int32_t b = 0; b + 1 < own.n_bins; ++b) {
      loose = std::min(loose, value_of(own.leaf[0][b], own.leaf[1][b]));
      const V left = own.limited[0][b], right = own.limited[1][b];
      if (left >= kInfeasible<V> || right >= kInfeasible<V>) continue;
      best.offer(value_of(left, right), f, set.last_rank(f, b));
    }
    return loose;
  }

  // Inside of bins, as far as these are open.  Needs sums that tell what leaves cost.
  Cost inside(const RowSetBins<V>& set, std::int32_t f, OrderedBest& best) {
    const SetFeature<V>& own = set.feature(f);
    const std::int32_t* ranks = data_.ranks(f);
    Cost loose = kInfinite;
    below_.assign(static_cast<std::size_t>(set.n_planes()), V{0});
    for (std::int32_t b = 0; b < own.n_bins; ++b) {
      Cost bound = 0;
      if (options_.use_dropped_rows)
        bound = dropped_rows_bound(objective_, objective_.leaf(b > 0 ? own.leaf[0][b - 1] : V{0}),
                                   objective_.leaf(own.leaf[1][b]));
      const bool has_thresholds = own.inner[b] == 0;
      if (!has_thresholds || bound >= best.value) {
        if (has_thresholds) loose = std::min(loose, bound);
        set.add_bin(f, b, below_.data());
        continue;
      }
      std::int32_t before = -1, n_below = own.start[b];
      set.for_each_in_bin(f, b, [&](std::int32_t row) {
        if (before >= 0 && ranks[row] != before) loose = std::min(loose, at_sums(set, f, before, n_below, best));
        set.add_totals(row, 1, below_.data());
        before = ranks[row];
        ++n_below;
      });
    }
    return loose;
  }

  // At every threshold, where costs are asked for.
  Cost thresholds(const RowSetBins<V>& set, std::int32_t f, OrderedBest& best) {
    const std::int32_t* order = stump_.order(f);
    const std::int32_t* ranks = data_.ranks(f);
    Cost loose = kInfinite;
    stump_.start_root(f);
    if (data_.leaves()->is_cut()) return 0;
    for (std::int32_t k = 0; k + 1 < set.n_rows(); ++k) {
      if (ranks[order[k]] == ranks[order[k + 1]]) continue;
      stump_.part(k + 1, 0);
      loose = std::min(loose, objective_.split(objective_.leaf(stump_.cost(false))));
      const V cost = stump_.cost(true);
      if (cost < kInfeasible<V>) best.offer(objective_.split(objective_.leaf(cost)), f, ranks[order[k]]);
    }
    return loose;
  }

 private:
  Cost value_of(V left, V right) const { return objective_.split(objective_.leaf(left) + objective_.leaf(right)); }
  // The split whose first leaf has the sums `below_`.
  Cost at_sums(const RowSetBins<V>& set, std::int32_t f, std::int32_t rank, std::int64_t n_below, OrderedBest& best) {
    above_ = set.totals();
    for (std::size_t d = 0; d < above_.size(); ++d) above_[d] = static_cast<V>(above_[d] - below_[d]);
    const Cost value = value_of(plane_cost(data_.rule(), below_.data()), plane_cost(data_.rule(), above_.data()));
    if (std::min(n_below, set.n_rows() - n_below) >= options_.min_leaf) best.offer(value, f, rank);
    return value;
  }

  const OrderedData& data_;
  const Options& options_;
  const Objective& objective_;
  Stump<V>& stump_;
  std::vector<V> below_, above_;  // sums of the two leaves
};

}  // namespace certree
