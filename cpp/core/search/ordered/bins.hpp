// Some rows of a node, in bins that suit their number.
//
// A node has up to 255 fine bins per feature.  A part of its rows joins fine bins to coarse ones of about equal size, about
// as many as the square root of the rows, so that counting a pair of features and scanning the counts take about as long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "counts/pair_kernels.hpp"
#include "search/ordered/node.hpp"

namespace certree {

// A row set with so few bins keeps all of them, however few rows it has.
inline constexpr std::int32_t kFewBins = 40;

// The least cost of a leaf with these sums.  Not for costs that are asked for.
template <class V>
inline V plane_cost(const PlaneRule& rule, const V* sums) {
  const auto n_outputs = static_cast<std::size_t>(rule.n_outputs);
  if (rule.form == PlaneForm::squares) return static_cast<V>(square_cost(sums, rule.scale, rule.outputs, n_outputs));
  if (rule.form == PlaneForm::outputs) return sum_of_least(sums, rule.outputs, n_outputs);
  if (rule.form == PlaneForm::costs) return *std::min_element(sums, sums + rule.n_planes);
  V sum = sums[0], top = sums[0];
  for (std::int32_t d = 1; d < rule.n_planes; ++d) {
    sum = static_cast<V>(sum + sums[d]);
    top = std::max(top, sums[d]);
  }
  return static_cast<V>(sum - top);
}

template <class V>
struct SetFeature {
  explicit SetFeature(MemoryBudget& memory) : line(memory), bins(memory) {}
  std::int32_t n_bins = 0;
  std::int32_t stride = 0;
  bool has_inner = false;
  std::uint8_t map[kMostBins + 1] = {};        // from fine to coarse bins
  std::int32_t last_fine[kMostBins + 1] = {};  // of each bin
  std::int32_t start[kMostBins + 2] = {};      // of each bin, among the rows in the order of the feature
  V inner[kMostBins + 17] = {};                // 0: thresholds inside of the bin exist; else kInfeasible
  V leaf[2][kMostBins + 1] = {};               // [side][edge]: cost of the side as a leaf
  V limited[2][kMostBins + 1] = {};            // the same, kInfeasible if either side is too small
  ChargedVector<V> line;                       // [plane][stride]: sums of the rows by bin
  ChargedVector<std::uint8_t> bins;            // of the rows
};

template <class V>
class RowSetBins {
 public:
  RowSetBins(const OrderedData& data, std::int64_t min_leaf, Budget& budget, MemoryBudget& memory)
      : data_(data),
        budget_(budget),
        memory_(memory),
        min_leaf_(min_leaf),
        n_planes_(data.rule().n_planes + (min_leaf > 1 ? 1 : 0)),
        rows_(memory),
        values_(memory) {}

  // Joins bins until there are about `target`, unless there are `few` at most.  `target` 0: the bins are the node's.
  void take(const OrderedRows& rows, std::int32_t target, std::int32_t few) {
    given_ = rows;
    make_room();
    group_rows();
    live_.clear();
    has_inner_ = false;
    is_complete_ = rows.node->is_complete();
    for (std::int32_t f = 0; f < data_.n_features(); ++f) {
      const bool is_long = std::int64_t{f} * rows.n_rows > kGrace;
      if ((is_long && budget_.poll()) || budget_.is_past_grace(rows.n_rows)) {
        is_complete_ = false;
        return;
      }
      make_bins(f, target, few);
      SetFeature<V>& own = features_[static_cast<std::size_t>(f)];
      own.has_inner = std::any_of(own.inner, own.inner + own.n_bins, [](V v) { return v == 0; });
      const std::int32_t n_fine = rows.node->bins(f).n_bins;
      if (target == 0) add_line(own, n_fine);
      if (n_used(own) < 2 && !own.has_inner) continue;
      live_.push_back(f);
      has_inner_ |= own.has_inner;
      if (target > 0) add_line(own, n_fine);
      set_leaves(own);
    }
    is_complete_ = is_complete_ && !is_cut();
  }

  // The rows of `whole` that `part` lacks, both in the bins of their node, as sums alone: there is no row to look at.
  void take_rest(const RowSetBins& whole, const RowSetBins& part, const OrderedRows& rows) {
    given_ = rows;
    make_room();
    worst_ = whole.worst_ - part.worst_;
    totals_.resize(whole.totals_.size());
    for (std::size_t d = 0; d < totals_.size(); ++d) totals_[d] = static_cast<V>(whole.totals_[d] - part.totals_[d]);
    set_leaf_cost();
    live_.clear();
    has_inner_ = false;
    is_complete_ = true;
    for (std::int32_t f = 0; f < data_.n_features(); ++f) {
      const SetFeature<V>&all = whole.feature(f), &less = part.feature(f);
      SetFeature<V>& own = features_[static_cast<std::size_t>(f)];
      own.n_bins = all.n_bins;
      own.stride = all.stride;
      own.has_inner = false;
      std::int32_t used = 0;
      own.start[0] = 0;
      for (std::int32_t b = 0; b < own.n_bins; ++b) {
        const std::int32_t size = all.start[b + 1] - all.start[b] - (less.start[b + 1] - less.start[b]);
        used += size > 0;
        own.start[b + 1] = own.start[b] + size;
        own.last_fine[b] = b;
        own.inner[b] = kInfeasible<V>;
      }
      if (used < 2) continue;
      live_.push_back(f);
      own.line.resize(all.line.size());
      for (std::size_t k = 0; k < all.line.size(); ++k) own.line[k] = static_cast<V>(all.line[k] - less.line[k]);
      set_leaves(own);
    }
    is_complete_ = is_complete_ && !is_cut();
  }

  std::int32_t n_rows() const { return given_.n_rows; }
  std::int64_t min_leaf() const { return min_leaf_; }
  const OrderedData& data() const { return data_; }
  const OrderedRows& given() const { return given_; }
  std::int32_t n_planes() const { return n_planes_; }
  V leaf_cost() const { return leaf_cost_; }
  // Where rows add to one plane: the first row of a label in `bins`.  Not after take_rest.
  std::int32_t label_begin(std::int32_t label) const { return begin_[static_cast<std::size_t>(label)]; }
  const std::vector<V>& totals() const { return totals_; }
  Cost worst() const { return worst_; }
  // Features whose tests part the rows.
  const std::vector<std::int32_t>& live() const { return live_; }
  bool has_inner() const { return has_inner_; }
  // False: the budget ended before all features were looked at, so that some that part the rows are not live.
  bool is_complete() const { return is_complete_; }
  const SetFeature<V>& feature(std::int32_t f) const { return features_[static_cast<std::size_t>(f)]; }
  std::int32_t last_rank(std::int32_t f, std::int32_t bin) const {
    return given_.node->bins(f).last_rank[static_cast<std::size_t>(feature(f).last_fine[bin])];
  }
  // The rows along a feature; one entry more is written to.
  void order(std::int32_t f, std::int32_t* out) const {
    const std::int32_t* all = given_.node->order(f);
    std::int32_t n = 0;
    for (std::int32_t k = 0; n < given_.n_rows; ++k) {
      out[n] = all[k];
      n += given_.is_in[all[k]];
    }
  }

  // The rows of one bin along a feature.
  template <class Use>
  void for_each_in_bin(std::int32_t f, std::int32_t bin, Use use) const {
    const std::int32_t* all = given_.node->order(f);
    const std::vector<std::int32_t>& start = given_.node->bins(f).start;
    const std::int32_t* last = feature(f).last_fine;
    const std::int32_t end = start[static_cast<std::size_t>(last[bin]) + 1];
    for (std::int32_t k = bin > 0 ? start[static_cast<std::size_t>(last[bin - 1]) + 1] : 0; k < end; ++k)
      if (given_.is_in[all[k]]) use(all[k]);
  }
  void add_bin(std::int32_t f, std::int32_t bin, V* sums) const {
    const SetFeature<V>& own = feature(f);
    for (std::int32_t d = 0; d < n_planes_; ++d)
      sums[d] = static_cast<V>(sums[d] + own.line[static_cast<std::size_t>(d * own.stride + bin)]);
  }

  void add_totals(std::int32_t row, V sign, V* sums) const {
    if (data_.adds_to_one_plane()) {
      const std::int32_t type = data_.plane(row);
      sums[type] = static_cast<V>(sums[type] + sign * static_cast<V>(data_.value(row, type)));
    } else {
      for (std::int32_t d = 0; d < data_.rule().n_planes; ++d)
        sums[d] = static_cast<V>(sums[d] + sign * static_cast<V>(data_.value(row, d)));
    }
    if (min_leaf_ > 1) sums[data_.rule().n_planes] = static_cast<V>(sums[data_.rule().n_planes] + sign);
  }

  // Fills the planes of a pair table, `plane` cells each, which are zero.
  void count_pair(const PairKernels<V>& kernels, std::int32_t f, std::int32_t g, std::int32_t stride, std::size_t plane,
                  V* cells) const {
    const std::uint8_t *first = feature(f).bins.data(), *second = feature(g).bins.data();
    for (std::int32_t d = 0; d < data_.rule().n_planes; ++d) {
      const bool by_label = data_.adds_to_one_plane();
      const std::int32_t from = by_label ? begin_[static_cast<std::size_t>(d)] : 0;
      const std::int32_t to = by_label ? begin_[static_cast<std::size_t>(d) + 1] : n_rows();
      const V* values =
          data_.has_unit_values()
              ? nullptr
              : values_.data() + (by_label ? 0 : static_cast<std::size_t>(d) * static_cast<std::size_t>(n_rows()));
      kernels.count_cells(first + from, second + from, to - from, stride, values != nullptr ? values + from : nullptr,
                          cells + static_cast<std::size_t>(d) * plane);
    }
    if (min_leaf_ > 1)
      kernels.count_cells(first, second, n_rows(), stride, nullptr,
                          cells + static_cast<std::size_t>(data_.rule().n_planes) * plane);
  }

 private:
  // Where the budget has ended, so many rows and features more are looked at: a fraction of a second.
  static constexpr std::int64_t kGrace = std::int64_t{1} << 25;

  // Features have room for all bins: where they are many, that is too much for sets that are never asked for.
  void make_room() {
    if (features_.empty()) features_.resize(static_cast<std::size_t>(data_.n_features()), SetFeature<V>(memory_));
  }

  static std::int32_t n_used(const SetFeature<V>& own) {
    std::int32_t used = 0;
    for (std::int32_t b = 0; b < own.n_bins; ++b) used += own.start[b + 1] > own.start[b];
    return used;
  }

  // The rows by label, so that a plane is counted in one go; sums over all; values as V.
  void group_rows() {
    const auto n = static_cast<std::size_t>(given_.n_rows);
    std::int32_t* rows = rows_.ensure(n);
    if (data_.adds_to_one_plane()) {
      begin_.assign(static_cast<std::size_t>(data_.rule().n_planes) + 1, 0);
      for (std::size_t k = 0; k < n; ++k) ++begin_[static_cast<std::size_t>(data_.plane(given_.rows[k])) + 1];
      for (std::size_t t = 1; t < begin_.size(); ++t) begin_[t] += begin_[t - 1];
      next_ = begin_;
      for (std::size_t k = 0; k < n; ++k)
        rows[next_[static_cast<std::size_t>(data_.plane(given_.rows[k]))]++] = given_.rows[k];
    } else {
      std::copy_n(given_.rows, n, rows);
    }
    totals_.assign(static_cast<std::size_t>(n_planes_), 0);
    worst_ = 0;
    for (std::size_t k = 0; k < n; ++k) {
      add_totals(rows[k], 1, totals_.data());
      worst_ += data_.worst(rows[k]);
    }
    set_leaf_cost();
    if (data_.has_unit_values()) return;
    const bool by_label = data_.adds_to_one_plane();
    const std::int32_t planes = by_label ? 1 : data_.rule().n_planes;
    values_.resize(n * static_cast<std::size_t>(planes));
    for (std::int32_t d = 0; d < planes; ++d)
      for (std::size_t k = 0; k < n; ++k)
        values_[static_cast<std::size_t>(d) * n + k] =
            static_cast<V>(data_.value(rows[k], by_label ? data_.plane(rows[k]) : d));
  }

  void make_bins(std::int32_t f, std::int32_t target, std::int32_t few) {
    SetFeature<V>& own = features_[static_cast<std::size_t>(f)];
    const FeatureBins& fine = given_.node->bins(f);
    const std::uint8_t* bin_of = given_.node->bin_of(f);
    const auto n = static_cast<std::size_t>(given_.n_rows);
    std::int32_t sizes[kMostBins + 1] = {};
    own.bins.resize(n);
    is_counted_ = counts_labels(fine.n_bins);
    if (is_counted_) {
      for (std::size_t k = 0; k < n; ++k) own.bins[k] = bin_of[rows_[k]];
      count_bins(own, fine.n_bins, sizes);
    } else {
      for (std::size_t k = 0; k < n; ++k) ++sizes[own.bins[k] = bin_of[rows_[k]]];
    }
    if (target == 0) return keep_bins(own, fine, sizes);
    const auto used = static_cast<std::int32_t>(
        std::count_if(sizes, sizes + fine.n_bins, [](std::int32_t size) { return size > 0; }));
    const bool joins = used > std::max(target, few);
    std::int32_t bin = -1, end = 0, seen = 0, held = 0;  // `held`: fine bins with rows in this one
    for (std::int32_t b = 0; b < fine.n_bins; ++b) {
      if (sizes[b] == 0) {
        own.map[b] = static_cast<std::uint8_t>(std::max(bin, 0));
        continue;
      }
      if (bin < 0 || !joins || seen >= end) {
        ++bin;
        held = 0;
        end = static_cast<std::int32_t>(static_cast<std::int64_t>(bin + 1) * given_.n_rows / target);
        own.start[bin] = seen;
        own.inner[bin] = kInfeasible<V>;
      }
      seen += sizes[b];
      own.map[b] = static_cast<std::uint8_t>(bin);
      own.last_fine[bin] = b;
      if (++held > 1 || (sizes[b] > 1 && fine.is_inner[static_cast<std::size_t>(b)])) own.inner[bin] = 0;
    }
    own.n_bins = bin + 1;
    own.start[own.n_bins] = seen;
    own.stride = padded<V>(own.n_bins);
    if (own.n_bins < fine.n_bins)
      for (std::size_t k = 0; k < n; ++k) own.bins[k] = own.map[own.bins[k]];
  }

  // The line of a feature follows from its fine bins, if these are fewer than the rows.
  bool counts_labels(std::int32_t n_bins) const {
    return data_.has_unit_values() && data_.rule().n_planes * n_bins < given_.n_rows;
  }
  // Rows by label and fine bin.
  void count_bins(const SetFeature<V>& own, std::int32_t n_bins, std::int32_t* sizes) {
    const auto labels = static_cast<std::size_t>(data_.rule().n_planes);
    fine_.assign(labels * static_cast<std::size_t>(n_bins), 0);
    for (std::size_t d = 0; d < labels; ++d) {
      std::int32_t* out = fine_.data() + d * static_cast<std::size_t>(n_bins);
      add_histogram(own.bins.data() + begin_[d], begin_[d + 1] - begin_[d], n_bins, out);
      for (std::int32_t b = 0; b < n_bins; ++b) sizes[b] += out[b];
    }
  }
  // Where bins are few, neighbours often fall into the same one and would wait for each other: four runs take turns.
  static void add_histogram(const std::uint8_t* bins, std::int32_t n, std::int32_t n_bins, std::int32_t* out) {
    constexpr std::int32_t kFew = 16;
    std::int32_t k = 0;
    if (n_bins <= kFew) {
      std::int32_t turns[4][kFew] = {};
      for (; k + 3 < n; k += 4)
        for (std::int32_t t = 0; t < 4; ++t) ++turns[t][bins[k + t]];
      for (std::int32_t b = 0; b < n_bins; ++b) out[b] = turns[0][b] + turns[1][b] + turns[2][b] + turns[3][b];
    }
    for (; k < n; ++k) ++out[bins[k]];
  }

  // Every bin of the node is one here.
  void keep_bins(SetFeature<V>& own, const FeatureBins& fine, const std::int32_t* sizes) {
    own.n_bins = fine.n_bins;
    own.stride = padded<V>(own.n_bins);
    own.start[0] = 0;
    for (std::int32_t b = 0; b < own.n_bins; ++b) {
      own.map[b] = static_cast<std::uint8_t>(b);
      own.last_fine[b] = b;
      own.inner[b] = kInfeasible<V>;
      own.start[b + 1] = own.start[b] + sizes[b];
    }
  }

  void add_line(SetFeature<V>& own, std::int32_t n_fine) {
    const auto n = static_cast<std::size_t>(given_.n_rows);
    own.line.assign(static_cast<std::size_t>(n_planes_) * static_cast<std::size_t>(own.stride), V{0});
    const bool by_label = data_.adds_to_one_plane();
    for (std::int32_t d = 0; d < data_.rule().n_planes && is_counted_; ++d)
      for (std::int32_t b = 0; b < n_fine; ++b) {
        V& sum = own.line[static_cast<std::size_t>(d * own.stride + own.map[b])];
        sum = static_cast<V>(sum + fine_[static_cast<std::size_t>(d * n_fine + b)]);
      }
    for (std::int32_t d = 0; d < data_.rule().n_planes && !is_counted_; ++d) {
      V* line = own.line.data() + d * own.stride;
      const auto from = by_label ? static_cast<std::size_t>(begin_[static_cast<std::size_t>(d)]) : 0;
      const auto to = by_label ? static_cast<std::size_t>(begin_[static_cast<std::size_t>(d) + 1]) : n;
      const std::size_t shift = by_label ? 0 : static_cast<std::size_t>(d) * n;
      for (std::size_t k = from; k < to; ++k)
        line[own.bins[k]] = static_cast<V>(line[own.bins[k]] + (data_.has_unit_values() ? V{1} : values_[shift + k]));
    }
    if (min_leaf_ <= 1) return;
    V* line = own.line.data() + data_.rule().n_planes * own.stride;
    for (std::size_t k = 0; k < n; ++k) line[own.bins[k]] = static_cast<V>(line[own.bins[k]] + 1);
  }

  bool is_cut() const { return data_.leaves() != nullptr && data_.leaves()->is_cut(); }

  void set_leaf_cost() {
    std::int32_t label = 0;
    leaf_cost_ = data_.leaves() != nullptr ? static_cast<V>(data_.leaves()->leaf(given_.rows, given_.n_rows, &label))
                                           : plane_cost(data_.rule(), totals_.data());
  }

  void set_leaves(SetFeature<V>& own) {
    if (data_.leaves() != nullptr) return ask_leaves(own);
    left_.assign(static_cast<std::size_t>(n_planes_), 0);
    right_ = totals_;
    for (std::int32_t b = 0; b < own.n_bins; ++b) {
      for (std::int32_t d = 0; d < n_planes_; ++d) {
        const V more = own.line[static_cast<std::size_t>(d * own.stride + b)];
        left_[static_cast<std::size_t>(d)] = static_cast<V>(left_[static_cast<std::size_t>(d)] + more);
        right_[static_cast<std::size_t>(d)] = static_cast<V>(right_[static_cast<std::size_t>(d)] - more);
      }
      own.leaf[0][b] = plane_cost(data_.rule(), left_.data());
      own.leaf[1][b] = plane_cost(data_.rule(), right_.data());
      for (int side = 0; side < 2; ++side) own.limited[side][b] = fits(own, b) ? own.leaf[side][b] : kInfeasible<V>;
    }
  }

  bool fits(const SetFeature<V>& own, std::int32_t b) const {
    const std::int64_t below = own.start[b + 1];
    return below >= min_leaf_ && given_.n_rows - below >= min_leaf_;
  }

  // The same where costs are asked for.  What has no answer bounds nothing, and is no leaf of a tree.
  void ask_leaves(SetFeature<V>& own) {
    const auto n = static_cast<std::size_t>(own.n_bins), planes = static_cast<std::size_t>(data_.rule().n_planes);
    asked_.assign(2 * n, 0);
    asked_[n - 1] = leaf_cost_;
    if (n > 1) {
      sums_.resize(2 * n * planes);
      for (std::size_t d = 0; d < planes; ++d) {
        Cost sum = 0, *sums = sums_.data() + d * 2 * n;
        for (std::size_t b = 0; b < n; ++b) {
          sums[b] = sum += own.line[d * static_cast<std::size_t>(own.stride) + b];
          sums[n + b] = totals_[d] - sum;
        }
      }
      data_.rule().costs->ask(sums_.data(), 2 * n, 2 * n, asked_.data());
    }
    for (std::int32_t b = 0; b < own.n_bins; ++b)
      for (std::size_t side = 0; side < 2; ++side) {
        const Cost cost = asked_[side * n + static_cast<std::size_t>(b)];
        own.leaf[side][b] = static_cast<V>(cost < kNoCost ? cost : 0);
        own.limited[side][b] = cost < kNoCost && fits(own, b) ? static_cast<V>(cost) : kInfeasible<V>;
      }
  }

  const OrderedData& data_;
  Budget& budget_;
  MemoryBudget& memory_;
  std::int64_t min_leaf_;
  std::int32_t n_planes_;  // with the one that counts rows
  std::vector<SetFeature<V>> features_;
  OrderedRows given_;
  AlignedArray<std::int32_t> rows_;  // by label
  std::vector<std::int32_t> begin_, next_;
  ChargedVector<V> values_;
  std::vector<std::int32_t> fine_;  // [label][fine bin] of the feature at hand
  bool is_counted_ = false;         // there are such
  std::vector<V> totals_, left_, right_;
  std::vector<Cost> sums_, asked_;
  std::vector<std::int32_t> live_;
  V leaf_cost_ = 0;
  Cost worst_ = 0;
  bool has_inner_ = false, is_complete_ = true;
};

}  // namespace certree
