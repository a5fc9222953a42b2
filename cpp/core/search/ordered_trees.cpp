// Trees of the search over ordered features: the first one, and those whose value is known.
#include <algorithm>

#include "search/ordered_search.hpp"

namespace certree {

std::int32_t OrderedSearch::add_leaf(const OrderedRows& rows, Tree& tree) {
  std::int32_t label = 0;
  depth_two_->leaf_value(rows, &label);
  return tree.add({-1, -1, -1, label});
}

// A better tree with this root test at the whole problem.
void OrderedSearch::publish(std::size_t k, std::int32_t depth, OrderedSplit split, Cost value) {
  Tree tree;
  std::int32_t root = -1;
  if (add_sides(k, depth, split, value, tree, &root)) progress_.improve(value, std::move(tree));
}

// Adds a tree of this value with this root test.  False: stopped before it was rebuilt.
bool OrderedSearch::add_sides(std::size_t k, std::int32_t depth, OrderedSplit split, Cost value, Tree& tree,
                              std::int32_t* root) {
  OrderedNode& node = level(k).node;
  const std::int32_t* order = node.order(split.feature);
  const std::int32_t* ranks = data_.ranks(split.feature);
  const std::int32_t position = static_cast<std::int32_t>(
      std::partition_point(order, order + node.n_rows(), [&](std::int32_t row) { return ranks[row] <= split.rank; }) -
      order);
  Fingerprint keys[2] = {};
  for (std::int32_t i = 0; i < position; ++i) add_key(keys[0], data_.key(order[i]));
  keys[1] = less_key(node.key(), keys[0]);
  *root = tree.add({data_.test(split.feature, split.rank), -1, -1, -1});
  // The values of the sides: known, or found again.
  const Cost room = value - objective_.split_penalty;
  OrderedFound found[2];
  for (int s = 0; s < 2; ++s) {
    if (depth - 1 < 2) continue;
    std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
    found[s] = solve_side(side_of(k, split.feature, position, s == 0, keys[s]), depth - 1,
                          room - found[1 - s].lower + 1, by.data());
    if (found[s].upper > room) return false;
  }
  for (int s = 0; s < 2; ++s) {
    level(k + 1).node.make_child(node, split.feature, split.rank, s == 0);
    std::int32_t below = -1;
    if (!add_known(k + 1, depth - 1, found[s].upper, tree, &below)) return false;
    tree.nodes[static_cast<std::size_t>(*root)].set_child(s == 0, below);
  }
  return true;
}

// Adds the best tree of the node at level k, whose value is known to be this one.
bool OrderedSearch::add_known(std::size_t k, std::int32_t depth, Cost value, Tree& tree, std::int32_t* root) {
  const OrderedRows rows = all_rows(k);
  std::int32_t label = 0;
  if (depth == 0 || (depth >= 2 && depth_two_->leaf_value(rows, &label) <= value)) {
    *root = add_leaf(rows, tree);
    return true;
  }
  OrderedSplit split;
  if (depth == 1) {
    depth_two_->best_split(rows, &split);
  } else if (depth == 2) {
    std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
    const OrderedFound found = depth_two_->solve(rows, value + 1, by.data(), &split);
    if (found.upper > value) return false;
  } else {
    std::int32_t test = kNoTree;
    const OrderedFound known = recall(level(k).node.key(), depth, &test);
    if (known.upper > value || test < 0) {
      std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
      if (search(k, depth, value + 1, by.data(), kInfinite).upper > value) return false;
      split = level(k).split;
    } else {
      split = {data_.feature_of(test), data_.position_of(test)};
    }
  }
  if (split.feature < 0) {
    *root = add_leaf(all_rows(k), tree);
    return true;
  }
  return add_sides(k, depth, split, value, tree, root);
}

// Adds a tree whose tests are the roots of the best trees of depth two of the rows that reach them, and which ends with
// such trees.  Once the budget is used up, single tests must do.  Returns its value.
Cost OrderedSearch::add_greedy(std::size_t k, std::int32_t depth, Tree& tree, std::int32_t* root) {
  const OrderedRows rows = all_rows(k);
  OrderedSplit split;
  Cost value = 0;
  if (depth == 0) {
    std::int32_t label = 0;
    value = depth_two_->leaf_value(rows, &label);
  } else if (depth == 1) {
    value = depth_two_->best_split(rows, &split);
  } else {
    std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
    const OrderedFound found = depth_two_->solve(rows, kInfinite, by.data(), &split);
    value = found.upper;
    if (k == 0 && depth == 2 && is_last_) progress_.raise(std::min(found.lower, value));
  }
  if (split.feature < 0) {
    *root = add_leaf(rows, tree);
    return value;
  }
  *root = tree.add({data_.test(split.feature, split.rank), -1, -1, -1});
  Cost sum = objective_.split_penalty;
  for (int s = 0; s < 2; ++s) {
    level(k + 1).node.make_child(level(k).node, split.feature, split.rank, s == 0);
    std::int32_t below = -1;
    sum += add_greedy(k + 1, poll() ? std::min(depth - 1, 1) : depth - 1, tree, &below);
    tree.nodes[static_cast<std::size_t>(*root)].set_child(s == 0, below);
  }
  return sum;
}

}  // namespace certree
