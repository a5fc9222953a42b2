#include "search/limits/depth_two.hpp"

#include <algorithm>
#include <utility>

namespace certree {

LimitDepthTwo::LimitDepthTwo(const LimitData& data, std::int64_t min_leaf, bool uses_dominance,
                             std::function<bool()> poll)
    : data_(data),
      min_leaf_(min_leaf),
      poll_(std::move(poll)),
      side_collector_(data, uses_dominance),
      collector_(data, uses_dominance),
      join_(data),
      zeros_(data.n_bounded(), 0),
      own_(data.n_bounded()),
      rest_(data.n_all()),
      point_(data.task().width()),
      values_(data.n_all()) {
  may_skip_equal_labels_ = true;
  for (std::size_t m = 0; m < data.n_all(); ++m) {
    split_weights_.push_back(data.split_weight(m));
    // Two leaves with one label are never better than one leaf, unless splits are wanted for themselves.
    may_skip_equal_labels_ = may_skip_equal_labels_ && data.split_weight(m) >= 0;
  }
  split_values_ = split_weights_;
  for (std::vector<Cost>& cell : cell_) cell.resize(static_cast<std::size_t>(data.n_pair_values()));
  side_sum_.resize(static_cast<std::size_t>(data.n_pair_values()));
  for (LimitPoints& side : side_) side.reset(data.task().width(), data.n_all());
}

void LimitDepthTwo::weigh(const Cost* point, Cost* values) const {
  const std::size_t width = data_.task().width();
  for (std::size_t m = 0; m < data_.n_all(); ++m) {
    Cost value = 0;
    for (std::size_t q = 0; q < width; ++q) value += data_.weight(m, q) * point[q];
    values[m] = value;
  }
}

void LimitDepthTwo::add_leaf(const Cost* sums, std::size_t label, std::int32_t code, const LimitRegion& region,
                             LimitPoints& out) {
  if (!may_label(label, sums)) return;
  for (std::size_t q = 0; q < data_.task().n_quantities; ++q) {
    const std::int32_t s = data_.quantity_value(label, q);
    point_[q] = s < 0 ? 0 : sums[s];
  }
  point_[data_.task().n_quantities] = 0;
  weigh(point_.data(), values_.data());
  if (region.admits(values_.data())) out.add(point_.data(), values_.data(), code);
}

void LimitDepthTwo::add_leaves(const LimitView& view, const LimitRegion& region, LimitPoints& out) {
  for (std::size_t l = 0; l < data_.task().n_labels; ++l)
    add_leaf(view.totals, l, static_cast<std::int32_t>(l), region, out);
}

// Sums of one side of a column: all of it, and where each other column holds.
void LimitDepthTwo::gather(const LimitView& view, std::size_t column, bool holds) {
  const std::size_t n = view.n_columns, stride = view.stride, n_values = view.n_pair_values;
  row_.resize(n_values * stride);
  for (std::size_t s = 0; s < n_values; ++s) {
    side_sum_[s] = view.side(s, column, holds);
    if (view.pairs == nullptr) continue;
    Cost* to = row_.data() + s * stride;
    for (std::size_t j = 0; j < column; ++j) to[j] = view.pair_row(j)[s * stride + column];
    for (std::size_t j = column; j < n; ++j) to[j] = view.pair_row(column)[s * stride + j];
    if (holds) continue;
    const Cost* all = view.columns + s * stride;
    for (std::size_t j = 0; j < n; ++j) to[j] = all[j] - to[j];
  }
}

// One more split on the side, for which its rows paid: the leaves `yes` and `no` on both sides of column j.
void LimitDepthTwo::add_split(std::size_t j, std::size_t stride, std::size_t yes, std::size_t no, Cost paid) {
  const std::size_t labels = data_.task().n_labels;
  for (std::size_t m = 0; m < data_.n_all(); ++m) {
    const Cost* held = side_values_.data() + m * labels * stride + j;
    values_[m] = held[yes * stride] + whole_values_[m * labels + no] - held[no * stride] + split_weights_[m];
    if (paid != 0) values_[m] += data_.price_weight(m) * paid;
  }
  if (!left_.admits(values_.data()) || !side_collector_.is_useful(values_.data())) return;
  for (std::size_t s = 0; s < side_sum_.size(); ++s) {
    cell_[1][s] = row_[s * stride + j];
    cell_[0][s] = side_sum_[s] - cell_[1][s];
  }
  if (!may_label(yes, cell_[1].data()) || !may_label(no, cell_[0].data())) return;
  for (std::size_t q = 0; q < data_.task().n_quantities; ++q) {
    const std::int32_t a = data_.quantity_value(yes, q), b = data_.quantity_value(no, q);
    point_[q] =
        (a < 0 ? 0 : cell_[1][static_cast<std::size_t>(a)]) + (b < 0 ? 0 : cell_[0][static_cast<std::size_t>(b)]);
  }
  if (paid != 0) point_[data_.task().n_quantities - 1] = paid;
  point_[data_.task().n_quantities] = 1;
  side_collector_.add(point_.data(), values_.data(),
                      static_cast<std::int32_t>(labels + (j * labels + yes) * labels + no));
}

// What every label adds to a plane on the part of the side where each column holds, and on all of it.
void LimitDepthTwo::weigh_side(const LimitView& view, std::size_t plane) {
  const std::size_t n = view.n_columns, stride = view.stride, labels = data_.task().n_labels;
  for (std::size_t l = 0; l < labels; ++l) {
    const Cost* coefficients = data_.coefficients(plane, l);
    Cost* held = side_values_.data() + (plane * labels + l) * stride;
    std::fill_n(held, n, Cost{0});
    Cost whole = 0;
    for (std::size_t s = 0; s < side_sum_.size(); ++s) {
      if (coefficients[s] == 0) continue;
      whole += coefficients[s] * side_sum_[s];
      for (std::size_t j = 0; j < n; ++j) held[j] += coefficients[s] * row_[s * stride + j];
    }
    whole_values_[plane * labels + l] = whole;
  }
}

// Marks the columns with labels on both sides that the first plane leaves: it throws out most, so that this takes the
// time, and has no branches.
void LimitDepthTwo::mark_splits(const LimitView& view, Cost budget) {
  const std::size_t n = view.n_columns, stride = view.stride, labels = data_.task().n_labels;
  const Cost price = data_.price_weight(0) * side_pays_;
  const Cost* after = view.prices != nullptr && price != 0 ? view.prices->after() : nullptr;
  room_.resize(n);
  is_open_.assign(n, 0);
  for (std::size_t j = 0; j < n; ++j) room_[j] = after != nullptr ? budget - price * after[j] : budget;
  for (std::size_t yes = 0; yes < labels; ++yes) {
    for (std::size_t no = 0; no < labels; ++no) {
      if (yes == no && may_skip_equal_labels_) continue;
      const Cost *held = side_values_.data() + yes * stride, *other = side_values_.data() + no * stride;
      const Cost whole = whole_values_[no];
      // The sign bit of what is left says whether it is enough.
      for (std::size_t j = 0; j < n; ++j)
        is_open_[j] |= ~static_cast<std::uint64_t>(room_[j] - held[j] - whole + other[j]) >> 63;
    }
  }
}

// The other planes are weighed when the first one leaves something.
void LimitDepthTwo::list_splits(const LimitView& view, std::size_t column) {
  const std::size_t n = view.n_columns, stride = view.stride, labels = data_.task().n_labels;
  side_values_.resize(data_.n_all() * labels * stride);
  whole_values_.resize(data_.n_all() * labels);
  weigh_side(view, 0);
  bool is_weighed = false;
  if (view.prices != nullptr) view.prices->set_row(static_cast<std::int32_t>(column));
  mark_splits(view, left_.most(0) - split_weights_[0]);
  const std::int32_t r = data_.row_value();
  for (std::size_t j = 0; j < n; ++j) {
    if (is_open_[j] == 0 || j == column) continue;
    if (r >= 0) {
      const Cost rows = row_[static_cast<std::size_t>(r) * stride + j];
      if (rows < min_leaf_ || side_sum_[static_cast<std::size_t>(r)] - rows < min_leaf_) continue;
    }
    const Cost paid = view.prices != nullptr ? view.prices->after()[j] * side_pays_ : 0;
    for (std::size_t yes = 0; yes < labels; ++yes) {
      for (std::size_t no = 0; no < labels; ++no) {
        if (yes == no && may_skip_equal_labels_) continue;
        if (side_values_[yes * stride + j] + whole_values_[no] - side_values_[no * stride + j] > room_[j]) continue;
        for (std::size_t m = 1; !is_weighed && m < data_.n_all(); ++m) weigh_side(view, m);
        is_weighed = true;
        add_split(j, stride, yes, no, paid);
      }
    }
  }
}

void LimitDepthTwo::list_side(const LimitView& view, std::size_t column, bool holds, std::int32_t depth,
                              const std::vector<std::uint8_t>& active, LimitPoints& out) {
  out.clear();
  gather(view, column, holds);
  side_pays_ = view.prices != nullptr ? view.side(data_.paying_value(), column, holds) : 0;
  for (std::size_t l = 0; l < data_.task().n_labels; ++l)
    add_leaf(side_sum_.data(), l, static_cast<std::int32_t>(l), left_, out);
  side_collector_.start(active, out);
  if (depth > 1) list_splits(view, column);
  side_collector_.finish();
}

// Sums of both lists that are wanted.
bool LimitDepthTwo::combine(std::int32_t column, const LimitRegion& region, LimitPoints& out) {
  const LimitPoints &a = side_[1], &b = side_[0];
  const std::size_t width = data_.task().width();
  std::size_t steps = 0;
  return join_.run(a, b, region, split_values_.data(), [&](std::size_t i, std::size_t k) {
    if ((++steps & 0xfff) == 0) {
      forget_replaced(out);
      if (poll_()) return false;
    }
    for (std::size_t m = 0; m < data_.n_all(); ++m) values_[m] = a.values(i)[m] + b.values(k)[m] + split_values_[m];
    if (!region.admits(values_.data()) || !collector_.is_useful(values_.data())) return true;
    for (std::size_t q = 0; q < width; ++q) point_[q] = a.point(i)[q] + b.point(k)[q];
    if (paid_ != 0) point_[width - 2] += paid_;
    ++point_[width - 1];
    collector_.add(point_.data(), values_.data(), static_cast<std::int32_t>(pending_.size()));
    pending_.push_back({column, a.plan(i), b.plan(k)});
    return true;
  });
}

// Makes room where most pending trees are those of points that were dropped since.
void LimitDepthTwo::forget_replaced(LimitPoints& out) {
  constexpr std::size_t kFew = 1 << 16;
  if (pending_.size() < std::max(4 * out.size(), kFew)) return;
  std::vector<Pending> kept;
  kept.reserve(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    kept.push_back(pending_[static_cast<std::size_t>(out.plan(k))]);
    out.set_plan(k, static_cast<std::int32_t>(k));
  }
  pending_.swap(kept);
}

std::int64_t LimitDepthTwo::bytes() const {
  return static_cast<std::int64_t>(pending_.capacity() * sizeof(Pending)) + side_[0].bytes() + side_[1].bytes() +
         side_collector_.bytes() + collector_.bytes() + join_.bytes();
}

std::int32_t LimitDepthTwo::plan_of_side(const LimitView& view, std::int32_t code, Plans& plans) const {
  const auto labels = static_cast<std::int32_t>(data_.task().n_labels);
  if (code < labels) return code;
  code -= labels;
  return plans.add({view.column[code / (labels * labels)], code / labels % labels, code % labels});
}

// What the first split adds to every plane.
void LimitDepthTwo::set_split(const LimitView& view, std::size_t column) {
  if (view.prices == nullptr) return;
  paid_ = view.prices->price(column) * view.totals[data_.paying_value()];
  for (std::size_t m = 0; m < data_.n_all(); ++m) split_values_[m] = split_weights_[m] + data_.price_weight(m) * paid_;
}

bool LimitDepthTwo::add_trees(const LimitView& view, const LimitBounds& bounds, std::int32_t depth,
                              const LimitRegion& region, const std::vector<std::uint8_t>& active, Plans& plans,
                              LimitPoints& out) {
  pending_.clear();
  // Plans in `out` so far are real ones; they are told apart from pending ones by an offset.
  for (std::size_t k = 0; k < out.size(); ++k) {
    pending_.push_back({-1, out.plan(k), -1});
    out.set_plan(k, static_cast<std::int32_t>(k));
  }
  collector_.start(active, out);
  const std::size_t n_bounded = data_.n_bounded();
  for (std::size_t i = 0; i < view.n_columns; ++i) {
    if (poll_()) return false;
    if (!bounds.may_split(i)) continue;
    set_split(view, i);
    for (std::size_t m = 0; m < n_bounded; ++m)
      values_[m] = bounds.side(m, i, true) + bounds.side(m, i, false) + split_values_[m];
    if (!region.admits(values_.data())) continue;
    for (const bool holds : {true, false}) {
      for (std::size_t m = 0; m < n_bounded; ++m) {
        own_[m] = bounds.side(m, i, holds);
        rest_[m] = bounds.side(m, i, !holds);
      }
      // The other list, once made, bounds better than its planes.
      if (!holds) side_[1].least(rest_.data());
      leave(region, own_.data(), rest_.data(), split_values_.data(), zeros_.data(), left_);
      side_[holds ? 1 : 0].clear();
      if (left_.is_empty()) break;
      list_side(view, i, holds, depth, active, side_[holds ? 1 : 0]);
      if (side_[holds ? 1 : 0].empty()) break;
    }
    if (side_[1].empty() || side_[0].empty()) continue;
    if (!combine(static_cast<std::int32_t>(i), region, out)) return false;
  }
  collector_.finish();
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Pending tree = pending_[static_cast<std::size_t>(out.plan(k))];
    if (tree.column < 0) {
      out.set_plan(k, tree.yes);
      continue;
    }
    const std::int32_t yes = plan_of_side(view, tree.yes, plans), no = plan_of_side(view, tree.no, plans);
    out.set_plan(k, plans.add({view.column[tree.column], yes, no}));
  }
  return true;
}

}  // namespace certree
