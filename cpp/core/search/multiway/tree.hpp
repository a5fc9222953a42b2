// Tests with any number of outcomes, what trees of them cost, and such trees.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"

namespace certree {

// The caller's columns of each test, one per outcome, which partition the rows; a single column is a test with two
// outcomes, "holds" and "does not hold".
using ColumnTests = std::vector<std::vector<std::int32_t>>;

inline std::int32_t n_outcomes(const std::vector<std::int32_t>& columns) {
  return columns.size() == 1 ? 2 : static_cast<std::int32_t>(columns.size());
}

//     value = error_scale * cost + split_penalty * splits + leaf_penalty * leaves,   leaves with rows only.
struct MultiwayObjective {
  Cost error_scale = 1;
  Cost split_penalty = 0;
  Cost leaf_penalty = 0;

  Cost leaf(Cost errors) const { return error_scale * errors + leaf_penalty; }
  Cost errors(Cost errors) const { return error_scale * errors; }
  // Least value with at least this many splits: every split has at least two outcomes with rows, so there is one leaf more.
  Cost at_least(Cost unavoidable, int splits) const {
    return error_scale * unavoidable + splits * split_penalty + (splits + 1) * leaf_penalty;
  }
};

struct MultiwayTreeNode {
  std::int32_t test = -1;         // -1: a leaf
  std::int32_t first_child = -1;  // one child per outcome, in their order
  std::int32_t label = -1;        // of a leaf
};

struct MultiwayTree {
  std::vector<MultiwayTreeNode> nodes;  // node 0 is the root; children come after their parent

  // Makes a node ask a test; returns its first child.  The children are leaves with `label` until they are changed.
  std::int32_t split(std::int32_t node, std::int32_t test, std::int32_t outcomes, std::int32_t label) {
    const auto first = static_cast<std::int32_t>(nodes.size());
    nodes.resize(nodes.size() + static_cast<std::size_t>(outcomes), MultiwayTreeNode{-1, -1, label});
    nodes[static_cast<std::size_t>(node)] = {test, first, -1};
    return first;
  }
};

// One point of the error-versus-splits curve.
struct MultiwayPathEntry {
  std::int64_t splits = 0;
  Cost lower = 0, upper = 0;  // leaf cost
  MultiwayTree tree;
};

}  // namespace certree
