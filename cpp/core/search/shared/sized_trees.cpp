#include "search/shared/sized_trees.hpp"

#include <algorithm>

namespace certree {

namespace {

// Of leaves and tests, without the price of splits.
Cost leaf_cost(const GrownTree& grown, const Objective& objective) {
  Cost value = 0;
  for (const GrownNode& node : grown.nodes) value += node.test < 0 ? node.leaf : node.split - objective.split(0);
  return value / objective.error_scale;
}

}  // namespace

void SizedTrees::offer(const GrownTree& grown) {
  const std::vector<GrownTree> cuts = grown.cuts(static_cast<std::int64_t>(cost_.size()) - 1);
  for (std::size_t k = 0; k < cost_.size(); ++k) {
    const GrownTree& cut = cuts[std::min(k, cuts.size() - 1)];
    const Cost cost = leaf_cost(cut, objective_);
    if (cost >= cost_[k]) continue;
    cost_[k] = cost;
    tree_[k] = cut.tree();
  }
}

}  // namespace certree
