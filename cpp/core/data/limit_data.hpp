// The training table of a search with limits: row groups, and for every group what its labels add to the planes.
// Immutable once built.
//
// All sums are differences from label 0: what label 0 adds everywhere is a constant of the data, taken off the corners
// once.  So a leaf with label 0 adds nothing, and with two labels every quantity is one number per row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/cost.hpp"
#include "base/memory.hpp"
#include "data/dataset.hpp"
#include "data/test_costs.hpp"
#include "tasks/limit_task.hpp"

namespace certree {

// Borrowed views of the caller's arrays.
struct LimitTable {
  TableView table;                             // row types and weights are not read
  const std::int64_t* values = nullptr;        // [row][label][quantity]
  const std::int64_t* row_counts = nullptr;    // for the minimum leaf size; null: 1
  const std::int64_t* label_counts = nullptr;  // [row][label], with label_min; null: none
  TestCostTable tests;
};

class LimitData {
 public:
  // `most_splits`: no tree has more.  Throws std::invalid_argument if a number is out of range.
  LimitData(const LimitTable& table, const LimitTask& task, const DatasetSettings& settings, bool counts_rows,
            std::int32_t max_depth, Budget& budget, MemoryBudget& memory);

  const Dataset& groups() const { return groups_; }
  const LimitTask& task() const { return task_; }
  std::int32_t depth() const { return depth_; }

  // What is summed for pairs of columns: quantities of labels, label counts, rows.
  std::int32_t n_pair_values() const { return n_pair_values_; }
  // The same, then the least and the most that a group adds to each plane with a budget, and what it pays prices for: summed
  // for columns.
  std::int32_t n_values() const {
    return n_pair_values_ + 2 * static_cast<std::int32_t>(n_bounded()) + (tests_ ? 1 : 0);
  }
  std::size_t paying_value() const { return static_cast<std::size_t>(n_values()) - 1; }
  std::int32_t floor_value(std::size_t plane) const { return n_pair_values_ + static_cast<std::int32_t>(plane); }
  std::int32_t ceiling_value(std::size_t plane) const {
    return n_pair_values_ + static_cast<std::int32_t>(n_bounded() + plane);
  }
  // Index among the pair values; -1: always zero, or not counted.
  std::int32_t quantity_value(std::size_t label, std::size_t quantity) const {
    return quantity_value_[label * task_.n_quantities + quantity];
  }
  std::int32_t label_count_value(std::size_t label) const {
    return first_label_count_ + static_cast<std::int32_t>(label);
  }
  bool has_label_counts() const { return first_label_count_ >= 0; }
  std::int32_t row_value() const { return row_value_; }        // -1: leaves of any size
  const std::vector<Cost>& values() const { return values_; }  // [group][n_values]

  // All planes the search looks at: multipliers first, the objective next, then the limits, last the finer digits of
  // limits, which have no budgets.
  std::size_t n_all() const { return n_all_; }
  std::size_t n_bounded() const { return n_bounded_; }
  std::size_t first_plane() const { return n_all_ - task_.n_planes; }  // the objective among all planes
  Cost weight(std::size_t plane, std::size_t quantity) const { return weights_[plane * task_.width() + quantity]; }
  Cost split_weight(std::size_t plane) const { return weight(plane, task_.n_quantities); }
  // Prices of tests; null: tests are free.
  const TestCosts* tests() const { return tests_ ? &*tests_ : nullptr; }
  // What a plane adds up of what tests cost.
  Cost price_weight(std::size_t plane) const { return tests_ ? weight(plane, task_.n_quantities - 1) : 0; }
  // No trees of a depth pay more than this for each unit that rows pay for.
  Cost most_price(std::int32_t depth) const { return tests_ ? most_price_[static_cast<std::size_t>(depth)] : 0; }
  // Coefficients of a plane for a label, by pair value.
  const Cost* coefficients(std::size_t plane, std::size_t label) const {
    return coefficients_.data() + (plane * task_.n_labels + label) * static_cast<std::size_t>(n_pair_values_);
  }
  // Corners for the planes with budgets, less what label 0 adds: [corner][plane].
  std::vector<Cost> budgets(const std::vector<Cost>& corners) const;
  // The caller's corner bounds, brought into the range in which they make a difference.
  std::vector<Cost> clamped(const std::vector<Cost>& corners) const;
  // What label 0 adds to every quantity.
  Cost base(std::size_t quantity) const { return base_[quantity]; }
  // The limit that is the negative of this one and has this one as its own opposite, or -1.
  std::int32_t opposite(std::size_t plane) const { return opposite_[plane]; }
  std::int64_t most_splits(std::int32_t depth) const { return groups_.most_splits(depth); }

  // The plane of the next digit of a limit, 0: none.
  std::size_t finer_than(std::size_t plane) const { return finer_[plane]; }
  // The sign of x - y in a limit with all its digits, for values of all planes.
  int compare(const Cost* x, const Cost* y, std::size_t plane) const;
  // For a limit with several digits: a value of its plane up to this, less what label 0 adds, keeps it, whatever the finer
  // digits are.
  Cost sure_budget(std::size_t plane) const;
  // Whether a tree with these values of the caller's planes keeps the limits that have several digits.
  bool keeps_digits(const std::vector<Cost>& values) const;

 private:
  bool are_opposite(std::size_t a, std::size_t b) const;
  Cost base_of(std::size_t plane) const;
  void set_planes();
  void add_up(const LimitTable& table);
  void set_coefficients();
  void bound_groups();
  void check_range(const LimitTable& table) const;
  void weigh_prices(const LimitTable& table);

  const LimitTask& task_;
  std::size_t n_all_, n_bounded_;
  ChargedVector<std::int32_t> group_of_row_;  // released once the sums are there
  Dataset groups_;
  std::int32_t depth_ = 0;
  std::int32_t n_pair_values_ = 0;
  std::int32_t first_label_count_ = -1;
  std::int32_t row_value_ = -1;
  std::vector<std::int32_t> quantity_value_;
  std::vector<Cost> values_, weights_, coefficients_, base_, least_, most_;
  std::vector<std::int32_t> opposite_;
  std::vector<std::size_t> finer_;
  std::optional<TestCosts> tests_;
  std::vector<Cost> most_price_;  // [depth]
  Cost paying_ = 0;               // of all rows
};

}  // namespace certree
