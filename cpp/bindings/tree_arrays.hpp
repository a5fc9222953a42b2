// A tree as arrays.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "solver.hpp"

namespace certree {

// The tree with children side by side: [test, first_child, label].
struct TreeArrays {
  std::vector<std::int32_t> test, first_child, label;
};

inline TreeArrays lay_out(const Tree& tree) {
  TreeArrays out;
  const std::size_t n = tree.nodes.size();
  out.test.assign(n, -1);
  out.first_child.assign(n, -1);
  out.label.assign(n, -1);
  if (n == 0) return out;                                           // nothing better than what the caller knew
  std::vector<std::pair<std::int32_t, std::size_t>> queue{{0, 0}};  // (node, position)
  std::int32_t next = 1;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto [index, position] = queue[head];
    const TreeNode& node = tree.nodes[static_cast<std::size_t>(index)];
    out.test[position] = node.column;
    out.label[position] = node.label;
    if (node.column < 0) continue;
    out.first_child[position] = next;
    queue.emplace_back(node.yes, static_cast<std::size_t>(next));
    queue.emplace_back(node.no, static_cast<std::size_t>(next + 1));
    next += 2;
  }
  return out;
}

}  // namespace certree
