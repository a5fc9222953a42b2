// The wanted points of trees of depth at most two, from the sums of pairs.
//
// A root column is looked at only if the least values of its two sides fit the budgets.  Each side then lists its leaves and
// its splits that fit what the other side leaves, and the two lists are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "search/limits/bounds.hpp"
#include "search/limits/collector.hpp"
#include "search/limits/join.hpp"
#include "search/limits/points.hpp"
#include "search/limits/region.hpp"
#include "search/shared/plans.hpp"

namespace certree {

class LimitDepthTwo {
 public:
  // `poll`: asked now and then; true: stop.
  LimitDepthTwo(const LimitData& data, std::int64_t min_leaf, bool uses_dominance, std::function<bool()> poll);

  // The label is allowed in a leaf with these sums of pair values.
  bool may_label(std::size_t label, const Cost* sums) const {
    return !data_.has_label_counts() || sums[data_.label_count_value(label)] >= data_.task().label_min[label];
  }
  // Adds the leaves of a view that are wanted.
  void add_leaves(const LimitView& view, const LimitRegion& region, LimitPoints& out);
  // Adds the trees of depth 1, or 1 and 2, that are wanted; all planes of `bounds` must be computed.  False: stopped.
  bool add_trees(const LimitView& view, const LimitBounds& bounds, std::int32_t depth, const LimitRegion& region,
                 const std::vector<std::uint8_t>& active, Plans& plans, LimitPoints& out);
  std::int64_t bytes() const;

 private:
  // A tree of depth two whose plan is not made yet.
  struct Pending {
    std::int32_t column, yes, no;
  };
  void list_side(const LimitView& view, std::size_t column, bool holds, std::int32_t depth,
                 const std::vector<std::uint8_t>& active, LimitPoints& out);
  void gather(const LimitView& view, std::size_t column, bool holds);
  void add_leaf(const Cost* sums, std::size_t label, std::int32_t code, const LimitRegion& region, LimitPoints& out);
  void weigh_side(const LimitView& view, std::size_t plane);
  void list_splits(const LimitView& view, std::size_t column);
  void add_split(std::size_t j, std::size_t stride, std::size_t yes, std::size_t no, Cost paid);
  void mark_splits(const LimitView& view, Cost budget);
  void weigh(const Cost* point, Cost* values) const;
  void set_split(const LimitView& view, std::size_t column);
  bool combine(std::int32_t column, const LimitRegion& region, LimitPoints& out);
  void forget_replaced(LimitPoints& out);
  std::int32_t plan_of_side(const LimitView& view, std::int32_t code, Plans& plans) const;

  const LimitData& data_;
  std::int64_t min_leaf_;
  bool may_skip_equal_labels_;
  std::function<bool()> poll_;
  LimitCollector side_collector_, collector_;
  LimitJoin join_;
  std::vector<Cost> split_weights_, zeros_;
  // Scratch.
  LimitPoints side_[2];
  LimitRegion left_;
  std::vector<Pending> pending_;
  std::vector<Cost> own_, rest_, point_, values_, cell_[2];
  std::vector<Cost> split_values_;      // [plane]: what the first split adds
  Cost paid_ = 0;                       // what all rows pay for it
  Cost side_pays_ = 0;                  // what the rows of the side pay a price for
  std::vector<Cost> row_;               // [pair value][stride]: where the side and j hold
  std::vector<Cost> side_sum_;          // [pair value]
  std::vector<Cost> side_values_;       // [plane][label][stride]: where the side and j hold
  std::vector<Cost> whole_values_;      // [plane][label]: of the whole side
  std::vector<Cost> room_;              // [column]: what the first plane leaves for leaves, by the price of the column
  std::vector<std::uint64_t> is_open_;  // [column]: whether some labels may be within it
};

}  // namespace certree
