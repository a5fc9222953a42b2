// The depth-two solver: from the counts of all pairs of columns at a node, the least cost of every tree of depth at most
// two, with 0, 1, 2 and 3 splits, and for every column the least cost of one more split on either side of it.
//
// One pass over F^2/2 pairs answers F^2 questions (Demirovic et al., MurTree, JMLR 2022, section 4.3), and is at once the
// terminal solver, the incumbent and the look-ahead bound of the search above it.  Two things make it quick here: counts
// are popcounts of compacted bit columns, and for the two children of a split only the smaller is counted, the larger
// being the difference to the parent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "data/node.hpp"
#include "search/shared/impurity.hpp"
#include "tasks/count_task.hpp"

namespace certree {

// Least leaf cost of trees of depth at most two with at most 0, 1, 2, 3 splits.
using SplitErrors = std::array<Cost, 4>;

// The pass over a node's pairs, kept for the search at that node.
struct Expansion {
  explicit Expansion(MemoryBudget& memory)
      : pairs(memory),
        columns(memory),
        rows(memory),
        yes0(memory),
        no0(memory),
        yes1(memory),
        no1(memory),
        tests(memory),
        yes_weight(memory),
        yes_unavoidable(memory),
        yes_worst(memory) {}

  bool has_pairs = false;  // pair counts are stored, unless there are too many columns
  AlignedArray<std::byte> pairs;
  AlignedArray<std::byte> columns;
  AlignedArray<std::byte> rows;  // vector statistics: the rows of the node (search/vectors/depth_two.hpp)
  // Leaf costs (0) and one-split costs (1) of the side where the column holds (yes) and where it does not (no);
  // at least kInfinite where a side would be smaller than the minimum leaf size.
  AlignedArray<Cost> yes0, no0, yes1, no1;
  // Where tests have prices: what all rows pay for the test of each column.
  bool has_tests = false;
  AlignedArray<Cost> tests;
  // Of the rows where the column holds: what they pay prices for.  All worst costs include `path_price` for every unit of it.
  AlignedArray<Cost> yes_weight;
  Cost weight = 0;
  Cost path_price = 0;
  // Of the rows where the column holds: unavoidable cost, and cost if every row is at its worst.
  AlignedArray<Cost> yes_unavoidable, yes_worst;
  Cost worst = 0;        // of the whole node
  Cost unavoidable = 0;  // of the whole node
  SplitErrors errors{};
};

struct ChildErrors {
  SplitErrors yes{}, no{};
};

class DepthTwo {
 public:
  virtual ~DepthTwo() = default;

  // All of the above for one node.  False: the budget ended half-way.
  virtual bool expand(const Node& node, Expansion& out) = 0;
  // The depth-two optima of both children of `column`, by difference to the expanded parent.  Sides not wanted are left
  // alone.  False: stopped.
  virtual bool evaluate_children(const Node& parent, const Expansion& pairs, std::int32_t column, bool want_yes,
                                 bool want_no, ChildErrors& out) = 0;
  // One side of evaluate_children after the other costs hardly more than both at once.
  virtual bool keeps_pairs(const Node&) const { return false; }
  // Cost of the node as a leaf, and its label.
  virtual Cost leaf_cost(const Node& node, std::int32_t* label = nullptr) const = 0;
  // Least cost of one split and the first column that attains it (-1: none is feasible).  `test`: what its test costs.
  virtual Cost best_split(const Node& node, std::int32_t* column, Cost* test = nullptr) = 0;
  // The column whose two sides are purest (-1: none is feasible), where the rows of a leaf have classes.  No proof depends on
  // it.
  virtual bool has_impurities() const { return false; }
  virtual std::int32_t purest_split(const Node&, Impurity) { return -1; }
  // For every column h, the cost if all rows where both `column` and h hold are at their worst, and pay the price of a path
  // each.  Needs stored pairs.
  virtual void common_worst(const Node& node, const Expansion& pairs, std::int32_t column, Cost* out) const = 0;
};

struct DepthTwoSettings {
  std::int64_t min_leaf = 1;
  std::size_t pair_bytes = std::size_t{64} << 20;  // above this, pairs are recounted instead of stored
  bool subtracts_sibling = true;
  bool estimates_savings = true;
  bool counts_pairs = true;  // counts: false makes the child of every column and counts it, to see what pairs save
  std::size_t leaf_table_bytes = std::size_t{256} << 20;  // vector statistics: for what leaf functions have answered
  Isa isa = Isa::baseline;
};

// What a search knows of the statistic that leaf costs are functions of: how to make the solver above, one per worker.
class DepthTwoMaker {
 public:
  virtual ~DepthTwoMaker() = default;
  virtual std::unique_ptr<DepthTwo> make(const DepthTwoSettings& settings, NodeFactory& factory, Budget& budget,
                                         MemoryBudget& memory) const = 0;
};

// Weighted counts per row type (tasks/count_task.hpp), in the narrowest integers that hold every count and cost.
class CountDepthTwo final : public DepthTwoMaker {
 public:
  CountDepthTwo(const Dataset& data, const CountTask& task) : data_(data), task_(task) {}
  std::unique_ptr<DepthTwo> make(const DepthTwoSettings& settings, NodeFactory& factory, Budget& budget,
                                 MemoryBudget& memory) const override;

 private:
  const Dataset& data_;
  const CountTask& task_;
};

}  // namespace certree
