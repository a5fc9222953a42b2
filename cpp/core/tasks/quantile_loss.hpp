// The loss around a quantile, from rows in ascending order of their targets (VectorKind::quantile).
//
// Theorem (docs/theory/quantiles.md).  Let F(t) be the weight of the rows with targets up to t, and N that of all rows.  The
// least of the loss over all values is the integral over t of min(below F(t), above (N - F(t))).  It is attained at the
// least target t with below F(t) >= above (N - F(t)): the lower quantile of level above / (above + below).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/cost.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

// Targets of all rows in ascending order.  Rows of a group with the same target are one.
struct Target {
  Cost value = 0;
  Cost weight = 0;
  std::int32_t group = 0;
};

// The sum of the losses in doubles and 64 bits alike: every number is an integer below this.
inline constexpr Cost kLargestLoss = Cost{1} << 52;

class QuantileLoss {
 public:
  // `weight`: of all rows that will be added.
  QuantileLoss(const VectorTask& task, Cost weight)
      : above_(task.above), below_(task.below), left_(task.above * weight) {}

  // Targets come in ascending order.
  void add(Cost target, Cost weight) {
    const bool is_below = passed_ < left_;
    cost_ += (is_below ? passed_ : left_) * (passed_ == 0 ? 0 : target - last_);
    if (is_below) value_ = target;
    last_ = target;
    passed_ += below_ * weight;
    left_ -= above_ * weight;
  }
  Cost cost() const { return cost_; }
  // The lower quantile.
  Cost value() const { return value_; }

 private:
  Cost above_, below_;
  Cost passed_ = 0;  // below times the weight so far
  Cost left_;        // above times the weight to come
  Cost last_ = 0, value_ = 0, cost_ = 0;
};

// Of all rows of a table in one leaf: statistics are w and y of each.
inline Cost quantile_loss(const Cost* statistics, std::int64_t n_rows, const VectorTask& task) {
  std::vector<std::pair<Cost, Cost>> rows;
  Cost weight = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(n_rows); ++row) {
    rows.emplace_back(statistics[2 * row + 1], statistics[2 * row]);
    weight += rows.back().second;
  }
  std::sort(rows.begin(), rows.end());
  QuantileLoss loss(task, weight);
  for (const auto& [target, of_row] : rows) loss.add(target, of_row);
  return loss.cost();
}

}  // namespace certree
