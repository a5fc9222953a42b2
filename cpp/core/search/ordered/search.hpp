// Depth-first branch and bound over ordered features.
//
// At a node, thresholds are not tried one by one.  The open set is a queue of intervals of thresholds, one per feature at
// first, by rising lower bounds.  The threshold in the middle of the best interval is evaluated by solving its two sides,
// and bounds all others of its feature (bounds/threshold_interval.hpp).  Sides are solved a little past what could still
// win: their bounds are then larger, and so are the margins around the threshold.  Subproblems are kept in the table of the
// search over columns (search/shared/table.hpp), and depth two is search/ordered/depth_two.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "base/budget.hpp"
#include "bounds/threshold_interval.hpp"
#include "search/ordered/depth_two.hpp"
#include "search/ordered/node.hpp"
#include "search/ordered/shape.hpp"
#include "search/shared/options.hpp"
#include "search/shared/path_entry.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/table.hpp"

namespace certree {

class Improver;
class SizedTrees;

class OrderedSearch {
 public:
  OrderedSearch(const OrderedData& data, const Options& options, const Objective& objective, Budget& budget,
                MemoryBudget& memory, Table& table, Progress& progress);

  // The best tree of the shape; what is found is in the progress.
  void run(Shape shape, Counters& counters);
  // The best trees with 0, 1, ... splits, as many as the shape has; those that are not better than one with fewer are left
  // out.  `is_whole`: all are proven.
  std::vector<PathEntry> run_path(Shape shape, Counters& counters, bool* is_whole);

 private:
  friend class OrderedGrower;

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
  // One level of the recursion.
  struct Level {
    Level(const OrderedData& data, Budget& budget, MemoryBudget& memory) : node(data, budget, memory) {}
    OrderedNode node;
    std::vector<Point> points;
    std::priority_queue<OpenInterval> open;
    std::vector<ChargedVector<Cost>> worst;  // [feature][position]: of the rows up to each; empty: not asked for yet
    std::vector<Cost> low, loose;            // [feature]: least of what is settled
    std::vector<Division> divisions;
    Cost best = 0, ceiling = 0;
    Cost shallow_lower = 0;  // bound of the trees of one level less, for leaves of any size
    OrderedSplit split;
  };
  // A side of a threshold at a level.
  struct Side {
    std::size_t level;
    std::int32_t feature, rank, position;
    bool holds;
    std::int32_t n_rows;
    Fingerprint key;
  };

  bool is_quick(Shape shape) const;
  bool is_done() const;
  void search_depth(std::int32_t d, Shape shape, Improver& improver);
  void prove(Shape shape, std::int32_t depth, Improver& improver);
  void search_root(Shape shape);
  void search_shallow_root(Shape shape);
  Shape worth_looking(Shape shape, Cost value) const;
  Cost next_ceiling() const;
  Cost left_out(Shape part, Shape shape) const;
  void add_counters(Counters& counters);
  bool takes_rounds(bool is_long) const;
  void raise_bound(Shape shape);
  void lessen_depth(std::int64_t splits);
  bool has_deeper_tree(std::int32_t d) const;
  void offer_grown(const SizedTrees& grown, std::int64_t splits);
  void prove_entry(Shape shape, Improver& improver, const SizedTrees& grown, PathEntry& entry);
  void search_entry(Shape shape, Improver& improver);
  std::int32_t test_of(OrderedSplit split) const;

  Level& level(std::size_t k);
  bool poll();
  Cost limit(std::size_t k) const;
  OrderedFound search(std::size_t k, Shape shape, Cost ceiling, Cost* by, Cost known_upper);
  void look_ahead(std::size_t k, std::int64_t splits);
  void start(std::size_t k, const Cost* by);
  void push(std::size_t k, std::int32_t f, std::int32_t a, std::int32_t b, Cost bound);
  std::int32_t choose(std::size_t k, const OpenInterval& at, bool* leaves_small);
  bool evaluate(std::size_t k, Shape shape, const OpenInterval& at, std::int32_t position);
  Point between(std::size_t k, const OpenInterval& at, std::int32_t position);
  bool solve_sides(const Side (&sides)[2], std::size_t division, Point& point, OrderedFound (&found)[2]);
  void settle(std::size_t k, std::int32_t f, Cost lower, Cost loose);
  OrderedFound finish(std::size_t k, Cost* by);
  OrderedFound solve_side(const Side& side, Shape shape, Cost ceiling, Cost* by);
  OrderedFound solve_shallow(const Side& side, Shape shape, Cost ceiling, Cost* by, OrderedSplit* split);
  OrderedFound solve_part(const Side& side, Shape part, Shape shape, Cost ceiling, Cost* by);
  Cost leaf_of(const Side& side);
  void keep_shorter(const Side& side, Cost ceiling, const Cost* by);
  OrderedFound recall(const Fingerprint& key, Shape shape, std::int32_t* test);
  void remember(const Fingerprint& key, Shape shape, const OrderedFound& found, std::int32_t test, std::int64_t effort);
  const ChargedVector<Cost>& worst(std::size_t k, std::int32_t f);
  Cost worst_between(std::size_t k, std::int32_t f, std::int32_t from, std::int32_t to);
  Side side_of(std::size_t k, std::int32_t f, std::int32_t position, bool holds, const Fingerprint& key) const;
  // Valid until the next call.
  OrderedRows part_of(OrderedNode& node, const std::int32_t* rows, std::int32_t n_rows);
  OrderedRows all_rows(std::size_t k);

  // Trees.
  void publish(std::size_t k, Shape shape, OrderedSplit split, Cost value);
  Cost add_stump(OrderedNode& node, const std::vector<std::int32_t>& rows, std::int32_t depth, Tree& tree,
                 std::int32_t* root);
  Cost add_sides(std::size_t k, Shape shape, OrderedSplit split, Cost value, Tree& tree, std::int32_t* root);
  Cost add_stumps(std::size_t k, Shape shape, OrderedSplit split, std::int32_t position, Tree& tree, std::int32_t root);
  Cost add_known(std::size_t k, Shape shape, Cost value, Tree& tree, std::int32_t* root);
  Cost add_shallow(std::size_t k, Shape shape, Tree& tree, std::int32_t* root);
  // Adds the best tree of the node at level k and returns its value; kInfinite: stopped.
  Cost best_tree(std::size_t k, std::int32_t depth, Tree& tree, std::int32_t* root);

  const OrderedData& data_;
  const Options& options_;
  const Objective& objective_;
  Budget& budget_;
  MemoryBudget& memory_;
  Table& table_;
  Progress& progress_;  // what the outside sees
  Progress* goal_;      // of the problem at hand: the same, or that of one number of splits
  std::unique_ptr<OrderedDepthTwo> depth_two_;
  std::vector<std::unique_ptr<Level>> levels_;
  ChargedVector<std::uint8_t> is_in_;
  Cost slack_ = 0, least_slack_ = 0;
  bool is_last_ = false;
  Cost beyond_ = kInfinite;       // no tree of the problem that the search at hand leaves out costs less than this
  std::int64_t most_splits_ = 0;  // of trees for the goal
  bool has_sizes_ = false;        // trees of several sizes are looked for
  Counters counters_;
};

}  // namespace certree
