// The training table of a vector task: row groups with the sums of their rows' vectors.  Immutable once built.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "data/dataset.hpp"
#include "data/test_costs.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

// Borrowed views of the caller's arrays.
struct VectorTable {
  TableView table;                           // row types and weights are not read
  const std::int64_t* statistics = nullptr;  // [row][n_statistics]
  const std::int64_t* row_counts = nullptr;  // rows that each row stands for, for the minimum leaf size; null: 1
  const std::int64_t* row_worst = nullptr;   // callback: the worst change of each row; null: unknown
  TestCostTable tests;
};

class VectorData {
 public:
  // Throws std::invalid_argument if a number is out of range.
  VectorData(const VectorTable& table, const VectorTask& task, const DatasetSettings& settings, Budget& budget,
             MemoryBudget& memory);

  const Dataset& groups() const { return groups_; }
  const VectorTask& task() const { return task_; }
  std::size_t n_statistics() const { return n_statistics_; }
  const Cost* sums(std::size_t group) const { return sums_.data() + group * n_statistics_; }
  Cost rows(std::size_t group) const { return rows_[group]; }
  Cost worst(std::size_t group) const { return worst_[group]; }
  // Cost of the group as a leaf of its own; 0 if the task is not superadditive.
  Cost unavoidable(std::size_t group) const { return unavoidable_[group]; }
  // Sum over all rows of the absolute values of a statistic.
  Cost size(std::size_t statistic) const { return sizes_[statistic]; }
  Cost n_rows() const { return n_rows_; }
  // What tests cost; null: nothing.
  const TestCosts* tests() const { return tests_ ? &*tests_ : nullptr; }
  // What a group pays prices for, and all of them together.
  Cost weight(std::size_t group) const { return weights_[group]; }
  Cost weight() const { return weight_; }
  // No tree's leaves cost more.  If the task says nothing of it, no leaf may cost more than its share of this.
  Cost worst_total() const { return worst_total_; }
  Cost leaf_limit() const {
    return task_.superadditive ? worst_total_ : worst_total_ / std::max<Cost>(groups_.n_groups(), 1);
  }
  const std::vector<Cost>& totals() const { return totals_; }

 private:
  struct IsSorted {};
  VectorData(const VectorTable& table, const VectorTask& task, const DatasetSettings& settings, Budget& budget,
             MemoryBudget& memory, IsSorted);
  void add_up(const VectorTable& table, const std::vector<std::int32_t>& group_of_row);
  void bound_groups(const VectorTable& table, const std::vector<std::int32_t>& group_of_row, Budget& budget);
  void bound_squares();
  void weigh_groups(const VectorTable& table, const std::vector<std::int32_t>& group_of_row);

  const VectorTask& task_;
  std::size_t n_statistics_;
  std::vector<std::int32_t> group_of_row_;  // released once the sums are there
  Dataset groups_;
  std::vector<Cost> sums_;  // [group][statistic]
  std::vector<Cost> rows_, worst_, unavoidable_, weights_;
  std::vector<Cost> sizes_, totals_;
  Cost n_rows_ = 0;
  Cost weight_ = 0;
  std::optional<TestCosts> tests_;
  Cost worst_total_ = 0;
};

}  // namespace certree
