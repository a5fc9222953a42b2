// Losses around quantiles (VectorKind::quantile).  They are not a function of a sum, so the pass reads the rows: in ascending
// order of their targets, those where a column holds and those where it does not, for all other columns at once
// (counts/kernels_impl_quantiles.hpp).  The weights of pairs are sums as those of other tasks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/vectors/leaves.hpp"
#include "search/vectors/rows.hpp"
#include "tasks/quantile_loss.hpp"

namespace certree {

template <class V>
class QuantileLeaves {
 public:
  static constexpr bool kReadsRows = true;
  using Lane = TargetLane<V>;

  struct Side {
    explicit Side(MemoryBudget& memory) : yes0(memory), no0(memory), yes1(memory), no1(memory) {}
    AlignedArray<Lane> yes0, no0, yes1, no1;
    QuantileInput<V> input;
    std::vector<Word> rows;  // a set among the rows of the node
    Cost leaf = 0;
    // Of children, only the best trees are asked for.  The pass keeps bounds, and `errors` finds the few exact losses it needs.
    bool is_lazy = false;
    std::vector<V> pairs;  // [column][statistic][stride]: sums of pairs with later columns, for exact losses
  };

  QuantileLeaves(const VectorData& data, const LeafSize& size, const DepthTwoSettings& settings, Budget&,
                 MemoryBudget& memory)
      : data_(data),
        size_(size),
        kernels_(vector_kernels_for<V>(settings.isa)),
        bytes_(memory),
        holds_(memory),
        bits_(memory) {}

  // Lays out the rows of a node, unless they are there.
  void use(const Node& node) {
    if (is_used_ && key_ == node.rows.key && n_columns_ == node.n_columns) return;
    key_ = node.rows.key;
    n_columns_ = node.n_columns;
    is_used_ = true;
    find_rows(node);
    lay_out(node);
  }

  // All rows of the node, or those where a column does or does not hold.
  void choose(Side& side, std::int32_t column, bool holds) const {
    const auto stride = static_cast<std::size_t>(n_columns_) + 16;
    side.is_lazy = column >= 0 && stride * stride * 2 * sizeof(V) <= kMostPairs;
    side.rows.assign(n_words_, ~Word{0});
    if (rows_.size() % kWordBits != 0) side.rows.back() = (Word{1} << (rows_.size() % kWordBits)) - 1;
    for (std::size_t w = 0; column >= 0 && w < n_words_; ++w)
      side.rows[w] &= holds ? bits_of(column)[w] : ~bits_of(column)[w];
  }

  void begin(Side& side, const SideSums<V>& sums) {
    const auto stride = static_cast<std::size_t>(sums.stride);
    const auto least = static_cast<V>(std::min<std::int64_t>(size_.least, kInfeasible<V>));
    const VectorTask& task = data_.task();
    side.input = {sums.n_columns,
                  sums.stride,
                  size_.in_pairs ? size_.statistic : -1,
                  least,
                  {holds_.data(), static_cast<std::int32_t>(row_words_), rows_.data(), static_cast<Lane>(task.above),
                   static_cast<Lane>(task.above + task.below)},
                  sums.totals,
                  sums.columns,
                  side.yes1.ensure(stride),
                  side.no1.ensure(stride)};
    std::fill_n(side.input.yes1, stride, kNoTarget<Lane>);
    std::fill_n(side.input.no1, stride, kNoTarget<Lane>);
    Lane* yes0 = side.yes0.ensure(stride);
    Lane* no0 = side.no0.ensure(stride);
    with_.take(kernels_, rows_, side.rows.data(), n_words_, [](Word rows, std::size_t) { return rows; });
    kernels_.quantiles_of_sides(side.input, with_.list(), yes0, no0);
    const V* rows = sums.columns + static_cast<std::size_t>(size_.statistic) * stride;
    const V all = sums.totals[size_.statistic];
    for (std::int32_t j = 0; j < sums.n_columns; ++j)
      if (rows[j] < least || all - rows[j] < least) yes0[j] = no0[j] = kNoTarget<Lane>;
    side.leaf = loss_of(with_.list());
  }

  void add_row(Side& side, std::int32_t i, const PairRow<V>& pairs) {
    if (i + 1 >= side.input.n_columns) return;
    if (side.is_lazy) keep_pairs(side, i, pairs);
    take_sides(side, i);
    const QuantileGoal goal = side.is_lazy ? QuantileGoal::bounds : QuantileGoal::pairs;
    kernels_.quantiles_of_pairs(side.input, i, pairs, with_.list(), without_.list(), goal);
  }
  bool finish(bool) { return true; }
  bool is_stopped() const { return false; }

  SplitErrors errors(Side& side) {
    const auto n = static_cast<std::size_t>(side.input.n_columns);
    Lane one = kNoTarget<Lane>, two = one, three = one;
    const auto take = [&](std::size_t j) {
      two = std::min({two, side.yes1[j] + side.no0[j], side.yes0[j] + side.no1[j]});
      three = std::min(three, side.yes1[j] + side.no1[j]);
    };
    order_.clear();
    for (std::size_t j = 0; j < n; ++j) {
      if (side.yes0[j] >= kNoTarget<Lane>) continue;
      one = std::min(one, side.yes0[j] + side.no0[j]);
      order_.push_back(static_cast<std::int32_t>(j));
      if (!side.is_lazy) take(j);
    }
    if (side.is_lazy) {
      const auto bound = [&](std::int32_t column) {
        const auto j = static_cast<std::size_t>(column);
        return side.yes1[j] + side.no1[j];
      };
      std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) { return bound(a) < bound(b); });
      for (const std::int32_t column : order_) {
        const auto j = static_cast<std::size_t>(column);
        const Lane with_two = std::min(side.yes1[j] + side.no0[j], side.yes0[j] + side.no1[j]);
        if (bound(column) >= three && with_two >= two) continue;
        find_exact(side, column);
        take(j);
      }
    }
    return {side.leaf, widen(one), widen(two), widen(three)};
  }

  void publish(const Side& side, const Cost*, Expansion& out) const {
    for (std::size_t j = 0; j < static_cast<std::size_t>(side.input.n_columns); ++j) {
      out.yes0[j] = widen(side.yes0[j]);
      out.no0[j] = widen(side.no0[j]);
      out.yes1[j] = widen(side.yes1[j]);
      out.no1[j] = widen(side.no1[j]);
    }
  }

 private:
  // A list of rows for the kernels.
  class List {
   public:
    template <class Restrict>
    void take(const VectorKernels<V>& kernels, const std::vector<TargetRow<Lane>>& rows, const Word* among,
              std::size_t n_words, Restrict restrict_to) {
      if (places_.size() < rows.size() + 32) places_.resize(rows.size() + 32);
      chosen_.resize(n_words);
      for (std::size_t w = 0; w < n_words; ++w) chosen_[w] = restrict_to(among[w], w);
      RowChange change;  // among more rows than there are, those that are set are the fewest
      kernels.list_change(chosen_.data(), nullptr, chosen_.data(), static_cast<std::int32_t>(n_words),
                          std::numeric_limits<std::int32_t>::max(), places_.data(), change);
      cut(rows, change.n);
    }
    const TargetList<Lane>& list() const { return list_; }

   private:
    // About as many chunks as rows in a chunk, so that neither bounds nor exact losses take long.
    static std::int32_t chunk_size(std::int32_t n) {
      return std::clamp<std::int32_t>(std::int32_t{1} << (std::bit_width(static_cast<std::uint32_t>(n)) / 2), 4, 32);
    }

    void cut(const std::vector<TargetRow<Lane>>& rows, std::int32_t n) {
      const std::int32_t size = chunk_size(n), n_chunks = (n + size - 1) / size;
      chunks_.clear();
      TargetChunk<Lane> sums;
      for (std::int32_t c = 0; c < n_chunks; ++c) {
        chunks_.push_back(sums);
        const std::int32_t end = std::min(n, (c + 1) * size);
        for (std::int32_t k = c * size; k < end; ++k) {
          const TargetRow<Lane>& row = rows[static_cast<std::size_t>(places_[static_cast<std::size_t>(k)])];
          sums.passed += row.weight;
          sums.sum += row.sum;
        }
      }
      chunks_.push_back(sums);
      list_ = {places_.data(), n, size, n_chunks, chunks_.data()};
    }

    std::vector<Word> chosen_;
    std::vector<std::int32_t> places_;
    std::vector<TargetChunk<Lane>> chunks_;
    TargetList<Lane> list_;
  };

  static constexpr std::size_t kMostPairs = std::size_t{4} << 20;

  void take_sides(const Side& side, std::int32_t column) {
    const Word* bits = bits_of(column);
    with_.take(kernels_, rows_, side.rows.data(), n_words_, [=](Word rows, std::size_t w) { return rows & bits[w]; });
    without_.take(kernels_, rows_, side.rows.data(), n_words_,
                  [=](Word rows, std::size_t w) { return rows & ~bits[w]; });
  }

  // Statistics of pairs that losses depend on: weights, and numbers of rows where leaves have a least size.
  std::array<std::int32_t, 2> kept_statistics(const Side& side) const {
    return {0, std::max(side.input.count_statistic, 0)};
  }

  void keep_pairs(Side& side, std::int32_t i, const PairRow<V>& pairs) const {
    const auto stride = static_cast<std::size_t>(side.input.stride);
    side.pairs.resize(stride * stride * 2);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto s = static_cast<std::size_t>(kept_statistics(side)[k]);
      const V* from = pairs.minuend + s * pairs.minuend_type_stride;
      const V* less = pairs.subtrahend == nullptr ? nullptr : pairs.subtrahend + s * pairs.subtrahend_type_stride;
      V* to = side.pairs.data() + (static_cast<std::size_t>(i) * 2 + k) * stride;
      for (auto j = static_cast<std::size_t>(i) + 1; j < stride; ++j)
        to[j] = less == nullptr ? from[j] : static_cast<V>(from[j] - less[j]);
    }
  }

  // The exact losses of one more split on either side of a column.
  void find_exact(Side& side, std::int32_t column) {
    const auto stride = static_cast<std::size_t>(side.input.stride), c = static_cast<std::size_t>(column);
    const auto n = static_cast<std::size_t>(side.input.n_columns);
    const auto n_statistics = static_cast<std::size_t>(std::max(side.input.count_statistic, 0)) + 1;
    row_.assign(n_statistics * stride, 0);
    for (std::size_t k = 0; k < 2; ++k) {
      V* to = row_.data() + static_cast<std::size_t>(kept_statistics(side)[k]) * stride;
      for (std::size_t j = 0; j < n; ++j)
        if (j != c) to[j] = side.pairs[(std::min(j, c) * 2 + k) * stride + std::max(j, c)];
    }
    side.yes1[c] = side.no1[c] = kNoTarget<Lane>;
    if (n < 2) return;
    take_sides(side, column);
    kernels_.quantiles_of_pairs(side.input, column, {row_.data(), stride, nullptr, 0}, with_.list(), without_.list(),
                                QuantileGoal::root);
  }

  const Word* bits_of(std::int32_t column) const { return bits_.data() + static_cast<std::size_t>(column) * n_words_; }

  // The rows of a node in ascending order of their targets, and their places among the groups of the node.
  void find_rows(const Node& node) {
    const std::size_t words = data_.groups().group_words();
    before_.resize(words);
    std::int32_t n = 0;
    for (std::size_t w = 0; w < words; ++w) {
      before_[w] = n;
      n += std::popcount(node.rows_data()[w]);
    }
    const VectorTask& task = data_.task();
    const auto slopes = static_cast<Lane>(task.above + task.below);
    const Cost first = data_.targets().front().value;
    rows_.clear();
    place_.clear();
    for (const Target& target : data_.targets()) {
      const auto w = static_cast<std::size_t>(target.group) / kWordBits;
      const Word bit = Word{1} << (static_cast<std::size_t>(target.group) % kWordBits), all = node.rows_data()[w];
      if ((all & bit) == 0) continue;
      const auto value = static_cast<Lane>(target.value - first), weight = static_cast<Lane>(target.weight);
      rows_.push_back({value, slopes * weight, weight * value});
      place_.push_back(before_[w] + std::popcount(all & (bit - 1)));
    }
  }

  // The columns that hold in each row, and the rows where each column holds.
  void lay_out(const Node& node) {
    const VectorRows<V> held =
        NodeRows<V>::lay_out(node, PartValues<V>{}, data_.groups().group_words(), bytes_).narrow();
    row_words_ = static_cast<std::size_t>(held.words);
    n_words_ = words_for(rows_.size());
    Word* holds = holds_.ensure(rows_.size() * row_words_ + 1);
    for (std::size_t row = 0; row < rows_.size(); ++row)
      std::copy_n(held.holds + static_cast<std::size_t>(place_[row]) * row_words_, row_words_,
                  holds + row * row_words_);
    Word* bits = bits_.ensure(row_words_ * kWordBits * n_words_ + 1);
    Word block[kWordBits];
    for (std::size_t w = 0; w < n_words_; ++w) {
      for (std::size_t c = 0; c < row_words_; ++c) {
        for (std::size_t k = 0; k < kWordBits; ++k)
          block[k] = w * kWordBits + k < rows_.size() ? holds[(w * kWordBits + k) * row_words_ + c] : 0;
        transpose(block);
        for (std::size_t k = 0; k < kWordBits; ++k) bits[(c * kWordBits + k) * n_words_ + w] = block[k];
      }
    }
  }

  Cost loss_of(const TargetList<Lane>& list) const {
    const auto slopes = static_cast<Lane>(data_.task().above + data_.task().below);
    const auto weight_of = [&](Lane weight) { return static_cast<Cost>(weight / slopes); };
    QuantileLoss loss(data_.task(), weight_of(list.chunks[list.n_chunks].passed));
    for (std::int32_t k = 0; k < list.n; ++k) {
      const TargetRow<Lane>& row = rows_[static_cast<std::size_t>(list.places[k])];
      loss.add(static_cast<Cost>(row.target), weight_of(row.weight));
    }
    return loss.cost();
  }
  static Cost widen(Lane cost) { return cost >= kNoTarget<Lane> ? kInfinite : static_cast<Cost>(cost); }

  const VectorData& data_;
  LeafSize size_;
  const VectorKernels<V>& kernels_;
  // The node that is in use.
  bool is_used_ = false;
  Fingerprint key_;
  std::int32_t n_columns_ = 0;
  std::vector<TargetRow<Lane>> rows_;
  std::vector<std::int32_t> place_, before_;
  AlignedArray<std::byte> bytes_;
  AlignedArray<Word> holds_, bits_;  // [row][row_words], [column][n_words]
  std::size_t row_words_ = 0, n_words_ = 0;
  List with_, without_;
  std::vector<std::int32_t> order_;
  std::vector<V> row_;  // pairs of one column
};

}  // namespace certree
