// Ordered features as the search sees them: ranks of the rows, and what a row adds to the planes of a leaf.
//
// Every kind of column is an ordered feature here.  A test is a feature and a position p: it holds where the rank is at
// most p.  A column of 0 and 1 has two ranks; categories have one such column each; a column with missing values comes
// twice, with these rows first and last.  There is no column per threshold.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bits.hpp"
#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "counts/pair_kernels.hpp"
#include "data/ordered_leaves.hpp"
#include "data/row_set_audit.hpp"
#include "tasks/count_task.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

// Borrowed views of the caller's arrays.
struct OrderedView {
  const std::int32_t* ranks = nullptr;    // [feature][row]
  const std::int32_t* n_ranks = nullptr;  // [feature]
  std::int64_t n_rows = 0;
  std::int32_t n_features = 0;
  const std::int32_t* row_types = nullptr;   // with a count task
  const std::int64_t* weights = nullptr;     // with a count task; null: all 1
  const std::int64_t* statistics = nullptr;  // with a vector task: [row][statistic]
  const std::int64_t* row_worst = nullptr;   // with a callback: the worst change of each row; null: unknown

  std::int64_t weight(std::int64_t row) const { return weights != nullptr ? weights[row] : 1; }
  const std::int32_t* feature(std::int32_t f) const { return ranks + static_cast<std::int64_t>(f) * n_rows; }
};

// Throws std::invalid_argument if the ranks make no sense, and TimeIsUp if looking at them takes longer than the budget has.
void check_ranks(const OrderedView& view, Budget& budget);

class OrderedData {
 public:
  OrderedData(const OrderedView& view, const CountTask& task, Budget& budget, MemoryBudget& memory);
  OrderedData(const OrderedView& view, const VectorTask& task, Budget& budget, MemoryBudget& memory);

  std::int32_t n_rows() const { return static_cast<std::int32_t>(view_.n_rows); }
  std::int32_t n_features() const { return view_.n_features; }
  std::int32_t n_ranks(std::int32_t f) const { return view_.n_ranks[f]; }
  const std::int32_t* ranks(std::int32_t f) const { return view_.feature(f); }
  // The caller's number of the test at a position of a feature, and back.
  std::int32_t test(std::int32_t f, std::int32_t position) const {
    return offset_[static_cast<std::size_t>(f)] + position;
  }
  std::int32_t feature_of(std::int32_t test) const;
  std::int32_t position_of(std::int32_t test) const {
    return test - offset_[static_cast<std::size_t>(feature_of(test))];
  }
  std::int64_t n_tests() const { return offset_.back(); }

  const PlaneRule& rule() const { return rule_; }
  bool adds_to_one_plane() const { return rule_.form == PlaneForm::labels; }
  // Where rows add to one plane: which.
  std::int32_t plane(std::int32_t row) const { return view_.row_types[row]; }
  Cost value(std::int32_t row, std::int32_t plane) const {
    if (plane >= n_statistics_) return 1;
    if (view_.statistics != nullptr) return view_.statistics[static_cast<std::int64_t>(row) * n_statistics_ + plane];
    return view_.weight(row) * unit_[static_cast<std::size_t>(view_.row_types[row] * rule_.n_planes + plane)];
  }
  // Every row adds 1 to one plane.
  bool has_unit_values() const { return has_unit_values_; }
  // [label]: what every row of the label adds to its plane; empty: rows differ, or add to several planes.
  const std::vector<Cost>& label_weights() const { return label_weights_; }
  // What is known of leaf costs that planes do not tell; null: they do.
  OrderedLeaves* leaves() const { return leaves_.get(); }
  // No leaf costs less by more than this without the row; where nothing is known of it, the bounds that need it are off.
  bool has_worst() const { return has_worst_; }
  Cost worst(std::int32_t row) const {
    if (view_.statistics != nullptr) return worst_[static_cast<std::size_t>(row)];
    return view_.weight(row) * worst_[static_cast<std::size_t>(view_.row_types[row])];
  }
  // The cost of a leaf with these sums, and the first label that attains it (squares: 0).  Not with `leaves`.
  Cost leaf_cost(const Cost* sums, std::int32_t* label) const;
  // No tree costs more, and neither a sum of a plane nor a cost is larger.
  Cost worst_total() const { return worst_total_; }
  Cost largest() const { return largest_; }
  // Summands of the key of a row set: the key of a union of disjoint sets is the sum of theirs.
  Fingerprint key(std::int32_t row) const { return keys_[static_cast<std::size_t>(row)]; }
  // Builds with CERTREE_CHECKS: a set of rows is known by this key.
  void audit(const Fingerprint& key, const std::int32_t* rows, std::int32_t n_rows) const;

 private:
  OrderedData(const OrderedView& view, MemoryBudget& memory);
  void bound_rows(const VectorTask& task);
  void bound_squares(const VectorTask& task);
  void bound_quantiles(const VectorTask& task);
  void take_worst(const VectorTask& task);

  OrderedView view_;
  PlaneRule rule_;
  std::int32_t n_statistics_ = 0;  // planes that rows have values for
  std::unique_ptr<OrderedLeaves> leaves_;
  bool has_worst_ = true;
  bool has_unit_values_ = false;
  std::vector<Cost> label_weights_;
  Cost largest_ = 0, worst_total_ = 0;
  std::vector<std::int32_t> offset_;
  std::vector<Cost> unit_;     // [type][plane], per unit of weight
  std::vector<Cost> outputs_;  // of the rule
  ChargedVector<Cost> worst_;  // [type], per unit of weight; or [row]
  AlignedArray<Fingerprint> keys_;
#ifdef CERTREE_CHECKS
  mutable RowSetAudit audit_;
#endif
};

// Of the rows of a set.
inline void add_key(Fingerprint& sum, const Fingerprint& key) {
  sum.low += key.low;
  sum.high += key.high;
}
inline Fingerprint less_key(const Fingerprint& sum, const Fingerprint& key) {
  return {sum.low - key.low, sum.high - key.high};
}

}  // namespace certree
