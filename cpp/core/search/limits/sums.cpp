#include "search/limits/sums.hpp"

#include <algorithm>
#include <bit>

namespace certree {

namespace {

std::size_t round_up(std::int32_t n) { return (static_cast<std::size_t>(std::max(n, 1)) + 15) / 16 * 16; }

PartValues<Cost> all_values(const LimitData& data) {
  PartValues<Cost> out;
  out.n_values = data.n_values();
  out.values = data.values();
  return out;
}

}  // namespace

LimitAdder::LimitAdder(const LimitData& data, Isa isa, Budget& budget, MemoryBudget& memory)
    : data_(data),
      budget_(budget),
      stopwatch_(budget),
      sums_(all_values(data), data.groups().group_words(), data.n_pair_values(), isa, memory) {}

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
  out.view.prices = nullptr;
}

void LimitAdder::add_columns(LimitSums& out) {
  Cost* columns = out.columns.data();
  sums_.add_columns(columns, out.view.stride, columns + static_cast<std::size_t>(data_.n_values()) * out.view.stride,
                    nullptr);
}

bool LimitAdder::add_pairs(const Node& node, LimitSums& out) {
  budget_.add_work();
  const std::size_t stride = out.view.stride, row = out.view.n_pair_values * stride;
  Cost* store = out.pairs.ensure(out.view.n_columns * row);
  out.view.pairs = store;
  const std::int64_t steps = static_cast<std::int64_t>(node.n_columns) * node.n_words * data_.n_pair_values();
  for (std::int32_t i = 0; i < node.n_columns; ++i) {
    sums_.add_pairs(i, data_.n_pair_values(), out.view.columns, stride, store + static_cast<std::size_t>(i) * row);
    if (steps > (1 << 17) ? budget_.poll() : stopwatch_.is_over(8 * steps)) return false;
  }
  return true;
}

bool LimitAdder::add_node(const Node& node, bool pairs, LimitSums& out) {
  sums_.lay_out(node, out.rows);
  start(node, out);
  add_columns(out);
  return !pairs || add_pairs(node, out);
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
  std::int64_t held = 0;
  for (std::int32_t w = 0; w < parent.n_words; ++w)
    held += std::popcount(parent.bits[static_cast<std::size_t>(w) * static_cast<std::size_t>(parent.stride) +
                                      static_cast<std::size_t>(column)]);
  const bool holds = 2 * held <= parent.planes.front().rows;
  LimitSums& small = children[holds ? 1 : 0];
  LimitSums& large = children[holds ? 0 : 1];
  sums_.use(parent, sums.rows.data());
  sums_.choose(column, holds);
  start(parent, small);
  start(parent, large);
  add_columns(small);
  if (!add_pairs(parent, small)) return false;
  budget_.add_work();
  subtract(sums, small, large);
  return true;
}

}  // namespace certree
