// Depth-first branch and bound over ordered features: the best trees of nodes.
//
// At a node, thresholds are not tried one by one.  The threshold in the middle of the interval with the least bound is
// evaluated by solving its two sides, and bounds all others of its feature (search/ordered/thresholds.hpp).  Sides are solved
// a little beyond what could still win: their bounds are then larger, and so are the margins around the threshold.
// Subproblems are kept in the table (search/shared/table.hpp), and depth two is search/ordered/depth_two.hpp.
//
// The search knows values and root tests.  search/ordered/trees.hpp makes trees of them, and search/ordered/rounds.hpp asks
// about the whole problem.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "search/ordered/depth_two.hpp"
#include "search/ordered/node.hpp"
#include "search/ordered/question.hpp"
#include "search/ordered/shape.hpp"
#include "search/ordered/thresholds.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/table.hpp"

namespace certree {

// What a search over ordered features works on, and within.
struct OrderedContext {
  const OrderedData& data;
  const Options& options;
  const Objective& objective;
  Budget& budget;
  MemoryBudget& memory;
  Table& table;
  Progress& progress;      // what the outside sees
  bool has_sizes = false;  // trees of several numbers of splits are looked for
};

// A side of a threshold of the node at a level.
struct OrderedSide {
  std::size_t level;
  std::int32_t feature, rank, position;
  bool holds;
  std::int32_t n_rows;
  Fingerprint key;
};

class OrderedSearch {
 public:
  explicit OrderedSearch(const OrderedContext& context);

  const OrderedContext& context() const { return context_; }
  OrderedDepthTwo& depth_two() { return *depth_two_; }
  Counters counters() const;
  bool poll();

  // Nodes, by level: 0 is the root with all rows.
  OrderedNode& node(std::size_t k) { return level(k).node; }
  // Gives back the memory of all levels but the first.
  void release() { levels_.resize(1); }
  // Rows of a node.  Valid until the next call.
  OrderedRows part_of(OrderedNode& node, const std::int32_t* rows, std::int32_t n_rows);
  OrderedRows all_rows(std::size_t k);
  OrderedSide side_of(std::size_t k, std::int32_t f, std::int32_t position, bool holds, const Fingerprint& key);

  // The best tree of the node at level k, of depth three or more; `split` is its root test.  `by`: for every feature a lower
  // bound, for leaves of any size, of the trees with it at the root; raised here.
  OrderedFound search(std::size_t k, const OrderedQuestion& question, Cost* by, OrderedSplit* split);
  // The same, and the table remembers it.
  OrderedFound search_and_remember(std::size_t k, const OrderedQuestion& question, OrderedSplit* split);
  // The best tree of a side.
  OrderedFound solve_side(const OrderedSide& side, OrderedQuestion question, Cost* by);

  // What the table knows of some rows, and the root test of the tree that has the upper bound.
  OrderedFound recall(const Fingerprint& key, Shape shape, std::int32_t* test);
  void remember(const Fingerprint& key, Shape shape, const OrderedFound& found, OrderedSplit split,
                std::int64_t effort);

  // The trees of a shape that can cost less: a tree with more splits pays more for these alone (bounds/split_count.hpp).
  Shape worth_looking(Shape shape, Cost value) const;
  // What the other trees of the shape cost at least.
  Cost left_out(Shape part, Shape shape) const;
  // Sides are solved at least this much beyond what could still win.
  Cost least_slack() const { return least_slack_; }

 private:
  // One level of the recursion.
  struct Level {
    explicit Level(const OrderedContext& context)
        : node(context.data, context.budget, context.memory),
          thresholds(node, context.data, context.options, context.objective, context.memory) {}
    OrderedNode node;
    OrderedThresholds thresholds;
    std::vector<Division> divisions;
    Cost best = 0;
    Cost shallow_lower = 0;  // bound of the trees of one level less, for leaves of any size
    OrderedSplit split;
  };

  Level& level(std::size_t k);
  Cost limit(const Level& here, const OrderedQuestion& question) const;
  void look_ahead(std::size_t k, const OrderedQuestion& question);
  bool evaluate(std::size_t k, const OrderedQuestion& question, const OrderedThresholds::OpenInterval& at,
                std::int32_t position);
  bool solve_sides(const OrderedSide (&sides)[2], std::size_t division, const OrderedQuestion& question,
                   OrderedThresholds::Point& point, OrderedFound (&found)[2]);
  OrderedFound solve_shallow(const OrderedSide& side, Shape shape, Cost ceiling, Cost* by, OrderedSplit* split);
  OrderedFound solve_part(const OrderedSide& side, Shape part, const OrderedQuestion& question, Cost* by);
  Cost leaf_of(const OrderedSide& side);
  void keep_shorter(const OrderedSide& side, Cost ceiling, const Cost* by);

  const OrderedContext context_;
  const OrderedData& data_;
  const Options& options_;
  const Objective& objective_;
  Budget& budget_;
  std::unique_ptr<OrderedDepthTwo> depth_two_;
  std::vector<std::unique_ptr<Level>> levels_;
  ChargedVector<std::uint8_t> is_in_;
  Cost least_slack_;
  Counters counters_;
};

}  // namespace certree
