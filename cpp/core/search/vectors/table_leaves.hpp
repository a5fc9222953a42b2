// Leaf costs that a function of the caller's knows, where sums take few values (search/vectors/leaf_table.hpp).  The only
// statistic is the place of a sum in the table.  Rows of pairs with cells that are not there yet wait for the end of the
// pass, when the function is asked about all of them at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/vectors/leaf_table.hpp"
#include "search/vectors/leaves.hpp"

namespace certree {

template <class V>
class TableLeaves {
 public:
  static constexpr bool kReadsRows = false;
  struct Side {
    explicit Side(MemoryBudget& memory) : yes0(memory), no0(memory), yes1(memory), no1(memory) {}
    AlignedArray<V> yes0, no0, yes1, no1;
    TableInput<V> input;
    Cost leaf = kInfinite;
  };

  TableLeaves(LeafTable<V>& table, Isa isa)
      : table_(table), kernels_(vector_kernels_for<V>(isa)), common_(kernels_for<V>(isa)) {}

  void begin(Side& side, const SideSums<V>& sums) {
    const auto stride = static_cast<std::size_t>(sums.stride);
    side.input = {sums.n_columns,    sums.totals[0],           sums.columns,
                  table_.inverted(), side.yes1.ensure(stride), side.no1.ensure(stride)};
    std::fill_n(side.input.yes1, stride, kInfeasible<V>);
    std::fill_n(side.input.no1, stride, kInfeasible<V>);
    side.yes0.ensure(stride);
    side.no0.ensure(stride);
    table_.want(sums.totals[0]);
    for (std::int32_t j = 0; j < sums.n_columns; ++j) {
      table_.want(sums.columns[j]);
      table_.want(static_cast<V>(sums.totals[0] - sums.columns[j]));
    }
    sides_.push_back(&side);
  }

  void add_row(Side& side, std::int32_t i, const PairRow<V>& pairs) {
    if (kernels_.table_of_pairs(side.input, i, pairs)) return;
    keep_row(side, i, pairs);
    if (table_.n_wanted() >= kMostWanted || kept_.size() >= kMostKept) is_stopped_ = !evaluate_kept(true);
  }

  // False: the time is up, and nothing is known of the pass.
  bool finish(bool may_stop) {
    if (!evaluate_kept(may_stop)) return !reset();
    for (Side* side : sides_) take_sides(*side);
    return reset();
  }
  bool is_stopped() {
    if (is_stopped_ || (!rows_.empty() && table_.is_late())) return reset();
    return false;
  }

  SplitErrors errors(const Side& side) const {
    const SplitCosts<V> costs =
        common_.summarise(side.input.n_columns, side.yes0.data(), side.no0.data(), side.input.yes1, side.input.no1);
    return {side.leaf, widen(costs.one), widen(costs.two), widen(costs.three)};
  }

  void publish(const Side& side, const Cost*, Expansion& out) const {
    const auto n = static_cast<std::size_t>(side.input.n_columns);
    Cost* targets[] = {out.yes0.data(), out.no0.data(), out.yes1.data(), out.no1.data()};
    const V* sources[] = {side.yes0.data(), side.no0.data(), side.yes1.data(), side.no1.data()};
    for (int k = 0; k < 4; ++k)
      for (std::size_t j = 0; j < n; ++j) targets[k][j] = widen(sources[k][j]);
  }

 private:
  static constexpr std::size_t kMostWanted = std::size_t{1} << 18;
  static constexpr std::size_t kMostKept = std::size_t{1} << 20;

  // A row of pairs that waits: its places where both columns hold, those of later columns, at kept_[begin].
  struct Row {
    Side* side = nullptr;
    std::int32_t column = 0;
    std::size_t begin = 0;
  };

  static Cost widen(V cost) { return cost >= kInfeasible<V> ? kInfinite : static_cast<Cost>(cost); }

  void keep_row(Side& side, std::int32_t i, const PairRow<V>& pairs) {
    const TableInput<V>& in = side.input;
    const auto mine = static_cast<std::size_t>(i), n = static_cast<std::size_t>(in.n_columns);
    rows_.push_back({&side, i, kept_.size()});
    const V held = in.columns[mine], rest = static_cast<V>(in.total - held);
    for (std::size_t j = mine + 1; j < n; ++j) {
      const V both = static_cast<V>(pairs.minuend[j] - (pairs.subtrahend != nullptr ? pairs.subtrahend[j] : V{0}));
      const V only_j = static_cast<V>(in.columns[j] - both);
      kept_.push_back(both);
      for (const V place : {both, static_cast<V>(held - both), only_j, static_cast<V>(rest - only_j)})
        table_.want(place);
    }
  }

  bool evaluate_kept(bool may_stop) {
    if (!table_.ask(may_stop)) return false;
    for (const Row& row : rows_) {
      const V* both = kept_.data() + row.begin - (row.column + 1);
      kernels_.table_of_pairs(row.side->input, row.column, {both, 0, nullptr, 0});
    }
    rows_.clear();
    kept_.clear();
    return true;
  }

  void take_sides(Side& side) const {
    const TableInput<V>& in = side.input;
    for (std::size_t j = 0; j < static_cast<std::size_t>(in.n_columns); ++j) {
      const V yes = table_.cost(in.columns[j]), no = table_.cost(static_cast<V>(in.total - in.columns[j]));
      const bool is_feasible = yes < kInfeasible<V> && no < kInfeasible<V>;
      side.yes0[j] = is_feasible ? yes : kInfeasible<V>;
      side.no0[j] = is_feasible ? no : kInfeasible<V>;
    }
    side.leaf = table_.leaf_cost(in.total);
  }

  // Forgets the pass, which has ended or was left.
  bool reset() {
    table_.forget();
    rows_.clear();
    kept_.clear();
    sides_.clear();
    is_stopped_ = false;
    return true;
  }

  LeafTable<V>& table_;
  const VectorKernels<V>& kernels_;
  const Kernels<V>& common_;
  std::vector<Side*> sides_;
  std::vector<Row> rows_;
  std::vector<V> kept_;
  bool is_stopped_ = false;
};

}  // namespace certree
