// Costs of cells in blocks: any form of leaf cost, any minimum leaf size.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

// Leaf costs of cells.  `Block` cells at a time on the stack, so that every form is a plain vectorised loop.

constexpr int kBlock = 64;

template <class V>
struct Cells {
  // The four intersections of "i holds / not" with "j holds / not", for a block of j.
  V both[kBlock], only_i[kBlock], only_j[kBlock], neither[kBlock];
};

// Counts of one type in the four cells.
template <class V>
inline void cell_counts(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count, std::int32_t type,
                        const PairRow<V>& pairs, Cells<V>& n) {
  const auto t = static_cast<std::size_t>(type);
  const V* column = in.columns + t * static_cast<std::size_t>(in.stride);
  const V* a = pairs.minuend + t * pairs.minuend_type_stride + j;
  const V with_i = column[i];
  const V without_i = static_cast<V>(in.totals[type] - with_i);
  if (pairs.subtrahend != nullptr) {
    const V* b = pairs.subtrahend + t * pairs.subtrahend_type_stride + j;
    for (int k = 0; k < count; ++k) n.both[k] = static_cast<V>(a[k] - b[k]);
  } else {
    for (int k = 0; k < count; ++k) n.both[k] = a[k];
  }
  for (int k = 0; k < count; ++k) {
    n.only_i[k] = static_cast<V>(with_i - n.both[k]);
    n.only_j[k] = static_cast<V>(column[j + k] - n.both[k]);
    n.neither[k] = static_cast<V>(without_i - n.only_j[k]);
  }
}

template <class V>
inline void add_cells(V* sum, const V* n, V factor, int count) {
  for (int k = 0; k < count; ++k) sum[k] = static_cast<V>(sum[k] + factor * n[k]);
}

template <class V>
inline void keep_larger(V* largest, const V* n, V factor, int count) {
  for (int k = 0; k < count; ++k) {
    const V value = static_cast<V>(factor * n[k]);
    largest[k] = value > largest[k] ? value : largest[k];
  }
}

template <class V>
inline void fill_cells(Cells<V>& cells, V value) {
  for (int k = 0; k < kBlock; ++k) cells.both[k] = cells.only_i[k] = cells.only_j[k] = cells.neither[k] = value;
}

template <class V, class Operation>
inline void for_each_cell(Cells<V>& target, const Cells<V>& source, Operation operation) {
  operation(target.both, source.both);
  operation(target.only_i, source.only_i);
  operation(target.only_j, source.only_j);
  operation(target.neither, source.neither);
}

// Sum of w[t] n[t] less the largest term.
template <class V>
inline void weighted_label_costs(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count,
                                 const PairRow<V>& pairs, Cells<V>& cost) {
  Cells<V> n, largest;
  fill_cells(cost, V{0});
  fill_cells(largest, V{0});
  for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
    const V w = in.rule.weight[t];
    cell_counts(in, i, j, count, t, pairs, n);
    for_each_cell(cost, n, [&](V* sum, const V* cell) { add_cells(sum, cell, w, count); });
    for_each_cell(largest, n, [&](V* top, const V* cell) { keep_larger(top, cell, w, count); });
  }
  for_each_cell(cost, largest, [&](V* sum, const V* top) { add_cells(sum, top, static_cast<V>(-1), count); });
}

template <class V>
inline void matrix_costs(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count, const PairRow<V>& pairs,
                         Cells<V>& cost) {
  Cells<V> n, sum;
  fill_cells(cost, kInfeasible<V>);
  for (std::int32_t label = 0; label < in.rule.n_labels; ++label) {
    fill_cells(sum, V{0});
    for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
      const V w = in.rule.matrix[t * in.rule.n_labels + label];
      if (w == 0) continue;
      cell_counts(in, i, j, count, t, pairs, n);
      for_each_cell(sum, n, [&](V* target, const V* cell) { add_cells(target, cell, w, count); });
    }
    for_each_cell(cost, sum, [&](V* target, const V* cell) {
      for (int k = 0; k < count; ++k) target[k] = least(target[k], cell[k]);
    });
  }
}

template <class V>
inline void forbid_small_leaves(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count,
                                const PairRow<V>& pairs, Cells<V>& cost) {
  Cells<V> rows;
  if (in.rule.count_type >= 0) {
    cell_counts(in, i, j, count, in.rule.count_type, pairs, rows);
  } else {
    Cells<V> n;
    fill_cells(rows, V{0});
    for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
      cell_counts(in, i, j, count, t, pairs, n);
      for_each_cell(rows, n, [&](V* sum, const V* cell) { add_cells(sum, cell, V{1}, count); });
    }
  }
  const V min_leaf = in.rule.min_leaf;
  for_each_cell(cost, rows, [&](V* target, const V* cell) {
    for (int k = 0; k < count; ++k) target[k] = cell[k] < min_leaf ? kInfeasible<V> : target[k];
  });
}

// yes1[i], no1[i] and, for the block, yes1[j], no1[j] from the costs of the four cells.
template <class V>
inline void fold_cells(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count, const Cells<V>& cost) {
  V yes = in.yes1[i], no = in.no1[i];
  for (int k = 0; k < count; ++k) {
    yes = least(yes, static_cast<V>(cost.both[k] + cost.only_i[k]));
    no = least(no, static_cast<V>(cost.only_j[k] + cost.neither[k]));
    in.yes1[j + k] = least(in.yes1[j + k], static_cast<V>(cost.both[k] + cost.only_j[k]));
    in.no1[j + k] = least(in.no1[j + k], static_cast<V>(cost.only_i[k] + cost.neither[k]));
  }
  in.yes1[i] = yes;
  in.no1[i] = no;
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
