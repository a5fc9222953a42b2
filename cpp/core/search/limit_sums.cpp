#include "search/limit_sums.hpp"

#include <algorithm>
#include <bit>

namespace certree {

namespace {

std::size_t round_up(std::int32_t n) { return (static_cast<std::size_t>(std::max(n, 1)) + 15) / 16 * 16; }

}  // namespace

LimitAdder::LimitAdder(const LimitData& data, Isa isa, Limits& limits, MemoryBudget& budget)
    : data_(data),
      limits_(limits),
      kernels_(vector_kernels_for<Cost>(isa)),
      all_rows_(budget),
      list_(budget),
      child_rows_(budget),
      mask_(budget) {
  groups_.n_values = data.n_values();
  groups_.values = data.values();
  const std::int32_t n = data.groups().n_groups();
  std::int32_t* all = all_rows_.ensure(static_cast<std::size_t>(n));
  for (std::int32_t g = 0; g < n; ++g) all[g] = g;
}

void LimitAdder::start(const Node& node, LimitSums& out) {
  out.view.n_columns = static_cast<std::size_t>(node.n_columns);
  out.view.stride = round_up(node.n_columns);
  out.view.n_pair_values = static_cast<std::size_t>(data_.n_pair_values());
  out.view.column = node.column.data();
  const auto n_values = static_cast<std::size_t>(data_.n_values());
  Cost* columns = out.columns.ensure(n_values * (out.view.stride + 1));
  out.view.columns = columns;
  out.view.totals = columns + n_values * out.view.stride;
  out.view.pairs = nullptr;
}

void LimitAdder::add_columns(const NodeRows<Cost>& rows, const std::int32_t* list, std::int32_t n, LimitSums& out) {
  const std::int32_t n_values = data_.n_values();
  kernels_.add_rows(rows.narrow(), list, n, 0, n_values, out.columns.data(), out.view.stride);
  Cost* totals = out.columns.data() + static_cast<std::size_t>(n_values) * out.view.stride;
  std::fill_n(totals, n_values, Cost{0});
  for (std::int32_t k = 0; k < n; ++k) {
    const Cost* values = rows.values(list[k]);
    for (std::int32_t s = 0; s < n_values; ++s) totals[s] += values[s];
  }
}

// The rows among `among` where the column holds, or does not, whichever are fewer; which, is returned.
bool LimitAdder::list_rarer(const Node& node, const Word* among, std::int32_t column, std::int32_t* n) {
  std::int64_t held = 0, all = 0;
  for (std::int32_t w = 0; w < node.n_words; ++w) {
    held += std::popcount(word(node, w, column) & among[w]);
    all += std::popcount(among[w]);
  }
  const bool holds = 2 * held <= all;
  std::int32_t* list = list_.ensure(static_cast<std::size_t>(node.n_words) * kWordBits);
  std::int32_t count = 0;
  for (std::int32_t w = 0; w < node.n_words; ++w) {
    const Word bits = word(node, w, column);
    for (Word rest = among[w] & (holds ? bits : ~bits); rest != 0; rest &= rest - 1)
      list[count++] = w * kWordBits + std::countr_zero(rest);
  }
  *n = count;
  return holds;
}

bool LimitAdder::add_pairs(const Node& node, const NodeRows<Cost>& rows, const Word* among, LimitSums& out) {
  limits_.add_work();
  const std::size_t stride = out.view.stride, n_values = out.view.n_pair_values;
  Cost* store = out.pairs.ensure(out.view.n_columns * n_values * stride);
  out.view.pairs = store;
  const std::int64_t steps = static_cast<std::int64_t>(node.n_columns) * node.n_words * data_.n_pair_values();
  for (std::int32_t i = 0; i < node.n_columns; ++i) {
    Cost* row = store + static_cast<std::size_t>(i) * n_values * stride;
    std::int32_t n = 0;
    const bool holds = list_rarer(node, among, i, &n);
    kernels_.add_rows(rows.narrow(), list_.data(), n, i, data_.n_pair_values(), row, stride);
    if (!holds) {
      for (std::size_t s = 0; s < n_values; ++s) {
        const Cost* column = out.view.columns + s * stride;
        for (std::size_t j = static_cast<std::size_t>(i) & ~std::size_t{15}; j < stride; ++j)
          row[s * stride + j] = column[j] - row[s * stride + j];
      }
    }
    if (steps > (1 << 17) && limits_.poll()) return false;
  }
  return true;
}

bool LimitAdder::add_node(const Node& node, bool pairs, LimitSums& out) {
  const auto rows = NodeRows<Cost>::lay_out(node, groups_, data_.groups().group_words(), out.rows);
  start(node, out);
  add_columns(rows, all_rows_.data(), rows.size(), out);
  return !pairs || add_pairs(node, rows, node.valid.data(), out);
}

void LimitAdder::subtract(const LimitSums& parent, const LimitSums& small, LimitSums& large) const {
  const std::size_t stride = small.view.stride;
  const std::size_t n_columns = static_cast<std::size_t>(data_.n_values()) * (stride + 1);
  for (std::size_t k = 0; k < n_columns; ++k) large.columns[k] = parent.columns[k] - small.columns[k];
  const std::size_t row = small.view.n_pair_values * stride;
  Cost* pairs = large.pairs.ensure(small.view.n_columns * row);
  large.view.pairs = pairs;
  for (std::size_t i = 0; i < small.view.n_columns; ++i)
    for (std::size_t s = 0; s < small.view.n_pair_values; ++s)
      for (std::size_t j = i & ~std::size_t{15}; j < stride; ++j) {
        const std::size_t at = i * row + s * stride + j;
        pairs[at] = parent.pairs[at] - small.pairs[at];
      }
}

bool LimitAdder::add_children(const Node& parent, const LimitSums& sums, std::int32_t column, LimitSums* children) {
  const NodeRows<Cost> rows(parent, groups_, sums.rows.data());
  std::int64_t held = 0;
  for (std::int32_t w = 0; w < parent.n_words; ++w) held += std::popcount(word(parent, w, column));
  const bool holds = 2 * held <= rows.size();
  Word* mask = mask_.ensure(static_cast<std::size_t>(parent.n_words));
  std::int32_t* list = child_rows_.ensure(static_cast<std::size_t>(parent.n_words) * kWordBits);
  std::int32_t n = 0;
  for (std::int32_t w = 0; w < parent.n_words; ++w) {
    const Word bits = word(parent, w, column);
    mask[w] = holds ? bits : ~bits & parent.valid[static_cast<std::size_t>(w)];
    for (Word rest = mask[w]; rest != 0; rest &= rest - 1) list[n++] = w * kWordBits + std::countr_zero(rest);
  }
  LimitSums& small = children[holds ? 1 : 0];
  LimitSums& large = children[holds ? 0 : 1];
  start(parent, small);
  start(parent, large);
  add_columns(rows, list, n, small);
  if (!add_pairs(parent, rows, mask, small)) return false;
  limits_.add_work();
  subtract(sums, small, large);
  return true;
}

}  // namespace certree
