// The training table as the search sees it: row groups (rows with equal columns) with integer weights per type, and
// distinct, non-constant bit columns.  Shared by all threads of a solve, and not changed while one runs; between solves
// `price` puts other costs in place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "counts/kernels.hpp"
#include "data/row_set_audit.hpp"
#include "tasks/count_task.hpp"

namespace certree {

// Borrowed views of the caller's arrays.
struct TableView {
  const std::uint8_t* columns = nullptr;  // 0/1; entry (row, column) at row * row_stride + column * column_stride
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  const std::int32_t* row_types = nullptr;
  const std::int64_t* weights = nullptr;  // null: all 1

  std::int64_t weight(std::int64_t row) const { return weights != nullptr ? weights[row] : 1; }
  bool holds(std::int64_t row, std::int32_t column) const {
    return (columns[row * row_stride + column * column_stride] & 1) != 0;
  }
};

struct DatasetSettings {
  bool counts_rows = false;  // keep the number of rows as an extra type, for a minimum leaf size under weights
  const std::int64_t* row_counts = nullptr;    // rows that each row stands for; null: 1
  bool merges_rows = true;                     // equal rows become one group
  bool reduces_columns = true;                 // duplicate and complementary columns are left out
  const std::int32_t* column_class = nullptr;  // of the caller's columns; equal columns of two classes are both kept
  Isa isa = Isa::baseline;
  std::uint64_t seed = 0;  // of fingerprints
  bool operator==(const DatasetSettings&) const = default;
};

class Dataset {
 public:
  // Both throw TimeIsUp if reading the table takes longer than the budget has.
  Dataset(const TableView& table, const CountTask& task, const DatasetSettings& settings, Budget& budget,
          MemoryBudget& memory);
  // Without costs.  Rows have one of `n_types` types; 0: they have none, every group counts once, and the caller, who is
  // told the group of every row, knows what groups weigh.
  Dataset(const TableView& table, std::int32_t n_types, const DatasetSettings& settings, Budget& budget,
          MemoryBudget& memory, ChargedVector<std::int32_t>& group_of_row);

  // Everything that depends on the costs, for another task with as many types.  If it throws, the data set is of no use.
  void price(const CountTask& task, MemoryBudget& memory);

  std::int32_t n_columns() const { return static_cast<std::int32_t>(original_column_.size()); }
  std::int32_t n_groups() const { return n_groups_; }
  std::size_t group_words() const { return group_words_; }
  // No tree of this depth has more splits: each leaves a group of rows behind.
  std::int64_t most_splits(std::int32_t depth) const {
    const std::int64_t by_groups = std::max(n_groups_ - 1, 0);
    return depth < 40 ? std::min(by_groups, (std::int64_t{1} << depth) - 1) : by_groups;
  }
  // Counted for pairs of columns: the task's types, then the number of rows if asked for.
  std::int32_t n_pair_types() const { return n_pair_types_; }
  // Counted for single columns: these, and the unavoidable cost where rows conflict (bounds/equivalent_points.hpp).
  std::int32_t n_types() const { return n_types_; }
  bool has_row_count() const { return has_row_count_; }
  bool has_conflicts() const { return n_types_ > n_pair_types_; }
  // The caller's column; duplicates and complements of it are left out, constants too.
  std::int32_t original_column(std::int32_t column) const { return original_column_[static_cast<std::size_t>(column)]; }
  // Columns of different classes are never the same, even where they are equal.
  std::int32_t column_class(std::int32_t column) const {
    return column_class_.empty() ? 0 : column_class_[static_cast<std::size_t>(column)];
  }
  // Set of groups in which the column holds.
  const Word* group_column(std::int32_t column) const {
    return group_columns_.data() + static_cast<std::size_t>(column) * group_words_;
  }
  const std::vector<Plane>& planes() const { return planes_; }
  std::int32_t n_words() const { return planes_.empty() ? 0 : planes_.back().end; }
  std::int32_t stride() const { return stride_; }
  const Word* bits() const { return bits_.data(); }
  const std::vector<Cost>& totals() const { return totals_; }
  // [group][pair type].
  const std::vector<Cost>& group_weights() const { return group_weights_; }
  // Fingerprint of a set of groups.
  Fingerprint key_of(const Word* groups) const {
    const Fingerprint key = fingerprint(groups, group_words_, settings_.seed);
#ifdef CERTREE_CHECKS
    audit_.see(key, groups, group_words_);
#endif
    return key;
  }
#ifdef CERTREE_CHECKS
  // Of keys that are made of more than groups (data/test_costs.hpp).
  RowSetAudit& audit() const { return audit_; }
#endif

 private:
  void keep_distinct_columns(const TableView&, Budget&, MemoryBudget&);
  void group_rows(const TableView&, Budget&, MemoryBudget&);
  void weigh_groups(const TableView&);
  void choose_rows(const TableView&);
  void place_group_columns(const TableView&);
  void place_groups(MemoryBudget&);
  void release_rows();
  void check_costs(const CountTask& task) const;
  Cost weight_of(std::size_t group, std::size_t type) const;

  DatasetSettings settings_;
  const BitKernels& kernels_;
  std::int32_t n_pair_types_;
  std::int32_t n_types_;
  bool has_row_count_;
  std::int32_t n_groups_ = 0;
  std::size_t group_words_ = 0;
  std::int32_t stride_ = 0;
  std::vector<std::int32_t> original_column_;
  std::vector<std::int32_t> column_class_;    // empty: all the same
  ChargedVector<Word> row_bits_;              // [column][words of rows]; released after grouping
  ChargedVector<std::int32_t> group_of_row_;  // released after placing
  ChargedVector<std::int64_t> row_of_group_;  // a row of each group; released after placing
  std::vector<Cost> group_weights_;           // [group][pair type]
  std::vector<Cost> weight_of_type_;          // [pair type], of all groups
  std::vector<Cost> unavoidable_;             // [group]; empty: no rows conflict
  bool is_placed_ = false;
  AlignedArray<Word> group_columns_;
  AlignedArray<Word> bits_;
  std::vector<Plane> planes_;
  std::vector<Cost> totals_;
#ifdef CERTREE_CHECKS
  mutable RowSetAudit audit_;
#endif
};

// Columns per row of words: whole cache lines, and an odd number of them, so that the words of one column do not all
// fall into the same few cache sets.
std::int32_t stride_for(std::int32_t n_columns);

}  // namespace certree
