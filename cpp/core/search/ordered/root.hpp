// The thresholds of one root feature at depth two, and which of them are still open.
//
// Bins with thresholds inside are bounded by dropped rows (bounds/dropped_rows.hpp), edges of bins by what pair tables say of
// them, and intervals between evaluated thresholds by bounds/threshold_interval.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bounds/dropped_rows.hpp"
#include "bounds/threshold_interval.hpp"
#include "search/ordered/bins.hpp"
#include "search/ordered/stump.hpp"
#include "search/shared/options.hpp"

namespace certree {

// What the sides of a threshold cost at least, for leaves of any size.  With three splits both sides may have one: there is
// one division.  With two, the left side has it in the first division and the right side in the second.
struct RootSides {
  ThresholdSides of[2];
  static RootSides divide(bool is_short, const Cost* best, const Cost* leaf) {
    if (!is_short) return {{{best[0], best[1]}, {}}};
    return {{{best[0], leaf[1]}, {leaf[0], best[1]}}};
  }
  DividedSides divided(bool is_short) const { return {of, is_short ? std::size_t{2} : std::size_t{1}}; }
  // Of a side that may have a split.
  Cost best(bool is_short, int side) const { return side == 0 ? of[0].left : of[is_short ? 1 : 0].right; }
  Cost sum(bool is_short) const {
    const Cost first = of[0].left + of[0].right;
    return is_short ? std::min(first, of[1].left + of[1].right) : first;
  }
};

// Every threshold inside of a bin has the rows before the bin on its left side, and those after it on its right.
inline Cost dropped_rows_bound(const Objective& objective, const RootSides& before, const RootSides& after,
                               bool is_short) {
  const Cost first = dropped_rows_bound(objective, before.of[0].left, after.of[0].right);
  return is_short ? std::min(first, dropped_rows_bound(objective, before.of[1].left, after.of[1].right)) : first;
}

struct RootPoint {
  std::int32_t position = 0;  // rows on the left
  RootSides sides;
  std::int32_t number = -1;  // of what it says of second features; -1: nothing
};

struct RootInterval {
  RootPoint a, b;
};

// What is known of one side of a threshold.
struct RootSide {
  Cost loose = 0, lower = 0;
  bool fits = true;  // enough rows for a leaf
  Cost upper = 0;
  void take(Cost any, Cost limited) {
    loose = std::min(loose, any);
    lower = std::min(lower, limited);
    upper = std::min(upper, limited);
  }
  void keep(Cost bound) {
    loose = std::min(loose, bound);
    lower = std::min(lower, bound);
  }
};

template <class V>
class RootThresholds {
 public:
  RootThresholds(const OrderedData& data, const Options& options, const Objective& objective, MemoryBudget& memory)
      : data_(data), options_(options), objective_(objective), row_worst_(memory), worst_(memory) {}

  // The rows along the root feature, and the worst cost up to each; `set_edge` says what is known of the edges.
  void start(RowSetBins<V>& set, Stump<V>& stump, std::int32_t f, bool is_short) {
    set_ = &set;
    root_ = f;
    is_short_ = is_short;
    stump.start_root(f);
    order_ = stump.order(f);
    ranks_ = data_.ranks(f);
    if (row_worst_.empty()) read_worst();
    worst_.resize(static_cast<std::size_t>(set.n_rows()) + 1);
    worst_[0] = 0;
    for (std::int32_t k = 0; k < set.n_rows(); ++k)
      worst_[static_cast<std::size_t>(k) + 1] =
          worst_[static_cast<std::size_t>(k)] + row_worst_[static_cast<std::size_t>(order_[k])];
    edges_.assign(static_cast<std::size_t>(feature().n_bins), {});
    edge_low_.assign(edges_.size(), kInfinite);
    seconds_.clear();
  }
  // `lower`: of the trees with the root test at this edge.
  void set_edge(std::int32_t bin, const RootSides& sides, Cost lower) {
    edges_[static_cast<std::size_t>(bin)] = sides;
    edge_low_[static_cast<std::size_t>(bin)] = lower;
  }
  void keep_sides(std::int32_t bin, const RootSides& sides) { edges_[static_cast<std::size_t>(bin)] = sides; }

  std::int32_t root() const { return root_; }
  std::int32_t rank_at(std::int32_t position) const { return ranks_[order_[position - 1]]; }
  const RootSides& edge(std::int32_t bin) const { return edges_[static_cast<std::size_t>(bin)]; }
  // The bin that holds a threshold, or ends there.
  std::int32_t bin_of(std::int32_t position) const {
    const SetFeature<V>& own = feature();
    return static_cast<std::int32_t>(std::lower_bound(own.start, own.start + own.n_bins + 1, position) - own.start) - 1;
  }
  bool is_edge(std::int32_t position, std::int32_t bin) const { return position == feature().start[bin + 1]; }

  Cost bound_of(const RootInterval& at) const {
    if (!options_.use_threshold_intervals) return 0;
    return interval_bound(objective_, at.a.sides.divided(is_short_), at.b.sides.divided(is_short_),
                          worst_between(at.a.position, at.b.position));
  }
  // What the ends of an interval say of a side of a threshold between them that may have a split.
  Cost side_bound(const RootInterval& at, std::int32_t position, int side) const {
    if (!options_.use_threshold_intervals) return 0;
    return travelled(at, position, side, at.a.sides.best(is_short_, side), at.b.sides.best(is_short_, side));
  }
  // What the ends of an interval say of the splits of a side of a threshold between them by each second feature
  // (docs/theory/ordered-features.md, root features).
  struct Neighbours {
    const Cost *within = nullptr,
               *beyond = nullptr;  // [feature]: of the end with fewer rows on the side, and with more
    Cost more = 0;                 // the worst cost of the rows that the latter has more
    Cost second_bound(std::int32_t g) const {
      const Cost least = within != nullptr ? within[g] : 0;
      return beyond != nullptr ? std::max(least, beyond[g] - more) : least;
    }
  };
  Neighbours neighbours(const RootInterval& at, std::int32_t position, int side) {
    if (!options_.use_root_feature_bounds) return {};
    const RootPoint &within = side == 0 ? at.a : at.b, &beyond = side == 0 ? at.b : at.a;
    Neighbours out;
    if (within.number >= 0) out.within = seconds(within.number, side);
    if (beyond.number >= 0) out.beyond = seconds(beyond.number, side);
    out.more = side == 0 ? worst_between(position, at.b.position) : worst_between(at.a.position, position);
    return out;
  }
  std::int32_t add_point() {
    seconds_.resize(seconds_.size() + 2 * static_cast<std::size_t>(data_.n_features()), 0);
    return static_cast<std::int32_t>(seconds_.size() / (2 * static_cast<std::size_t>(data_.n_features()))) - 1;
  }
  // [feature]: bounds of the splits of a side, those that part nothing included.
  Cost* seconds(std::int32_t number, int side) {
    return seconds_.data() + (static_cast<std::size_t>(number) * 2 + static_cast<std::size_t>(side)) *
                                 static_cast<std::size_t>(data_.n_features());
  }

  struct Inside {
    std::int32_t low = 0, high = -1;  // what margins, and the least size of a leaf, leave to look at
    bool leaves_small = false;        // the latter left some out; for leaves of any size the interval keeps its bound
  };
  // The threshold nearest to the middle of those that bins and the margins of the ends leave open below the limit; -1: all are
  // closed.
  std::int32_t open_middle(const RootInterval& at, Cost limit, Inside* inside) const {
    std::int32_t low = at.a.position + 1, high = at.b.position - 1;
    if (options_.use_threshold_margins && data_.has_worst()) {
      low = std::max(low, first_beyond(at.a.position, margin(objective_, at.a.sides.divided(is_short_), limit)));
      high = std::min(high, last_before(at.b.position, margin(objective_, at.b.sides.divided(is_short_), limit)));
    }
    if (low > high) return -1;
    const auto smallest = static_cast<std::int32_t>(std::min<std::int64_t>(options_.min_leaf, set_->n_rows()));
    inside->leaves_small = low < smallest || high > set_->n_rows() - smallest;
    low = std::max(low, smallest);
    high = std::min(high, set_->n_rows() - smallest);
    inside->low = low;
    inside->high = high;
    if (low > high) return -1;
    const std::int32_t middle = low + (high - low) / 2;
    const std::int32_t down = open_from(middle, low, -1, limit), up = open_from(middle + 1, high, 1, limit);
    if (down < 0 || up < 0) return std::max(down, up);
    return middle - down <= up - middle ? down : up;
  }
  // Bound of the edges in a range, for leaves of any size: those that small leaves close may be open for these.
  Cost loose_edges(const Inside& inside) const {
    const SetFeature<V>& own = feature();
    Cost least = kInfinite;
    for (std::int32_t b = inside.low > 0 ? bin_of(inside.low) : 0;
         b + 1 < own.n_bins && own.start[b + 1] <= inside.high; ++b)
      least = std::min(least, objective_.split(edge(b).sum(is_short_)));
    return least;
  }

 private:
  void read_worst() {
    row_worst_.resize(static_cast<std::size_t>(data_.n_rows()));
    for (std::int32_t row = 0; row < data_.n_rows(); ++row)
      row_worst_[static_cast<std::size_t>(row)] = objective_.leaf(data_.worst(row));
  }
  const SetFeature<V>& feature() const { return set_->feature(root_); }
  // Where nothing is known of it: more than any tree costs.
  Cost worst_between(std::int32_t from, std::int32_t to) const {
    if (!data_.has_worst()) return kInfinite;
    return worst_[static_cast<std::size_t>(to)] - worst_[static_cast<std::size_t>(from)];
  }
  // Fewer rows never cost more, and a row adds at most its worst (bounds/threshold_interval.hpp).
  Cost travelled(const RootInterval& at, std::int32_t position, int side, Cost from_a, Cost from_b) const {
    const ThresholdSides sides =
        sides_between({from_a, from_a}, {from_b, from_b}, worst_between(at.a.position, position),
                      worst_between(position, at.b.position));
    return side == 0 ? sides.left : sides.right;
  }
  // Thresholds inside of a bin may be below the limit.
  bool is_open(std::int32_t bin, Cost limit) const {
    if (feature().inner[bin] != 0) return false;
    if (!options_.use_dropped_rows) return true;
    return dropped_rows_bound(objective_, bin > 0 ? edge(bin - 1) : RootSides{}, edge(bin), is_short_) < limit;
  }
  // The first open threshold from one position to another; -1: all are closed.
  std::int32_t open_from(std::int32_t position, std::int32_t last, std::int32_t step, Cost limit) const {
    const SetFeature<V>& own = feature();
    while ((last - position) * step >= 0) {
      const std::int32_t bin = bin_of(position);
      if (is_edge(position, bin)) {
        if (edge_low_[static_cast<std::size_t>(bin)] < limit) return position;
        position += step;
      } else if (!is_open(bin, limit)) {
        position = step > 0 ? own.start[bin + 1] : own.start[bin];
      } else if (ranks_[order_[position - 1]] != ranks_[order_[position]]) {
        return position;
      } else {
        position += step;
      }
    }
    return -1;
  }
  std::int32_t first_beyond(std::int32_t position, Cost worst) const {
    if (worst < 0) return position + 1;
    const auto from = worst_.begin() + position;
    return static_cast<std::int32_t>(std::upper_bound(from, worst_.end(), *from + worst) - worst_.begin());
  }
  std::int32_t last_before(std::int32_t position, Cost worst) const {
    if (worst < 0) return position - 1;
    const auto to = worst_.begin() + position;
    return static_cast<std::int32_t>(std::lower_bound(worst_.begin(), to, *to - worst) - worst_.begin()) - 1;
  }

  const OrderedData& data_;
  const Options& options_;
  const Objective& objective_;
  RowSetBins<V>* set_ = nullptr;
  std::int32_t root_ = -1;
  bool is_short_ = false;
  const std::int32_t* order_ = nullptr;
  const std::int32_t* ranks_ = nullptr;
  ChargedVector<Cost> row_worst_;  // by row
  ChargedVector<Cost> worst_;      // up to each position
  std::vector<RootSides> edges_;   // [bin]
  std::vector<Cost> edge_low_;     // [bin]: bounds of the trees with the root test at the edge
  std::vector<Cost> seconds_;      // [point][side][feature]
};

}  // namespace certree
