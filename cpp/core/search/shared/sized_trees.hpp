// The cheapest trees that are known by number of splits, for an error-versus-splits curve that is not proven yet.
#pragma once

#include <cstddef>
#include <vector>

#include "base/cost.hpp"
#include "search/shared/grown_tree.hpp"

namespace certree {

class SizedTrees {
 public:
  // Numbers of splits 0 .. size - 1.
  SizedTrees(const Objective& objective, std::size_t size)
      : objective_(objective), cost_(size, kInfinite), tree_(size) {}

  // A tree, and what is left of it with fewer splits.
  void offer(const GrownTree& grown);
  // Least leaf cost with at most k splits, tests included; kInfinite: no tree is known.
  Cost cost(std::size_t k) const { return cost_[k]; }
  const Tree& tree(std::size_t k) const { return tree_[k]; }

 private:
  const Objective& objective_;
  std::vector<Cost> cost_;
  std::vector<Tree> tree_;
};

}  // namespace certree
