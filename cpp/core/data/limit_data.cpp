#include "data/limit_data.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.hpp"

namespace certree {

namespace {

__extension__ using Wide128 = __int128;

// Budgets, sums and bounds of planes are added a few at a time; beyond this nothing is safe.
constexpr Cost kLargest = Cost{1} << 59;

std::size_t size_of(std::int32_t n) { return static_cast<std::size_t>(n); }

}  // namespace

LimitData::LimitData(const LimitTable& table, const LimitTask& task, const DatasetSettings& settings, bool counts_rows,
                     std::int32_t max_depth, Budget& budget, MemoryBudget& memory)
    : task_(task),
      n_all_(task.n_multipliers() + task.n_planes),
      n_bounded_(task.n_multipliers() + task.n_bounded()),
      group_of_row_(memory),
      groups_(table.table, 0, settings, budget, memory, group_of_row_) {
  depth_ = std::min({max_depth, groups_.n_columns(), std::max(groups_.n_groups() - 1, 0)});
  row_value_ = counts_rows ? 0 : -1;
  first_label_count_ = task.label_min.empty() ? -1 : 0;
  set_planes();
  if (table.tests.feature != nullptr) weigh_prices(table);
  check_range(table);
  add_up(table);
  set_coefficients();
  bound_groups();
  release(group_of_row_);
}

// Multipliers are combinations of the essential planes.
void LimitData::set_planes() {
  const std::size_t width = task_.width(), n = task_.n_planes, extra = task_.n_multipliers();
  weights_.assign(n_all_ * width, 0);
  for (std::size_t m = 0; m < extra; ++m) {
    for (std::size_t q = 0; q < width; ++q) {
      Wide128 sum = 0;
      for (std::size_t e = 0; e < n; ++e)
        sum += static_cast<Wide128>(task_.multipliers[m * n + e]) * task_.planes[e * width + q];
      require(sum < kLargest && sum > -kLargest, "multipliers are too large for 64-bit integers");
      weights_[m * width + q] = static_cast<Cost>(sum);
    }
  }
  std::copy(task_.planes.begin(), task_.planes.end(), weights_.begin() + static_cast<std::ptrdiff_t>(extra * width));
  finer_.assign(n_all_, 0);
  for (std::size_t e = 1; e < n; ++e)
    if (task_.finer_than(e) != 0) finer_[extra + e] = extra + task_.finer_than(e);
  opposite_.assign(n_all_, -1);
  // Each has one opposite at most, and is the opposite of it: of two equal planes one stays alone.
  for (std::size_t a = first_plane() + 1; a < n_bounded_; ++a) {
    for (std::size_t b = a + 1; b < n_bounded_; ++b) {
      if (opposite_[a] >= 0 || opposite_[b] >= 0 || !are_opposite(a, b)) continue;
      opposite_[a] = static_cast<std::int32_t>(b);
      opposite_[b] = static_cast<std::int32_t>(a);
    }
  }
}

// In all digits.
bool LimitData::are_opposite(std::size_t a, std::size_t b) const {
  for (std::size_t q = 0; q < task_.width(); ++q)
    if (weight(a, q) != -weight(b, q)) return false;
  if (finer_than(a) == 0 && finer_than(b) == 0) return true;
  return finer_than(a) != 0 && finer_than(b) != 0 && are_opposite(finer_than(a), finer_than(b));
}

// The finest digit first: each hands its multiples of 2^digit_bits to the one before it.
int LimitData::compare(const Cost* x, const Cost* y, std::size_t plane) const {
  const std::size_t next = finer_than(plane);
  const Cost difference = x[plane] - y[plane];
  if (next == 0) return difference < 0 ? -1 : difference > 0 ? 1 : 0;
  Cost digits[kMostDigits];
  std::size_t n = 0;
  for (std::size_t m = plane; m != 0; m = finer_than(m)) digits[n++] = x[m] - y[m];
  const Cost bits = task_.digit_bits[plane - first_plane()];
  bool is_positive = false;
  for (std::size_t k = n - 1; k > 0; --k) {
    const Cost carry = digits[k] >> bits;  // rounds down
    is_positive = is_positive || digits[k] != carry << bits;
    digits[k - 1] += carry;
  }
  // What is left of the finer digits is not negative, and less than one.
  if (digits[0] != 0) return digits[0] < 0 ? -1 : 1;
  return is_positive ? 1 : 0;
}

Cost LimitData::base_of(std::size_t plane) const {
  Cost base = 0;
  for (std::size_t q = 0; q < task_.n_quantities; ++q) base += weight(plane, q) * base_[q];
  return base;
}

Cost LimitData::sure_budget(std::size_t plane) const {
  std::vector<std::size_t> chain;
  for (std::size_t m = finer_than(plane); m != 0; m = finer_than(m)) chain.push_back(m);
  Cost carry = 0;  // the most that finer digits add
  for (auto m = chain.rbegin(); m != chain.rend(); ++m)
    carry = ((base_of(*m) + most_[*m] + carry) >> task_.digit_bits[plane - first_plane()]) + 1;
  return task_.digits[plane - first_plane()] - carry - base_of(plane);
}

bool LimitData::keeps_digits(const std::vector<Cost>& values) const {
  if (task_.finer.empty()) return true;
  // As values of all planes, of which only the caller's are compared.
  std::vector<Cost> x(n_all_, 0), bound(n_all_, 0);
  std::copy(values.begin(), values.end(), x.begin() + static_cast<std::ptrdiff_t>(first_plane()));
  std::copy(task_.digits.begin(), task_.digits.end(), bound.begin() + static_cast<std::ptrdiff_t>(first_plane()));
  for (std::size_t m = first_plane() + 1; m < n_bounded_; ++m)
    if (finer_than(m) != 0 && compare(x.data(), bound.data(), m) > 0) return false;
  return true;
}

// What all rows pay for, and that no plane is paid for tests.
void LimitData::weigh_prices(const LimitTable& table) {
  tests_.emplace(table.tests, groups_);
  for (std::int32_t depth = 0; depth <= depth_; ++depth) most_price_.push_back(tests_->most(depth));
  for (std::size_t m = 0; m < n_all_; ++m) require(price_weight(m) >= 0, "a plane must not gain by prices of tests");
  for (std::int64_t row = 0; row < table.table.n_rows; ++row) {
    const std::int64_t weight = table.tests.weights != nullptr ? table.tests.weights[row] : 1;
    require(weight >= 0 && weight < kLargest / (table.table.n_rows + 1), "weights must not be negative or huge");
    paying_ += weight;
  }
}

// No sum of a plane over any set of rows, plus splits, leaves the safe range, term by term.
void LimitData::check_range(const LimitTable& table) const {
  const auto n_rows = static_cast<std::size_t>(table.table.n_rows);
  const std::size_t labels = task_.n_labels, quantities = task_.n_quantities;
  std::vector<Wide128> sizes(quantities, 0);  // no sum of a quantity is larger
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t q = 0; q < quantities; ++q) {
      Wide128 most = 0;
      for (std::size_t l = 0; l < labels; ++l) {
        const Wide128 value = table.values[(row * labels + l) * quantities + q];
        most = std::max(most, value < 0 ? -value : value);
      }
      sizes[q] += 2 * most;  // a difference of two labels
    }
  }
  const auto size = [](Cost w) { return w < 0 ? -static_cast<Wide128>(w) : static_cast<Wide128>(w); };
  if (tests_) sizes.back() += static_cast<Wide128>(most_price(depth_)) * paying_;
  for (const Wide128 s : sizes) require(s < kLargest, "the sums of values overflow 64-bit integers; scale them down");
  for (std::size_t m = 0; m < n_all_; ++m) {
    Wide128 total = size(split_weight(m)) * (most_splits(depth_) + 1);
    for (std::size_t q = 0; q < quantities; ++q) total += size(weight(m, q)) * sizes[q];
    require(total < kLargest, "the sums of a plane overflow 64-bit integers; scale values or multipliers down");
  }
}

void LimitData::add_up(const LimitTable& table) {
  const std::size_t labels = task_.n_labels, quantities = task_.n_quantities, row_size = labels * quantities;
  const auto n_rows = static_cast<std::size_t>(table.table.n_rows);
  base_.assign(quantities, 0);
  std::vector<bool> is_used(row_size, false);
  std::vector<bool> counts_rows(row_size, row_value_ >= 0);  // a quantity that is the number of rows is summed once
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::int64_t* values = table.values + row * row_size;
    for (std::size_t q = 0; q < quantities; ++q) {
      base_[q] += values[q];
      for (std::size_t k = quantities + q; k < row_size; k += quantities) {
        const std::int64_t count = table.row_counts != nullptr ? table.row_counts[row] : 1;
        is_used[k] = is_used[k] || values[k] != values[q];
        counts_rows[k] = counts_rows[k] && values[k] - values[q] == count;
      }
    }
  }
  quantity_value_.assign(row_size, -1);
  n_pair_values_ = 0;
  for (std::size_t k = 0; k < row_size; ++k)
    if (is_used[k] && !counts_rows[k]) quantity_value_[k] = n_pair_values_++;
  if (first_label_count_ >= 0) {
    first_label_count_ = n_pair_values_;
    n_pair_values_ += static_cast<std::int32_t>(labels);
  }
  if (row_value_ >= 0) row_value_ = n_pair_values_++;
  for (std::size_t k = 0; k < row_size; ++k)
    if (is_used[k] && counts_rows[k]) quantity_value_[k] = row_value_;
  const std::size_t n = size_of(n_values());
  values_.assign(size_of(groups_.n_groups()) * n, 0);
  for (std::size_t row = 0; row < n_rows; ++row) {
    Cost* out = values_.data() + size_of(group_of_row_[row]) * n;
    const std::int64_t* values = table.values + row * row_size;
    for (std::size_t k = quantities; k < row_size; ++k)
      if (quantity_value_[k] >= 0 && quantity_value_[k] != row_value_)
        out[quantity_value_[k]] += values[k] - values[k % quantities];
    if (first_label_count_ >= 0) {
      for (std::size_t l = 0; l < labels; ++l) {
        const std::int64_t count = table.label_counts[row * labels + l];
        require(count >= 0 && count < kLargest / (table.table.n_rows + 1), "label_counts must not be negative or huge");
        out[first_label_count_ + static_cast<std::int32_t>(l)] += count;
      }
    }
    const std::int64_t count = table.row_counts != nullptr ? table.row_counts[row] : 1;
    require(count >= 1 && count < kLargest / (table.table.n_rows + 1), "row_counts must be at least 1 and not huge");
    if (row_value_ >= 0) out[row_value_] += count;
    if (tests_) out[paying_value()] += table.tests.weights != nullptr ? table.tests.weights[row] : 1;
  }
}

void LimitData::set_coefficients() {
  coefficients_.assign(n_all_ * task_.n_labels * size_of(n_pair_values_), 0);
  for (std::size_t m = 0; m < n_all_; ++m)
    for (std::size_t l = 0; l < task_.n_labels; ++l)
      for (std::size_t q = 0; q < task_.n_quantities; ++q)
        if (quantity_value(l, q) >= 0)
          coefficients_[(m * task_.n_labels + l) * size_of(n_pair_values_) + size_of(quantity_value(l, q))] +=
              weight(m, q);
}

// All rows of a group share their leaf, so the group adds at least its least label and at most its greatest
// (bounds/equivalent_points.hpp, for any plane).
void LimitData::bound_groups() {
  const std::size_t n = size_of(n_values());
  least_.assign(n_all_, 0);
  most_.assign(n_all_, 0);
  for (std::size_t g = 0; g < size_of(groups_.n_groups()); ++g) {
    Cost* values = values_.data() + g * n;
    for (std::size_t m = 0; m < n_all_; ++m) {
      Cost least = 0, most = 0;
      for (std::size_t l = 1; l < task_.n_labels; ++l) {
        Cost value = 0;
        for (std::size_t s = 0; s < size_of(n_pair_values_); ++s) value += coefficients(m, l)[s] * values[s];
        least = std::min(least, value);
        most = std::max(most, value);
      }
      least_[m] += least;
      most_[m] += most;
      if (m >= n_bounded_) continue;
      values[floor_value(m)] = least;
      values[ceiling_value(m)] = most;
    }
  }
}

// Beyond the least and the most that any tree has, one bound is as good as another.
std::vector<Cost> LimitData::clamped(const std::vector<Cost>& corners) const {
  std::vector<Cost> out(corners.size());
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const std::size_t e = k % task_.n_planes, m = first_plane() + e;
    const Cost splits = split_weight(m) * most_splits(depth_);
    const Cost base = base_of(m), paid = price_weight(m) * most_price(depth_) * paying_;
    out[k] = std::clamp(corners[k], base + least_[m] + std::min<Cost>(splits, 0) - 1,
                        base + most_[m] + std::max<Cost>(splits, 0) + paid);
  }
  return out;
}

std::vector<Cost> LimitData::budgets(const std::vector<Cost>& corners) const {
  const std::size_t n = task_.n_planes, n_corners = corners.size() / n, extra = task_.n_multipliers();
  std::vector<Cost> out(n_corners * n_bounded_);
  for (std::size_t c = 0; c < n_corners; ++c) {
    Cost* budget = out.data() + c * n_bounded_;
    for (std::size_t e = 0; e < task_.n_bounded(); ++e) {
      budget[extra + e] = corners[c * n + e] - base_of(extra + e);
    }
    for (std::size_t m = 0; m < extra; ++m) {
      Wide128 sum = 0;
      for (std::size_t e = 0; e < task_.n_bounded(); ++e)
        sum += static_cast<Wide128>(task_.multipliers[m * n + e]) * budget[extra + e];
      budget[m] = static_cast<Cost>(std::clamp<Wide128>(sum, -kLargest, kLargest));
    }
  }
  return out;
}

}  // namespace certree
