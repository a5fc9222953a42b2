// Squared error around the mean (VectorKind::squares) and losses of rates (VectorKind::rates), as what means and rates save: the
// rest, the last statistic, is a sum that does not depend on the tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/vectors/leaves.hpp"

namespace certree {

template <class V>
class SavingLeaves {
 public:
  static constexpr bool kReadsRows = false;
  static constexpr bool kEstimates = true;
  struct Side {
    explicit Side(MemoryBudget& memory)
        : yes0(memory),
          no0(memory),
          yes1(memory),
          no1(memory),
          yes_bar(memory),
          no_bar(memory),
          yes_rough(memory),
          no_rough(memory) {}
    AlignedArray<Cost> yes0, no0, yes1, no1;  // saved
    AlignedArray<double> yes_bar, no_bar;
    AlignedArray<float> yes_rough, no_rough;
    SavingInput<V> input;
    Cost rest = 0;  // of all rows: what they cost if nothing is saved
    Cost leaf = 0;  // saved
  };

  SavingLeaves(const VectorData& data, const LeafSize& size, const DepthTwoSettings& settings, Budget&,
               MemoryBudget& memory)
      : task_(data.task()),
        scales_(data.task()),
        size_(size),
        is_narrow_(task_.kind == VectorKind::rates || scales_.are_narrow(data.sizes().data())),
        has_bars_(settings.estimates_savings && scales_.outputs.size() == 1 && is_narrow_),
        kernels_(vector_kernels_for<V>(settings.isa)),
        row_(memory) {}

  void begin(Side& side, const SideSums<V>& sums) {
    const auto stride = static_cast<std::size_t>(sums.stride);
    const auto least = static_cast<V>(std::min<std::int64_t>(size_.least, kInfeasible<V>));
    side.input = {sums.n_columns,
                  sums.stride,
                  size_.in_pairs ? size_.statistic : -1,
                  least,
                  scales_.outputs.data(),
                  static_cast<std::int32_t>(scales_.outputs.size()),
                  task_.kind == VectorKind::rates ? &task_.rates : nullptr,
                  is_narrow_,
                  sums.totals,
                  sums.columns,
                  side.yes1.ensure(stride),
                  side.no1.ensure(stride),
                  nullptr,
                  nullptr,
                  nullptr,
                  nullptr};
    if (has_bars_) set_bars(side);
    std::fill_n(side.input.yes1, stride, kNoSaving);
    std::fill_n(side.input.no1, stride, kNoSaving);
    Cost* yes0 = side.yes0.ensure(stride);
    Cost* no0 = side.no0.ensure(stride);
    kernels_.savings_of_sides(side.input, yes0, no0);
    const V* rows = sums.columns + static_cast<std::size_t>(size_.statistic) * stride;
    const V all = sums.totals[size_.statistic];
    for (std::int32_t j = 0; j < sums.n_columns; ++j)
      if (rows[j] < least || all - rows[j] < least) yes0[j] = no0[j] = kNoSaving;
    side.rest = scales_.scale * sums.wide_totals[1];
    if (task_.kind == VectorKind::rates) {
      side.leaf = saved_by_rate(task_.rates, sums.totals[0], sums.totals[1]);
      return;
    }
    side.leaf = 0;
    for (std::size_t k = 0; k < scales_.outputs.size(); ++k)
      side.leaf += saved_squares(scales_.outputs[k], sums.totals[k + 1], sums.totals[0]);
  }

  void add_row(Side& side, std::int32_t i, const PairRow<V>& pairs) { kernels_.savings_of_pairs(side.input, i, pairs); }
  bool finish(bool) { return true; }

  // Where only the best of all is asked for: estimates of all pairs first, then exactly the columns that may be best.
  bool has_estimates() const { return has_bars_; }
  void begin_estimates(Side& side) {
    const auto stride = static_cast<std::size_t>(side.input.stride);
    side.input.yes_rough = side.yes_rough.ensure(stride);
    side.input.no_rough = side.no_rough.ensure(stride);
    for (float* rough : {side.input.yes_rough, side.input.no_rough})
      std::fill_n(rough, stride, -std::numeric_limits<float>::infinity());
  }
  void estimate_row(Side& side, std::int32_t i, const PairRow<V>& pairs) {
    kernels_.estimates_of_pairs(side.input, i, pairs);
  }
  // From now on yes1 and no1 are the most that a column may save, and exact for those that reach the best.
  void refine(Side& side, const PairTable<V>& pairs) {
    const auto n = static_cast<std::size_t>(side.input.n_columns);
    for (std::size_t j = 0; j < n; ++j) {
      const V with = side.input.columns[j];
      side.yes1[j] = most(side, side.yes_rough[j], with);
      side.no1[j] = most(side, side.no_rough[j], side.input.totals[0] - with);
    }
    is_exact_.assign(n, 0);
    for (const bool has_three : {true, false}) {
      for (std::size_t best = 0;;) {
        Cost most_saved = kNoSaving / 2;
        best = n;
        for (std::size_t j = 0; j < n; ++j) {
          const Cost saved = has_three ? three(side, j) : two(side, j);
          // Exact ones go first.
          if (side.yes0[j] <= kNoSaving / 2 || saved < most_saved || (saved == most_saved && !is_exact_[j])) continue;
          most_saved = saved;
          best = j;
        }
        if (best == n || is_exact_[best]) break;
        evaluate(side, static_cast<std::int32_t>(best), pairs);
      }
    }
  }
  bool is_stopped() const { return false; }

  SplitErrors errors(const Side& side) const {
    Cost one = kNoSaving, two = kNoSaving, three = kNoSaving;
    for (std::size_t j = 0; j < static_cast<std::size_t>(side.input.n_columns); ++j) {
      if (side.yes0[j] <= kNoSaving / 2) continue;
      one = std::max(one, side.yes0[j] + side.no0[j]);
      two = std::max(two, this->two(side, j));
      three = std::max(three, this->three(side, j));
    }
    return {side.rest - side.leaf, cost(side.rest, one), cost(side.rest, two), cost(side.rest, three)};
  }

  // `rest`: the sum of the last statistic over the rows where each column holds.
  void publish(const Side& side, const Cost* rest, Expansion& out) const {
    for (std::size_t j = 0; j < static_cast<std::size_t>(side.input.n_columns); ++j) {
      const Cost yes = scales_.scale * rest[j], no = side.rest - yes;
      out.yes0[j] = cost(yes, side.yes0[j]);
      out.no0[j] = cost(no, side.no0[j]);
      out.yes1[j] = cost(yes, side.yes1[j]);
      out.no1[j] = cost(no, side.no1[j]);
    }
  }

 private:
  // What trees of two and three splits with this root save.
  static Cost two(const Side& side, std::size_t j) {
    return std::max(side.yes1[j] + side.no0[j], side.yes0[j] + side.no1[j]);
  }
  static Cost three(const Side& side, std::size_t j) { return side.yes1[j] + side.no1[j]; }

  static Cost most(const Side& side, float rough, V w) {
    return rough == -std::numeric_limits<float>::infinity() ? kNoSaving : most_saved(side.input, rough, w);
  }

  void evaluate(Side& side, std::int32_t column, const PairTable<V>& pairs) {
    const auto stride = static_cast<std::size_t>(side.input.stride);
    const auto n = static_cast<std::size_t>(side.input.n_columns);
    const auto n_statistics = static_cast<std::size_t>(std::max(2, side.input.count_statistic + 1));
    V* row = row_.ensure(n_statistics * stride);
    for (std::size_t s = 0; s < n_statistics; ++s) {
      pairs.copy(static_cast<std::size_t>(column), n, s, row + s * stride);
      std::fill(row + s * stride + n, row + (s + 1) * stride, V{0});
    }
    kernels_.savings_of_column(side.input, column, {row, stride, nullptr, 0});
    is_exact_[static_cast<std::size_t>(column)] = 1;
  }

  void set_bars(Side& side) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto stride = static_cast<std::size_t>(side.input.stride);
    const auto n = static_cast<std::size_t>(side.input.n_columns);
    side.input.yes_bar = side.yes_bar.ensure(stride);
    side.input.no_bar = side.no_bar.ensure(stride);
    for (double* bar : {side.input.yes_bar, side.input.no_bar}) {
      std::fill_n(bar, n, -kInfinity);
      std::fill(bar + n, bar + stride, kInfinity);
    }
  }

  static Cost cost(Cost rest, Cost saved) { return saved <= kNoSaving / 2 ? kInfinite : rest - saved; }

  const VectorTask& task_;
  SquareScales scales_;
  LeafSize size_;
  bool is_narrow_;
  bool has_bars_;  // estimates tell which splits may be better
  const VectorKernels<V>& kernels_;
  AlignedArray<V> row_;  // all pairs of one column
  std::vector<std::uint8_t> is_exact_;
};

}  // namespace certree
