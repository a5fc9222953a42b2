// A tree as the search builds it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace certree {

class Dataset;

struct TreeNode {
  std::int32_t column = -1;  // the data set's column, -1: a leaf
  std::int32_t yes = -1;     // where the column holds
  std::int32_t no = -1;
  std::int32_t label = -1;  // of a leaf

  void set_child(bool holds, std::int32_t child) { (holds ? yes : no) = child; }
};

struct Tree {
  std::vector<TreeNode> nodes;  // node 0 is the root

  std::int32_t add(TreeNode node) {
    nodes.push_back(node);
    return static_cast<std::int32_t>(nodes.size()) - 1;
  }
  void set_children(std::int32_t node, std::int32_t yes, std::int32_t no) {
    nodes[static_cast<std::size_t>(node)].yes = yes;
    nodes[static_cast<std::size_t>(node)].no = no;
  }
  std::int32_t depth(std::int32_t node = 0) const {
    const TreeNode& n = nodes[static_cast<std::size_t>(node)];
    return n.column < 0 ? 0 : 1 + std::max(depth(n.yes), depth(n.no));
  }
  std::int64_t n_splits() const {
    std::int64_t splits = 0;
    for (const TreeNode& node : nodes) splits += node.column >= 0;
    return splits;
  }
};

// From the data set's columns to the caller's.
void name_columns(const Dataset& data, Tree& tree);

}  // namespace certree
