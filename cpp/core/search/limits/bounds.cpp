#include "search/limits/bounds.hpp"

#include <algorithm>

namespace certree {

namespace {

// Cells that are too small cost this or little less: values of planes are far smaller.
constexpr Cost kTooSmall = kInfeasible<Cost> / 2;
constexpr Cost kSmall = Cost{1} << 31;

}  // namespace

LimitBounds::LimitBounds(const LimitData& data, std::int64_t min_leaf, Isa isa, MemoryBudget& memory)
    : data_(data),
      min_leaf_(min_leaf),
      kernels_(vector_kernels_for<Cost>(isa)),
      n_statistics_(data.task().n_labels + (data.row_value() >= 0 ? 1 : 0)),
      totals_(n_statistics_ + 1),
      columns_(memory),
      row_(memory),
      leaf_(memory),
      split_(memory),
      whole_(data.n_bounded(), 0) {
  const auto n_values = static_cast<std::size_t>(data.n_pair_values());
  weights_.assign(data.n_bounded() * n_values * n_statistics_, 0);
  for (std::size_t m = 0; m < data.n_bounded(); ++m)
    for (std::size_t s = 0; s < n_values; ++s) {
      Cost* out = weights_.data() + (m * n_values + s) * n_statistics_;
      for (std::size_t l = 0; l < data.task().n_labels; ++l) out[l] = data.coefficients(m, l)[s];
      if (data.row_value() == static_cast<std::int32_t>(s)) out[data.task().n_labels] = 1;
    }
}

void LimitBounds::start(const LimitView& view, std::int32_t depth) {
  view_ = &view;
  depth_ = depth;
  leaf_.ensure(2 * data_.n_bounded() * view.stride);
  split_.ensure(2 * data_.n_bounded() * view.stride);
  columns_.ensure((n_statistics_ + 1) * view.stride);
  row_.ensure(n_statistics_ * view.stride);
}

void LimitBounds::weigh(std::size_t plane, const Cost* sums, std::size_t first, Cost* out) const {
  const auto n_values = static_cast<std::int32_t>(view_->n_pair_values);
  const auto n_statistics = static_cast<std::int32_t>(n_statistics_);
  const Cost* weights = weights_.data() + plane * view_->n_pair_values * n_statistics_;
  kernels_.add_wide_types(sums, view_->stride, n_values, weights, n_statistics, static_cast<std::int32_t>(first),
                          static_cast<std::int32_t>(view_->n_columns), n_statistics, out, view_->stride);
}

void LimitBounds::set_input(std::size_t plane) {
  const std::size_t n = view_->n_columns, stride = view_->stride, labels = data_.task().n_labels;
  weigh(plane, view_->columns, 0, columns_.data());
  std::fill(totals_.begin(), totals_.end(), Cost{0});
  const Cost* weights = weights_.data() + plane * view_->n_pair_values * n_statistics_;
  for (std::size_t s = 0; s < view_->n_pair_values; ++s)
    for (std::size_t k = 0; k < n_statistics_; ++k) totals_[k] += weights[s * n_statistics_ + k] * view_->totals[s];
  input_ = {};
  input_.n_columns = static_cast<std::int32_t>(n);
  input_.stride = static_cast<std::int32_t>(stride);
  input_.n_costs = static_cast<std::int32_t>(labels);
  input_.count_statistic = data_.row_value() < 0 ? -1 : input_.n_costs;
  input_.min_leaf = min_leaf_;
  input_.totals = totals_.data();
  input_.columns = columns_.data();
  input_.yes1 = split_.data() + index(plane, true);
  input_.no1 = split_.data() + index(plane, false);
  const Cost price = data_.price_weight(plane);
  if (price == 0) return;
  const std::size_t paying = data_.paying_value();
  totals_[n_statistics_] = price * view_->totals[paying];
  for (std::size_t j = 0; j < n; ++j)
    columns_[n_statistics_ * stride + j] = price * view_->columns[paying * stride + j];
  input_.after = view_->prices->after();
  input_.before = view_->prices->before();
  input_.weight_statistic = static_cast<std::int32_t>(n_statistics_);
  input_.has_small_prices = data_.tests()->highest() < kSmall && totals_[n_statistics_] < kSmall;
}

void LimitBounds::add_leaves(std::size_t plane) {
  Cost* yes = leaf_.data() + index(plane, true);
  Cost* no = leaf_.data() + index(plane, false);
  kernels_.least_of_sides(input_, yes, no);
  for (std::size_t j = 0; j < view_->n_columns; ++j)
    if (!may_split(j)) yes[j] = no[j] = kInfinite;
  whole_[plane] =
      *std::min_element(totals_.begin(), totals_.begin() + static_cast<std::ptrdiff_t>(data_.task().n_labels));
}

void LimitBounds::add_pairs(std::size_t plane) {
  const std::size_t n = view_->n_columns;
  Cost *yes1 = input_.yes1, *no1 = input_.no1;
  std::fill_n(yes1, n, kInfeasible<Cost>);
  std::fill_n(no1, n, kInfeasible<Cost>);
  for (std::size_t i = 0; i < n; ++i) {
    weigh(plane, view_->pair_row(i), i, row_.data());
    if (input_.after != nullptr) view_->prices->set_row(static_cast<std::int32_t>(i));
    kernels_.least_of_pairs(input_, static_cast<std::int32_t>(i), {row_.data(), view_->stride, nullptr, 0});
  }
  const Cost split = data_.split_weight(plane);
  const auto or_leaf = [&](Cost one_split, Cost leaf) {
    return leaf >= kInfinite || one_split >= kTooSmall ? leaf : std::min(leaf, one_split + split);
  };
  const Cost *yes0 = leaf_.data() + index(plane, true), *no0 = leaf_.data() + index(plane, false);
  for (std::size_t j = 0; j < n; ++j) {
    yes1[j] = or_leaf(yes1[j], yes0[j]);
    no1[j] = or_leaf(no1[j], no0[j]);
  }
}

void LimitBounds::compute(std::size_t plane) {
  set_input(plane);
  add_leaves(plane);
  if (depth_ < 1) return;
  if (depth_ > 1) add_pairs(plane);
  const Cost split = data_.split_weight(plane), price = data_.price_weight(plane);
  for (std::size_t j = 0; j < view_->n_columns; ++j) {
    const Cost test = split + (price == 0 ? 0 : totals_[n_statistics_] * view_->prices->price(j));
    whole_[plane] = std::min(whole_[plane], side(plane, j, true) + side(plane, j, false) + test);
  }
}

}  // namespace certree
