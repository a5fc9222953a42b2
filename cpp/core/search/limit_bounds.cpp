#include "search/limit_bounds.hpp"

#include <algorithm>

namespace certree {

void LimitBounds::start(const LimitView& view, std::int32_t depth) {
  view_ = &view;
  depth_ = depth;
  leaf_.ensure(2 * data_.n_bounded() * view.stride);
  split_.ensure(2 * data_.n_bounded() * view.stride);
  room_.ensure((data_.task().n_labels + 5) * view.stride);
}

// Label 0 adds nothing; the others what their coefficients say.
void LimitBounds::add_leaves(std::size_t plane) {
  const std::size_t n = view_->n_columns, stride = view_->stride, labels = data_.task().n_labels;
  Cost* yes = leaf_.data() + index(plane, true);
  Cost* no = leaf_.data() + index(plane, false);
  std::fill_n(yes, n, Cost{0});
  std::fill_n(no, n, Cost{0});
  whole_[plane] = 0;
  for (std::size_t l = 1; l < labels; ++l) {
    const Cost* coefficients = data_.coefficients(plane, l);
    Cost* held = room_.data() + l * stride;  // kept for the pairs
    std::fill_n(held, stride, Cost{0});
    Cost total = 0;
    for (std::size_t s = 0; s < view_->n_pair_values; ++s) {
      if (coefficients[s] == 0) continue;
      const Cost* column = view_->columns + s * stride;
      for (std::size_t j = 0; j < n; ++j) held[j] += coefficients[s] * column[j];
      total += coefficients[s] * view_->totals[s];
    }
    for (std::size_t j = 0; j < n; ++j) {
      yes[j] = std::min(yes[j], held[j]);
      no[j] = std::min(no[j], total - held[j]);
    }
    whole_[plane] = std::min(whole_[plane], total);
  }
  for (std::size_t j = 0; j < n; ++j)
    if (!may_split(j)) yes[j] = no[j] = kInfinite;
}

// The last step of take_row where the second test has a price, which depends on the first.
void LimitBounds::take_priced(std::size_t i, std::size_t plane, Cost* yes1, Cost* no1) {
  const std::size_t n = view_->n_columns, stride = view_->stride, paying = data_.paying_value();
  const Cost *both = room_.data(), *only_i = both + data_.task().n_labels * stride;
  const Cost *only_j = only_i + stride, *none = only_j + stride;
  TestPrices<Cost>& prices = *view_->prices;
  prices.set_row(static_cast<std::int32_t>(i));
  const Cost weight = data_.price_weight(plane), *held = view_->columns + paying * stride;
  const Cost *after = prices.after(), *before = prices.before();
  const Cost total = weight * view_->totals[paying], yes_pays = weight * held[i], no_pays = total - yes_pays;
  Cost yes = yes1[i], no = no1[i];
  for (std::size_t j = i + 1; j < n; ++j) {
    const Cost pays = weight * held[j];
    yes = std::min(yes, both[j] + only_i[j] + after[j] * yes_pays);
    no = std::min(no, only_j[j] + none[j] + after[j] * no_pays);
    yes1[j] = std::min(yes1[j], both[j] + only_j[j] + before[j] * pays);
    no1[j] = std::min(no1[j], only_i[j] + none[j] + before[j] * (total - pays));
  }
  yes1[i] = yes;
  no1[i] = no;
}

// Pairs of column i with those behind it: four cells each, which are the two sides of i split by j and of j split by i.
void LimitBounds::take_row(std::size_t i, std::size_t plane, Cost* yes1, Cost* no1) {
  const std::size_t n = view_->n_columns, stride = view_->stride, labels = data_.task().n_labels;
  Cost* both = room_.data();
  Cost* only_i = room_.data() + labels * stride;
  Cost* only_j = only_i + stride;
  Cost* none = only_j + stride;
  Cost* value = none + stride;
  for (Cost* cell : {both, only_i, only_j, none}) std::fill(cell + i + 1, cell + n, Cost{0});
  const Cost* row = view_->pair_row(i);
  for (std::size_t l = 1; l < labels; ++l) {
    const Cost* coefficients = data_.coefficients(plane, l);
    const Cost* held = room_.data() + l * stride;
    std::fill(value + i + 1, value + n, Cost{0});
    Cost total = 0;
    for (std::size_t s = 0; s < view_->n_pair_values; ++s) {
      const Cost weight = coefficients[s];
      if (weight == 0) continue;
      total += weight * view_->totals[s];
      for (std::size_t j = i + 1; j < n; ++j) value[j] += weight * row[s * stride + j];
    }
    const Cost own = held[i];
    for (std::size_t j = i + 1; j < n; ++j) {
      both[j] = std::min(both[j], value[j]);
      only_i[j] = std::min(only_i[j], own - value[j]);
      only_j[j] = std::min(only_j[j], held[j] - value[j]);
      none[j] = std::min(none[j], total - own - held[j] + value[j]);
    }
  }
  if (data_.row_value() >= 0) {
    const auto r = static_cast<std::size_t>(data_.row_value());
    const Cost *rows = row + r * stride, *held = view_->columns + r * stride;
    const Cost total = view_->totals[r];
    for (std::size_t j = i + 1; j < n; ++j) {
      if (rows[j] < min_leaf_) both[j] = kInfinite;
      if (held[i] - rows[j] < min_leaf_) only_i[j] = kInfinite;
      if (held[j] - rows[j] < min_leaf_) only_j[j] = kInfinite;
      if (total - held[i] - held[j] + rows[j] < min_leaf_) none[j] = kInfinite;
    }
  }
  if (data_.price_weight(plane) != 0) {
    take_priced(i, plane, yes1, no1);
    return;
  }
  Cost yes = yes1[i], no = no1[i];
  for (std::size_t j = i + 1; j < n; ++j) {
    yes = std::min(yes, both[j] + only_i[j]);
    no = std::min(no, only_j[j] + none[j]);
    yes1[j] = std::min(yes1[j], both[j] + only_j[j]);
    no1[j] = std::min(no1[j], only_i[j] + none[j]);
  }
  yes1[i] = yes;
  no1[i] = no;
}

void LimitBounds::add_pairs(std::size_t plane) {
  const std::size_t n = view_->n_columns;
  Cost* yes1 = split_.data() + index(plane, true);
  Cost* no1 = split_.data() + index(plane, false);
  std::fill_n(yes1, n, kInfinite);
  std::fill_n(no1, n, kInfinite);
  for (std::size_t i = 0; i < n; ++i) take_row(i, plane, yes1, no1);
  const Cost split = data_.split_weight(plane);
  const Cost *yes0 = leaf_.data() + index(plane, true), *no0 = leaf_.data() + index(plane, false);
  for (std::size_t j = 0; j < n; ++j) {
    yes1[j] = yes0[j] >= kInfinite ? kInfinite : std::min(yes0[j], yes1[j] + split);
    no1[j] = no0[j] >= kInfinite ? kInfinite : std::min(no0[j], no1[j] + split);
  }
}

void LimitBounds::compute(std::size_t plane) {
  add_leaves(plane);
  if (depth_ < 1) return;
  if (depth_ > 1) add_pairs(plane);
  const Cost split = data_.split_weight(plane);
  const Cost paid = data_.price_weight(plane);
  const Cost pays = paid == 0 ? 0 : paid * view_->totals[data_.paying_value()];
  for (std::size_t j = 0; j < view_->n_columns; ++j) {
    const Cost test = split + (pays == 0 ? 0 : pays * view_->prices->price(j));
    whole_[plane] = std::min(whole_[plane], side(plane, j, true) + side(plane, j, false) + test);
  }
}

}  // namespace certree
