// What the depth-two solver for sums of vectors asks about leaves, one class per kind of task: leaf costs of both sides of
// every column, pairs folded in row by row, the best of all with 0 to 3 splits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "base/memory.hpp"
#include "counts/kernels.hpp"
#include "counts/vector_kernels.hpp"
#include "data/vector_data.hpp"
#include "search/columns/depth_two.hpp"
#include "search/vectors/prices.hpp"

namespace certree {

// One set of rows: the node itself, or one child.  Sums are [statistic][stride] for columns.
template <class V>
struct SideSums {
  std::int32_t n_columns = 0;
  std::int32_t stride = 0;
  const V* totals = nullptr;
  const V* columns = nullptr;
  Cost* wide_totals = nullptr;
  const TestPrices<V>* prices = nullptr;  // null: tests are free
  std::int32_t weight_statistic = -1;
  // What all rows pay for the test of a column.
  Cost test(std::size_t column) const {
    return prices == nullptr ? 0 : static_cast<Cost>(prices->price(column)) * totals[weight_statistic];
  }
};

// Sums of all pairs, row by row, as differences if there is a subtrahend; a row has the columns from its own on.
template <class V>
struct PairTable {
  const V* minuend = nullptr;
  std::size_t minuend_row = 0;
  const V* subtrahend = nullptr;
  std::size_t subtrahend_row = 0;
  std::size_t stride = 0;  // of statistics
  // One statistic of all pairs of a column; where i meets itself, any number.
  void copy(std::size_t i, std::size_t n, std::size_t statistic, V* out) const {
    const std::size_t place = statistic * stride;
    for (std::size_t j = 0; j < i; ++j) out[j] = minuend[j * minuend_row + place + i];
    std::copy_n(minuend + i * minuend_row + place + i, n - i, out + i);
    if (subtrahend == nullptr) return;
    for (std::size_t j = 0; j < i; ++j) out[j] -= subtrahend[j * subtrahend_row + place + i];
    const V* less = subtrahend + i * subtrahend_row + place;
    for (std::size_t j = i; j < n; ++j) out[j] -= less[j];
  }
};

// Which statistic counts rows, and how many a leaf needs.
struct LeafSize {
  std::int32_t statistic = 0;
  bool in_pairs = false;
  std::int64_t least = 1;
};

// The least of the sums (VectorKind::least).
template <class V>
class LeastLeaves {
 public:
  static constexpr bool kReadsRows = false;
  struct Side {
    explicit Side(MemoryBudget& memory) : yes0(memory), no0(memory), yes1(memory), no1(memory) {}
    AlignedArray<V> yes0, no0, yes1, no1;
    VectorInput<V> input;
    SideSums<V> sums;
    V leaf = 0;
  };

  LeastLeaves(const VectorData& data, const LeafSize& size, const DepthTwoSettings& settings, Budget&, MemoryBudget&)
      : n_costs_(data.task().n_statistics),
        outputs_(data.task().outputs),
        size_(size),
        kernels_(vector_kernels_for<V>(settings.isa)),
        common_(kernels_for<V>(settings.isa)) {
    constexpr Cost kLarge = Cost{1} << 31;
    has_small_prices_ = data.tests() != nullptr && data.tests()->highest() < kLarge && data.weight() < kLarge;
  }

  void begin(Side& side, const SideSums<V>& sums) {
    const auto stride = static_cast<std::size_t>(sums.stride);
    const auto least = static_cast<V>(std::min<std::int64_t>(size_.least, kInfeasible<V>));
    side.input = {sums.n_columns,
                  sums.stride,
                  n_costs_,
                  size_.in_pairs ? size_.statistic : -1,
                  least,
                  sums.totals,
                  sums.columns,
                  side.yes1.ensure(stride),
                  side.no1.ensure(stride),
                  sums.prices != nullptr ? sums.prices->after() : nullptr,
                  sums.prices != nullptr ? sums.prices->before() : nullptr,
                  sums.weight_statistic,
                  has_small_prices_,
                  outputs_.data(),
                  static_cast<std::int32_t>(std::max<std::size_t>(outputs_.size(), 1))};
    side.sums = sums;
    std::fill_n(side.input.yes1, stride, kInfeasible<V>);
    std::fill_n(side.input.no1, stride, kInfeasible<V>);
    V* yes0 = side.yes0.ensure(stride);
    V* no0 = side.no0.ensure(stride);
    kernels_.least_of_sides(side.input, yes0, no0);
    const V* rows = sums.columns + static_cast<std::size_t>(size_.statistic) * stride;
    const V all = sums.totals[size_.statistic];
    for (std::int32_t j = 0; j < sums.n_columns; ++j)
      if (rows[j] < least || all - rows[j] < least) yes0[j] = no0[j] = kInfeasible<V>;
    side.leaf = outputs_.empty() ? *std::min_element(sums.totals, sums.totals + n_costs_)
                                 : sum_of_least(sums.totals, outputs_.data(), outputs_.size());
  }

  void add_row(Side& side, std::int32_t i, const PairRow<V>& pairs) { kernels_.least_of_pairs(side.input, i, pairs); }
  // Nothing is left to do once the rows are in.
  bool finish(bool) { return true; }
  bool is_stopped() const { return false; }

  SplitErrors errors(const Side& side) const {
    if (side.sums.prices != nullptr) return priced_errors(side);
    const SplitCosts<V> costs =
        common_.summarise(side.input.n_columns, side.yes0.data(), side.no0.data(), side.input.yes1, side.input.no1);
    return {static_cast<Cost>(side.leaf), widen(costs.one), widen(costs.two), widen(costs.three)};
  }

  void publish(const Side& side, const Cost*, Expansion& out) const {
    const auto n = static_cast<std::size_t>(side.input.n_columns);
    Cost* targets[] = {out.yes0.data(), out.no0.data(), out.yes1.data(), out.no1.data()};
    const V* sources[] = {side.yes0.data(), side.no0.data(), side.yes1.data(), side.no1.data()};
    for (int k = 0; k < 4; ++k)
      for (std::size_t j = 0; j < n; ++j) targets[k][j] = widen(sources[k][j]);
  }

 private:
  SplitErrors priced_errors(const Side& side) const {
    SplitErrors out{static_cast<Cost>(side.leaf), kInfinite, kInfinite, kInfinite};
    for (std::size_t j = 0; j < static_cast<std::size_t>(side.input.n_columns); ++j) {
      if (side.yes0[j] >= kInfeasible<V>) continue;
      const Cost test = side.sums.test(j), yes0 = widen(side.yes0[j]), no0 = widen(side.no0[j]);
      const Cost yes1 = widen(side.yes1[j]), no1 = widen(side.no1[j]);
      out[1] = std::min(out[1], test + yes0 + no0);
      out[2] = std::min({out[2], test + yes1 + no0, test + yes0 + no1});
      out[3] = std::min(out[3], test + yes1 + no1);
    }
    for (Cost& error : out) error = std::min(error, kInfinite);
    return out;
  }
  static Cost widen(V cost) { return cost >= kInfeasible<V> ? kInfinite : static_cast<Cost>(cost); }

  std::int32_t n_costs_;
  std::vector<Cost> outputs_;
  LeafSize size_;
  bool has_small_prices_ = false;
  const VectorKernels<V>& kernels_;
  const Kernels<V>& common_;
};

}  // namespace certree
