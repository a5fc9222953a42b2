// The open thresholds of a node: a queue of intervals of thresholds, one per feature at first, by rising lower bounds.
//
// An evaluated threshold cuts its interval in two, and bounds all others of its feature (bounds/threshold_interval.hpp).
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "base/memory.hpp"
#include "bounds/threshold_interval.hpp"
#include "data/ordered_data.hpp"
#include "search/ordered/depth_two.hpp"
#include "search/ordered/node.hpp"
#include "search/shared/options.hpp"

namespace certree {

class OrderedThresholds {
 public:
  // An evaluated threshold.  A node has many of them, each with numbers for all features.
  struct Point {
    explicit Point(MemoryBudget& memory)
        : sides(memory), by{ChargedVector<Cost>(memory), ChargedVector<Cost>(memory)} {}
    std::int32_t position = 0;            // rows where the test holds
    ChargedVector<ThresholdSides> sides;  // [division]: for leaves of any size
    ChargedVector<Cost> by[2];            // [side][division][feature]: bounds per root feature of the side
  };
  struct OpenInterval {
    Cost bound;
    std::int32_t feature, a, b;  // points at its ends
    std::int32_t length;
    bool operator<(const OpenInterval& other) const {
      return bound > other.bound || (bound == other.bound && length < other.length);
    }
  };

  OrderedThresholds(OrderedNode& node, const OrderedData& data, const Options& options, const Objective& objective,
                    MemoryBudget& memory)
      : node_(node), data_(data), options_(options), objective_(objective), memory_(memory) {}

  // All thresholds of the node are open.  `by`: a bound for every root feature.
  void start(std::size_t n_divisions, const Cost* by);
  bool is_empty() const { return open_.empty(); }
  // The interval with the least bound.
  const OpenInterval& first() const { return open_.top(); }
  OpenInterval take_first();
  void put_back(const OpenInterval& at) { open_.push(at); }
  // The threshold to evaluate next in an interval: near the middle of what margins leave; -1: none is left.  `limit`: trees
  // at or above it do not matter.  `leaves_small`: some are left out since a leaf would be too small; for leaves of any size
  // the interval keeps its bound.
  std::int32_t choose(const OpenInterval& at, Cost limit, bool* leaves_small);
  // What its neighbours say of a threshold.
  Point between(const OpenInterval& at, std::int32_t position);
  // Puts an evaluated threshold between its neighbours.
  void add(const OpenInterval& at, Point point);
  // Some thresholds of a feature need not be looked at again: trees with them cost no less, for leaves of any size `loose`.
  void settle(std::int32_t f, Cost lower, Cost loose);
  // What trees with settled thresholds cost at least.
  Cost least_settled() const;
  // What all that was done says of the node, where a tree of value `best` is known.  What is open keeps its bound.  `by` is
  // raised; `shallow_lower`: bound of the trees of one level less, for leaves of any size.
  OrderedFound finish(Cost best, Cost shallow_lower, Cost* by);

 private:
  void push(std::int32_t f, std::int32_t a, std::int32_t b, Cost bound);
  const ChargedVector<Cost>& worst(std::int32_t f);
  Cost worst_between(std::int32_t f, std::int32_t from, std::int32_t to);

  OrderedNode& node_;
  const OrderedData& data_;
  const Options& options_;
  const Objective& objective_;
  MemoryBudget& memory_;
  std::vector<Point> points_;
  std::priority_queue<OpenInterval> open_;
  std::vector<ChargedVector<Cost>> worst_;  // [feature][position]: of the rows up to each; empty: not asked for yet
  std::vector<Cost> low_, loose_;           // [feature]: least of what is settled
};

}  // namespace certree
