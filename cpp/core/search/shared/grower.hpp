// What the improver (search/shared/improver.hpp), which grows trees without a proof, asks of a search: its nodes, their
// tests, and exact best trees of small depth.  Level 0 is the whole problem; `descend` makes the next level a child of a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "search/shared/grown_tree.hpp"
#include "search/shared/impurity.hpp"

namespace certree {

class Grower {
 public:
  virtual ~Grower() = default;

  // Value of the node as a leaf.
  virtual Cost leaf(std::size_t level, std::int32_t* label) = 0;
  // Whether leaves have impurities: without them the purest test is the cheapest one.
  virtual bool has_impurities() const = 0;
  // The test whose two sides are purest, and the one whose two sides cost least as leaves; -1: none is feasible.
  virtual std::int32_t purest_test(std::size_t level, Impurity impurity) = 0;
  virtual std::int32_t cheapest_test(std::size_t level) = 0;
  // Value of the split alone, without its two sides.
  virtual Cost split_value(std::size_t level, std::int32_t test) = 0;
  // Tests that deserve a look, the most promising first; at most this many.
  virtual void candidates(std::size_t level, std::size_t most, std::vector<std::int32_t>& out) = 0;
  virtual void descend(std::size_t level, std::int32_t test, bool holds) = 0;
  // The value of the best tree of this depth, and the tree; kInfinite: the budget ended.  `floor`: no tree costs less.
  virtual Cost solve(std::size_t level, std::int32_t depth, Tree& tree, Cost* floor) = 0;
  virtual bool poll() = 0;
  // Gives back the memory of all levels but the first.
  virtual void release() = 0;
};

GrownTree grow_leaf(Grower& grower, std::size_t level);
// The tree as it is for the rows of the node at a level, less splits that do not pay.
GrownTree measure(Grower& grower, std::size_t level, const Tree& tree, std::int32_t node = 0);
// The same for the tree with this root test whose sides `below(holds)` grows at the next level.
template <class Below>
GrownTree grow_split(Grower& grower, std::size_t level, std::int32_t test, Below&& below) {
  GrownTree single = grow_leaf(grower, level);
  if (test < 0) return single;
  GrownNode root = single.nodes[0];
  root.test = test;
  root.split = grower.split_value(level, test);
  grower.descend(level, test, true);
  const GrownTree yes = below(true);
  grower.descend(level, test, false);
  GrownTree out = GrownTree::join(root, yes, below(false));
  return out.value < single.value ? out : single;
}

}  // namespace certree
