// Prices of tests.  Every row that reaches a test pays for the feature that the test looks at, once: a feature that was
// tested above is free, and one whose group was tested above has a discount.
// The price of a subtree thus depends on the tests above it, but only through the prices that are left.  `Paid` is the
// state of a subproblem besides its rows; only features that still separate its rows matter.
// docs/theory/test-costs.md
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"
#include "data/dataset.hpp"

namespace certree {

// Borrowed views of the caller's arrays.
struct TestCostTable {
  const std::int32_t* feature = nullptr;  // [column]; null: tests are free
  std::int64_t n_features = 0;
  const std::int32_t* group = nullptr;       // [feature]; negative: none
  const std::int64_t* price = nullptr;       // [feature], per unit of weight
  const std::int64_t* discounted = nullptr;  // [feature], once another feature of its group was tested
  const std::int64_t* weights = nullptr;     // [row]; null: the rows that each row stands for
};

// Throws std::invalid_argument for invalid prices.
void check_test_costs(const TestCostTable& table, std::int64_t n_columns);

// What is left to pay below a node.
struct Paid {
  std::vector<Cost> price;            // [feature], per unit of weight
  std::vector<std::int32_t> touched;  // features whose price has changed, ascending
};

class TestCosts {
 public:
  TestCosts(const TestCostTable& table, const Dataset& data);

  std::int32_t feature(std::int32_t column) const { return feature_[static_cast<std::size_t>(column)]; }
  std::int32_t group(std::int32_t feature) const { return group_[static_cast<std::size_t>(feature)]; }
  Cost discounted(std::int32_t feature) const { return discounted_[static_cast<std::size_t>(feature)]; }
  Cost highest() const { return highest_; }
  std::int32_t n_features() const { return static_cast<std::int32_t>(price_.size()); }
  // Groups are numbered from 0.
  std::int32_t n_groups() const { return n_groups_; }
  // Some column of the data set looks at it.
  bool is_used(std::int32_t feature) const { return !columns_[static_cast<std::size_t>(feature)].empty(); }
  // The most that one unit of weight can pay on a path with this many tests; negative: any number of tests.
  Cost most(std::int64_t tests) const;

  // Nothing paid yet.
  void start(Paid& out) const;
  // After a test of `column`.
  void pay(const Paid& before, std::int32_t column, Paid& after) const;
  // Fingerprint of the rows and of those changed prices that matter to them.
  Fingerprint key(const Dataset& data, const Word* rows, Fingerprint rows_key, const Paid& paid) const;

 private:
  void number_groups();
  bool varies(const Dataset& data, const Word* rows, std::int32_t feature) const;

  std::vector<std::int32_t> feature_;               // of the data set's columns
  std::vector<std::vector<std::int32_t>> columns_;  // of each feature
  std::vector<std::int32_t> group_;
  std::vector<Cost> price_, discounted_;
  std::int32_t n_groups_ = 0;
  Cost highest_ = 0;
};

}  // namespace certree
