// Trees of the search over ordered features: the first one, and those whose value is known.
#include <algorithm>
#include <iterator>
#include <vector>

#include "search/ordered/search.hpp"

namespace certree {

namespace {

std::vector<std::int32_t> rows_where(const std::vector<std::int32_t>& rows, const std::int32_t* ranks,
                                     std::int32_t rank, bool holds) {
  std::vector<std::int32_t> out;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
               [&](std::int32_t row) { return (ranks[row] <= rank) == holds; });
  return out;
}

}  // namespace

// Adds the best tree of depth one at most for some rows of a node, without another node.  Returns its value.
Cost OrderedSearch::add_stump(OrderedNode& node, const std::vector<std::int32_t>& rows, std::int32_t depth, Tree& tree,
                              std::int32_t* root) {
  const auto n_rows = static_cast<std::int32_t>(rows.size());
  const OrderedRows part = part_of(node, rows.data(), n_rows);
  std::int32_t label = 0;
  OrderedSplit split;
  Cost value = depth_two_->leaf_value(part, &label);
  if (depth > 0) value = depth_two_->best_split(part, &split).upper;
  *root = tree.add(
      {split.feature < 0 ? -1 : data_.test(split.feature, split.rank), -1, -1, split.feature < 0 ? label : -1});
  if (split.feature < 0) return value;
  for (const bool holds : {true, false}) {
    std::int32_t below = -1;
    add_stump(node, rows_where(rows, data_.ranks(split.feature), split.rank, holds), 0, tree, &below);
    tree.nodes[static_cast<std::size_t>(*root)].set_child(holds, below);
  }
  return value;
}

// A better tree with this root test at the whole problem.  Solving its sides again may find an even better one, or, where the
// budget ends, a worse one.
void OrderedSearch::publish(std::size_t k, Shape shape, OrderedSplit split, Cost value) {
  Tree tree;
  std::int32_t root = -1;
  const Cost actual = add_sides(k, shape, split, value, tree, &root);
  goal_->improve(actual, std::move(tree));
  level(k).best = std::min(level(k).best, actual);
}

// Adds the best tree with this root test that the table or a search knows; one of this value exists.  Returns the value of what
// was added.
Cost OrderedSearch::add_sides(std::size_t k, Shape shape, OrderedSplit split, Cost value, Tree& tree,
                              std::int32_t* root) {
  OrderedNode& node = level(k).node;
  const std::int32_t* order = node.order(split.feature);
  const std::int32_t* ranks = data_.ranks(split.feature);
  const std::int32_t position = static_cast<std::int32_t>(
      std::partition_point(order, order + node.n_rows(), [&](std::int32_t row) { return ranks[row] <= split.rank; }) -
      order);
  *root = tree.add({data_.test(split.feature, split.rank), -1, -1, -1});
  if (shape.depth <= 2) return add_stumps(k, shape, split, position, tree, *root);
  Fingerprint keys[2] = {};
  for (std::int32_t i = 0; i < position; ++i) add_key(keys[0], data_.key(order[i]));
  keys[1] = less_key(node.key(), keys[0]);
  std::vector<Division> divisions;
  list_divisions(shape, divisions);
  Cost least = kInfinite, uppers[2] = {kInfinite, kInfinite};
  std::size_t best = 0;
  for (std::size_t j = 0; j < divisions.size() && (j == 0 || least > value); ++j) {
    OrderedFound found[2];
    for (int s = 0; s < 2; ++s) {
      std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
      const Cost ceiling = value - objective_.split_penalty - found[1 - s].lower + 1;
      found[s] =
          solve_side(side_of(k, split.feature, position, s == 0, keys[s]), divisions[j].side[s], ceiling, by.data());
    }
    if (found[0].upper >= kInfinite || found[1].upper >= kInfinite) continue;
    const Cost sum = objective_.split(found[0].upper + found[1].upper);
    if (sum >= least) continue;
    least = sum;
    best = j;
    for (int s = 0; s < 2; ++s) uppers[s] = found[s].upper;
  }
  Cost sum = objective_.split_penalty;
  for (int s = 0; s < 2; ++s) {
    std::int32_t below = -1;
    level(k + 1).node.make_child(node, split.feature, split.rank, s == 0);
    sum += add_known(k + 1, divisions[best].side[s], uppers[s], tree, &below);
    tree.nodes[static_cast<std::size_t>(*root)].set_child(s == 0, below);
  }
  return sum;
}

// The same below a root of two levels at most, without nodes.
Cost OrderedSearch::add_stumps(std::size_t k, Shape shape, OrderedSplit split, std::int32_t position, Tree& tree,
                               std::int32_t root) {
  OrderedNode& node = level(k).node;
  const std::int32_t* order = node.order(split.feature);
  const std::vector<std::int32_t> rows[2] = {{order, order + position}, {order + position, order + node.n_rows()}};
  std::int32_t levels[2] = {shape.depth - 1, shape.depth - 1};
  if (shape.depth == 2 && !shape.is_full()) {  // one side has a split, the other is a leaf
    Cost leaf[2], best[2];
    for (int s = 0; s < 2; ++s) {
      Tree unused;
      std::int32_t label = 0, top = -1;
      leaf[s] =
          depth_two_->leaf_value(part_of(node, rows[s].data(), static_cast<std::int32_t>(rows[s].size())), &label);
      best[s] = add_stump(node, rows[s], 1, unused, &top);
    }
    levels[best[0] + leaf[1] <= leaf[0] + best[1] ? 1 : 0] = 0;
  }
  Cost sum = objective_.split_penalty;
  for (int s = 0; s < 2; ++s) {
    std::int32_t below = -1;
    sum += add_stump(node, rows[s], levels[s], tree, &below);
    tree.nodes[static_cast<std::size_t>(root)].set_child(s == 0, below);
  }
  return sum;
}

// Adds the best tree of the node at level k whose value is known to be this one at most.  Returns the value of what was added.
Cost OrderedSearch::add_known(std::size_t k, Shape shape, Cost value, Tree& tree, std::int32_t* root) {
  const OrderedRows rows = all_rows(k);
  if (shape.depth < 2) return add_stump(level(k).node, {rows.rows, rows.rows + rows.n_rows}, shape.depth, tree, root);
  std::int32_t label = 0, test = kNoTree;
  const Cost leaf = depth_two_->leaf_value(rows, &label);
  OrderedSplit split;
  std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
  if (leaf > value && shape.depth == 2) {
    depth_two_->solve(rows, shape.splits, value + 1, by.data(), &split);
  } else if (leaf > value) {
    const OrderedFound known = recall(level(k).node.key(), shape, &test);
    if (known.upper <= value && test >= 0) {
      split = {data_.feature_of(test), data_.position_of(test)};
    } else {
      search(k, shape, value + 1, by.data(), kInfinite);
      split = level(k).split;
    }
  }
  if (split.feature >= 0) return add_sides(k, shape, split, value, tree, root);
  *root = tree.add({-1, -1, -1, label});
  return leaf;
}

// Adds the best tree of depth two at most and returns its value; once the budget is used up, the best that is known.
Cost OrderedSearch::add_shallow(std::size_t k, Shape shape, Tree& tree, std::int32_t* root) {
  const OrderedRows rows = all_rows(k);
  OrderedSplit split;
  OrderedFound found;
  if (shape.depth == 2) {
    std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
    found = depth_two_->solve(rows, shape.splits, kInfinite, by.data(), &split);
  }
  Cost value = 0;
  if (split.feature >= 0) {
    value = add_sides(k, shape, split, found.upper, tree, root);
  } else {
    const std::int32_t depth = shape.depth == 2 ? 0 : shape.depth;
    value = add_stump(level(k).node, {rows.rows, rows.rows + rows.n_rows}, depth, tree, root);
  }
  if (k == 0 && is_last_) goal_->raise(shape.depth == 2 ? std::min(found.lower, found.upper) : value);
  return value;
}

Cost OrderedSearch::best_tree(std::size_t k, std::int32_t depth, Tree& tree, std::int32_t* root) {
  if (!level(k).node.is_complete()) return kInfinite;
  is_last_ = false;  // what is proven here holds for this depth and these rows
  const Shape shape = Shape::full(depth);
  if (depth <= 2) {
    const Cost value = add_shallow(k, shape, tree, root);
    return budget_.stopped() ? kInfinite : value;
  }
  const Fingerprint key = level(k).node.key();
  OrderedFound found = recall(key, shape, nullptr);
  if (found.lower < found.upper) {
    const std::int64_t before = budget_.work();
    std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
    found = search(k, shape, kInfinite, by.data(), found.upper);
    remember(key, shape, found, test_of(level(k).split), budget_.work() - before);
  }
  if (found.lower < found.upper) return kInfinite;
  const Cost value = add_known(k, shape, found.upper, tree, root);
  return budget_.stopped() ? kInfinite : value;
}

}  // namespace certree
