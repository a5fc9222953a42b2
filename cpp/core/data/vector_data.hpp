// The training table of a vector task: row groups, and the vectors that their rows add to a leaf.  Immutable once built.
//
// Rows may be few types, each with one vector, and a weight that the vector is multiplied by: rows of a class that share a
// line of a cost matrix.  Sums are then linear functions of the weight of each type (search/vectors/type_sums.hpp).  Otherwise
// every row group has the sum of its rows' vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "data/dataset.hpp"
#include "data/node.hpp"
#include "data/test_costs.hpp"
#include "tasks/quantile_loss.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

// Borrowed views of the caller's arrays.
struct VectorTable {
  TableView table;                           // row types: null where n_types is 0
  std::int32_t n_types = 0;                  // 0: rows have vectors of their own, and their weights are not read
  const std::int64_t* statistics = nullptr;  // [row or type][n_statistics]
  const std::int64_t* row_counts = nullptr;  // rows that each row stands for, for the minimum leaf size; null: 1
  const std::int64_t* row_worst = nullptr;   // callback: the worst change of each row or type; null: unknown
  TestCostTable tests;                       // weights are of rows or types
};

class VectorData {
 public:
  // Throws std::invalid_argument if a number is out of range.
  VectorData(const VectorTable& table, const VectorTask& task, const DatasetSettings& settings, Budget& budget,
             MemoryBudget& memory);

  const Dataset& groups() const { return groups_; }
  const VectorTask& task() const { return task_; }
  std::size_t n_statistics() const { return n_statistics_; }
  bool has_types() const { return has_types_; }
  // A part is a row group, or a unit of weight of a row type.  If leaves have a least size that weights do not tell, the
  // last part is one row, and adds nothing else.
  std::size_t n_parts() const { return rows_.size(); }
  const Cost* sums(std::size_t part) const { return sums_.data() + part * n_statistics_; }
  Cost rows(std::size_t part) const { return rows_[part]; }
  Cost worst(std::size_t part) const { return worst_[part]; }
  // The sums of the rows of a node.
  std::vector<Cost> sums_of(const Node& node) const;
  // The cost of a node as a leaf, and its label.
  Cost leaf_cost(const Node& node, std::int32_t* label) const;
  // Quantiles: the rows in ascending order of their targets.
  const std::vector<Target>& targets() const { return targets_; }
  // No sum that a pass over them makes is larger.
  Cost most_loss() const { return most_loss_; }
  // What the rows of the group cost at least, in whatever leaf; 0 if the task does not know.
  Cost unavoidable(std::size_t group) const { return unavoidable_[group]; }
  // Sum over all rows of the absolute values of a statistic.
  Cost size(std::size_t statistic) const { return sizes_[statistic]; }
  const std::vector<Cost>& sizes() const { return sizes_; }
  Cost n_rows() const { return n_rows_; }
  // What tests cost; null: nothing.
  const TestCosts* tests() const { return tests_ ? &*tests_ : nullptr; }
  // What a part pays prices for, and all rows together.
  Cost weight(std::size_t part) const { return weights_[part]; }
  Cost weight() const { return weight_; }
  // No tree's leaves cost more.  If the task says nothing of it, no leaf may cost more than its share of this.
  Cost worst_total() const { return worst_total_; }
  Cost leaf_limit() const {
    return task_.superadditive ? worst_total_ : worst_total_ / std::max<Cost>(groups_.n_groups(), 1);
  }
  const std::vector<Cost>& totals() const { return totals_; }

 private:
  void take_rows(const VectorTable& table, const ChargedVector<std::int32_t>& group_of_row);
  void take_types(const VectorTable& table);
  void add_parts();
  void add_group(std::size_t group, Cost* sums) const;
  void bound_parts(const VectorTable& table, const ChargedVector<std::int32_t>& group_of_row);
  void bound_groups(Budget& budget);
  void bound_squares();
  void bound_quantiles();
  void weigh_parts(const VectorTable& table, const ChargedVector<std::int32_t>& group_of_row);
  // How often a part occurs.
  Cost size_of(std::size_t part) const { return has_types_ ? groups_.totals()[part] : 1; }

  const VectorTask& task_;
  std::size_t n_statistics_;
  bool has_types_;
  ChargedVector<std::int32_t> group_of_row_;  // released once the sums are there
  Dataset groups_;
  std::vector<Cost> sums_;  // [part][statistic]
  std::vector<Cost> rows_, worst_, unavoidable_, weights_;
  std::vector<Cost> sizes_, totals_;
  std::vector<Target> targets_;
  Cost most_loss_ = 0;
  Cost n_rows_ = 0;
  Cost weight_ = 0;
  std::optional<TestCosts> tests_;
  Cost worst_total_ = 0;
};

}  // namespace certree
