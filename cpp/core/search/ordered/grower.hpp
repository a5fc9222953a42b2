// The search over ordered features as a grower of trees (search/shared/grower.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/ordered/search.hpp"
#include "search/ordered/trees.hpp"
#include "search/shared/grower.hpp"

namespace certree {

class OrderedGrower final : public Grower {
 public:
  explicit OrderedGrower(OrderedSearch& search);
  // Who hears of trees of the whole problem while it solves; null: nobody.
  void tell(OrderedListener* listener) { listener_ = listener; }

  Cost leaf(std::size_t level, std::int32_t* label) override;
  bool has_impurities() const override { return data_.adds_to_one_plane(); }
  std::int32_t purest_test(std::size_t level, Impurity impurity) override;
  std::int32_t cheapest_test(std::size_t level) override;
  Cost split_value(std::size_t level, std::int32_t test) override;
  void candidates(std::size_t level, std::size_t most, std::vector<std::int32_t>& out) override;
  void descend(std::size_t level, std::int32_t test, bool holds) override;
  Cost solve(std::size_t level, std::int32_t depth, Tree& tree, Cost* floor) override;
  bool poll() override;
  void release() override;

 private:
  struct Scored {
    double score = 0;  // more is better
    std::int32_t test = -1;
  };

  // Calls use(rank, rows) at every threshold of a feature that leaves both sides large enough; `left_` has the sums of the
  // rows up to it.
  template <class Use>
  void for_each_threshold(OrderedNode& node, std::int32_t f, Use use);
  template <class Use>
  void scan_bins(const OrderedNode& node, std::int32_t f, Use use);
  template <class Use>
  void scan_order(OrderedNode& node, std::int32_t f, Use use);
  template <class Use>
  void scan_asked(OrderedNode& node, std::int32_t f, Use use);
  template <class Score>
  Scored best_test(std::size_t level, Score score);
  void add_row(std::int32_t row, Cost* sums) const;
  // All rows of the node.
  void add_totals(const OrderedNode& node);
  double purity(Impurity impurity);
  double purity_of(const Cost* sums, Impurity impurity) const;
  double cheapness();
  void set_right();

  OrderedSearch& search_;
  OrderedTrees trees_;
  OrderedListener* listener_ = nullptr;
  const OrderedData& data_;
  std::size_t planes_;
  std::vector<Cost> total_, left_, right_, sums_of_bin_;
  std::vector<Cost> first_, others_;  // costs that are asked for, by position
  Cost asked_ = 0;                    // of both sides of the threshold at hand
};

}  // namespace certree
