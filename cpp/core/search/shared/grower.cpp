#include "search/shared/grower.hpp"

namespace certree {

GrownTree grow_leaf(Grower& grower, std::size_t level) {
  GrownTree out;
  GrownNode node;
  node.leaf = out.value = grower.leaf(level, &node.label);
  out.nodes.push_back(node);
  return out;
}

GrownTree measure(Grower& grower, std::size_t level, const Tree& tree, std::int32_t node) {
  const TreeNode& here = tree.nodes[static_cast<std::size_t>(node)];
  return grow_split(grower, level, here.column,
                    [&](bool holds) { return measure(grower, level + 1, tree, holds ? here.yes : here.no); });
}

}  // namespace certree
