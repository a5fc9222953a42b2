// Source of the kernels, included by one translation unit per instruction set with CERTREE_ISA defined to the name of
// its namespace.  Everything here has internal linkage and calls no function template of another header: a template
// instantiated with AVX-512 flags must never be the copy that the linker keeps for the baseline.
#include "counts/kernels_impl_base.hpp"
#include "counts/kernels_impl_bits.hpp"
#include "counts/kernels_impl_cells.hpp"
#include "counts/kernels_impl_count.hpp"
#include "counts/kernels_impl_lanes.hpp"
#include "counts/kernels_impl_lines.hpp"
#include "counts/kernels_impl_pairs.hpp"
#include "counts/kernels_impl_planes.hpp"
#include "counts/kernels_impl_quantiles.hpp"
#include "counts/kernels_impl_savings.hpp"
#include "counts/kernels_impl_second.hpp"
#include "counts/kernels_impl_squares.hpp"
#include "counts/kernels_impl_table.hpp"
#include "counts/kernels_impl_types.hpp"
#include "counts/kernels_impl_vector.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

template <class V>
void evaluate_row(const PairInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  const bool is_difference = pairs.subtrahend != nullptr;
  if (in.rule.form != LeafForm::matrix && in.rule.min_leaf <= 1) {
    if (in.rule.form == LeafForm::binary_unit)
      return is_difference ? evaluate_binary_unit<V, true>(in, i, pairs) : evaluate_binary_unit<V, false>(in, i, pairs);
    if (in.rule.has_unit_weights)
      return is_difference ? evaluate_labels<V, true, true>(in, i, pairs)
                           : evaluate_labels<V, false, true>(in, i, pairs);
    return is_difference ? evaluate_labels<V, true, false>(in, i, pairs)
                         : evaluate_labels<V, false, false>(in, i, pairs);
  }
  Cells<V> cost;
  for (std::int32_t j = i + 1; j < in.n_columns; j += kBlock) {
    const int count = in.n_columns - j < kBlock ? in.n_columns - j : kBlock;
    if (in.rule.form == LeafForm::matrix) {
      matrix_costs(in, i, j, count, pairs, cost);
    } else {
      weighted_label_costs(in, i, j, count, pairs, cost);
    }
    if (in.rule.min_leaf > 1) forbid_small_leaves(in, i, j, count, pairs, cost);
    fold_cells(in, i, j, count, cost);
  }
}

// Cost and best label of a leaf whose count of type t is `count(t)`.
template <class V, class Count>
inline V cost_of_leaf(const LeafRule<V>& rule, Count count, std::int32_t* label) {
  V best = kInfeasible<V>;
  std::int32_t best_label = 0;
  if (rule.form == LeafForm::matrix) {
    for (std::int32_t l = 0; l < rule.n_labels; ++l) {
      V cost = 0;
      for (std::int32_t t = 0; t < rule.n_types; ++t)
        cost = static_cast<V>(cost + rule.matrix[t * rule.n_labels + l] * count(t));
      if (cost < best) best = cost, best_label = l;
    }
  } else {
    V sum = 0, top = -1;
    for (std::int32_t t = 0; t < rule.n_types; ++t) {
      const V term = static_cast<V>((rule.weight != nullptr ? rule.weight[t] : V{1}) * count(t));
      sum = static_cast<V>(sum + term);
      if (term > top) top = term, best_label = t;
    }
    best = static_cast<V>(sum - top);
  }
  if (label != nullptr) *label = best_label;
  return best;
}

template <class V>
V leaf_cost(const LeafRule<V>& rule, const V* counts, std::int32_t* label) {
  return cost_of_leaf(rule, [=](std::int32_t t) { return counts[t]; }, label);
}

// One label per type: blocks of columns, types outside, so that the inner loops are vectors.
template <class V>
inline void leaf_costs_labels(const PairInput<V>& in, V* yes0, V* no0) {
  for (std::int32_t j = 0; j < in.n_columns; j += kBlock) {
    const int count = in.n_columns - j < kBlock ? in.n_columns - j : kBlock;
    V yes_sum[kBlock] = {}, no_sum[kBlock] = {}, yes_top[kBlock] = {}, no_top[kBlock] = {}, yes_rows[kBlock] = {};
    V all_rows = 0;
    for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
      const V* column = in.columns + t * static_cast<std::ptrdiff_t>(in.stride) + j;
      const V total = in.totals[t], w = in.rule.weight != nullptr ? in.rule.weight[t] : V{1};
      all_rows = static_cast<V>(all_rows + total);
      for (int k = 0; k < count; ++k) {
        const V yes = static_cast<V>(w * column[k]), no = static_cast<V>(w * static_cast<V>(total - column[k]));
        yes_rows[k] = static_cast<V>(yes_rows[k] + column[k]);
        yes_sum[k] = static_cast<V>(yes_sum[k] + yes);
        no_sum[k] = static_cast<V>(no_sum[k] + no);
        yes_top[k] = yes > yes_top[k] ? yes : yes_top[k];
        no_top[k] = no > no_top[k] ? no : no_top[k];
      }
    }
    const V min_leaf = in.rule.min_leaf;
    for (int k = 0; k < count; ++k) {
      const bool feasible = yes_rows[k] >= min_leaf && static_cast<V>(all_rows - yes_rows[k]) >= min_leaf;
      yes0[j + k] = feasible ? static_cast<V>(yes_sum[k] - yes_top[k]) : kInfeasible<V>;
      no0[j + k] = feasible ? static_cast<V>(no_sum[k] - no_top[k]) : kInfeasible<V>;
    }
  }
}

template <class V>
void leaf_costs(const PairInput<V>& in, V* yes0, V* no0) {
  if (in.rule.form != LeafForm::matrix && in.rule.count_type < 0) return leaf_costs_labels(in, yes0, no0);
  for (std::int32_t j = 0; j < in.n_columns; ++j) {
    const auto yes = [&](std::int32_t t) { return in.columns[t * static_cast<std::ptrdiff_t>(in.stride) + j]; };
    const auto no = [&](std::int32_t t) { return static_cast<V>(in.totals[t] - yes(t)); };
    V yes_rows = 0, no_rows = 0;
    if (in.rule.count_type >= 0) {
      yes_rows = yes(in.rule.count_type);
      no_rows = no(in.rule.count_type);
    } else {
      for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
        yes_rows = static_cast<V>(yes_rows + yes(t));
        no_rows = static_cast<V>(no_rows + no(t));
      }
    }
    const bool feasible = yes_rows >= in.rule.min_leaf && no_rows >= in.rule.min_leaf;
    yes0[j] = feasible ? cost_of_leaf(in.rule, yes, nullptr) : kInfeasible<V>;
    no0[j] = feasible ? cost_of_leaf(in.rule, no, nullptr) : kInfeasible<V>;
  }
}

template <class V>
SplitCosts<V> summarise(std::int32_t n_columns, const V* yes0, const V* no0, const V* yes1, const V* no1) {
  V one = kInfeasible<V>, two = kInfeasible<V>, three = kInfeasible<V>;
  for (std::int32_t j = 0; j < n_columns; ++j) {
    // yes0 is infeasible when the column itself may not be used here; so is every tree below it.
    const V barrier = yes0[j] >= kInfeasible<V> ? kInfeasible<V> : V{0};
    one = least(one, static_cast<V>(yes0[j] + no0[j]));
    two = least(two, static_cast<V>(least(static_cast<V>(yes1[j]), kInfeasible<V>) + no0[j]));
    two = least(two, static_cast<V>(yes0[j] + no1[j]));
    const V deep = static_cast<V>(yes1[j] + no1[j]);
    three = least(three, deep > barrier ? deep : barrier);
  }
  return {one, two, three};
}
}  // namespace

template <class V>
constexpr Kernels<V> table() {
  return {&count_rows<V>, &count_columns<V>, &leaf_costs<V>, &evaluate_row<V>, &summarise<V>, &leaf_cost<V>};
}

extern const Kernels<std::int16_t> kernels16;
extern const Kernels<std::int32_t> kernels32;
extern const Kernels<std::int64_t> kernels64;
template <class V>
constexpr VectorKernels<V> vector_table() {
  return {&add_rows<V>,
          kAddPlanes<V>,
          &plane_totals<V>,
          &add_types<V>,
          &add_wide_types<V>,
          &list_change,
          &least_of_sides<V>,
          &least_of_pairs<V>,
          &savings_of_sides<V>,
          &savings_of_pairs<V>,
          &estimates_of_pairs<V>,
          &savings_of_column<V>,
          &quantiles_of_sides<V>,
          &quantiles_of_pairs<V>,
          &table_of_pairs<V>,
          &rate_savings,
          &line_errors};
}

extern const BitKernels bit_kernels;
extern const VectorKernels<std::int32_t> vector_kernels32;
extern const VectorKernels<std::int64_t> vector_kernels64;
extern const PairKernels<std::int16_t> pair_kernels16;
extern const PairKernels<std::int32_t> pair_kernels32;
extern const PairKernels<std::int64_t> pair_kernels64;
const Kernels<std::int16_t> kernels16 = table<std::int16_t>();
const Kernels<std::int32_t> kernels32 = table<std::int32_t>();
const Kernels<std::int64_t> kernels64 = table<std::int64_t>();
const VectorKernels<std::int32_t> vector_kernels32 = vector_table<std::int32_t>();
const VectorKernels<std::int64_t> vector_kernels64 = vector_table<std::int64_t>();
const PairKernels<std::int16_t> pair_kernels16 = {&count_cells<std::int16_t>, &scan_pair<std::int16_t>,
                                                  &scan_second<std::int16_t>};
const PairKernels<std::int32_t> pair_kernels32 = {&count_cells<std::int32_t>, &scan_pair<std::int32_t>,
                                                  &scan_second<std::int32_t>};
const PairKernels<std::int64_t> pair_kernels64 = {&count_cells<std::int64_t>, &scan_pair<std::int64_t>,
                                                  &scan_second<std::int64_t>};
const BitKernels bit_kernels = {&extract, &hash_columns, &pack};

}  // namespace CERTREE_ISA
}  // namespace certree
