#include "search/ordered/trees.hpp"

#include <algorithm>
#include <iterator>

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
Cost OrderedTrees::add_stump(OrderedNode& node, const std::vector<std::int32_t>& rows, std::int32_t depth, Tree& tree,
                             std::int32_t* root) {
  const auto n_rows = static_cast<std::int32_t>(rows.size());
  const OrderedRows part = search_.part_of(node, rows.data(), n_rows);
  std::int32_t label = 0;
  OrderedSplit split;
  Cost value = search_.depth_two().leaf_value(part, &label);
  if (depth > 0) value = search_.depth_two().best_split(part, &split).upper;
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

Cost OrderedTrees::add_sides(std::size_t k, const OrderedQuestion& question, OrderedSplit split, Tree& tree,
                             std::int32_t* root) {
  OrderedNode& node = search_.node(k);
  const std::int32_t* order = node.order(split.feature);
  const std::int32_t* ranks = data_.ranks(split.feature);
  const std::int32_t position = static_cast<std::int32_t>(
      std::partition_point(order, order + node.n_rows(), [&](std::int32_t row) { return ranks[row] <= split.rank; }) -
      order);
  *root = tree.add({data_.test(split.feature, split.rank), -1, -1, -1});
  if (question.shape.depth <= 2) return add_stumps(k, question.shape, split, position, tree, *root);
  Fingerprint keys[2] = {};
  for (std::int32_t i = 0; i < position; ++i) add_key(keys[0], data_.key(order[i]));
  keys[1] = less_key(node.key(), keys[0]);
  const Cost value = question.known_upper;
  std::vector<Division> divisions;
  list_divisions(question.shape, divisions);
  Cost least = kInfinite, uppers[2] = {kInfinite, kInfinite};
  std::size_t best = 0;
  for (std::size_t j = 0; j < divisions.size() && (j == 0 || least > value); ++j) {
    OrderedFound found[2];
    for (int s = 0; s < 2; ++s) {
      std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
      const Cost ceiling = value - objective_.split_penalty - found[1 - s].lower + 1;
      const OrderedSide side = search_.side_of(k, split.feature, position, s == 0, keys[s]);
      found[s] = search_.solve_side(side, question.of_side(divisions[j].side[s], ceiling), by.data());
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
    search_.node(k + 1).make_child(node, split.feature, split.rank, s == 0);
    OrderedQuestion known = question.of_side(divisions[best].side[s], kInfinite);
    known.known_upper = uppers[s];
    sum += add_known(k + 1, known, tree, &below);
    tree.nodes[static_cast<std::size_t>(*root)].set_child(s == 0, below);
  }
  return sum;
}

// The same below a root of two levels at most, without nodes.
Cost OrderedTrees::add_stumps(std::size_t k, Shape shape, OrderedSplit split, std::int32_t position, Tree& tree,
                              std::int32_t root) {
  OrderedNode& node = search_.node(k);
  const std::int32_t* order = node.order(split.feature);
  const std::vector<std::int32_t> rows[2] = {{order, order + position}, {order + position, order + node.n_rows()}};
  std::int32_t levels[2] = {shape.depth - 1, shape.depth - 1};
  if (shape.depth == 2 && !shape.is_full()) {  // one side has a split, the other is a leaf
    Cost leaf[2], best[2];
    for (int s = 0; s < 2; ++s) {
      Tree unused;
      std::int32_t label = 0, top = -1;
      leaf[s] = search_.depth_two().leaf_value(
          search_.part_of(node, rows[s].data(), static_cast<std::int32_t>(rows[s].size())), &label);
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

// The best tree of the node at level k, where one of value question.known_upper exists.
Cost OrderedTrees::add_known(std::size_t k, const OrderedQuestion& question, Tree& tree, std::int32_t* root) {
  const Shape shape = question.shape;
  const Cost value = question.known_upper;
  const OrderedRows rows = search_.all_rows(k);
  if (shape.depth < 2) return add_stump(search_.node(k), {rows.rows, rows.rows + rows.n_rows}, shape.depth, tree, root);
  std::int32_t label = 0, test = kNoTree;
  const Cost leaf = search_.depth_two().leaf_value(rows, &label);
  OrderedSplit split;
  std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
  if (leaf > value && shape.depth == 2) {
    search_.depth_two().solve(rows, shape.splits, value + 1, by.data(), &split);
  } else if (leaf > value) {
    const OrderedFound known = search_.recall(search_.node(k).key(), shape, &test);
    if (known.upper <= value && test >= 0) {
      split = {data_.feature_of(test), data_.position_of(test)};
    } else {
      OrderedQuestion again = question;
      again.ceiling = value + 1;
      again.known_upper = kInfinite;
      search_.search(k, again, by.data(), &split);
    }
  }
  if (split.feature >= 0) return add_sides(k, question, split, tree, root);
  *root = tree.add({-1, -1, -1, label});
  return leaf;
}

Cost OrderedTrees::add_shallow(std::size_t k, Shape shape, Tree& tree, std::int32_t* root, Cost* lower) {
  const OrderedRows rows = search_.all_rows(k);
  OrderedQuestion question{shape};
  OrderedSplit split;
  OrderedFound found;
  if (shape.depth == 2) {
    std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
    found = search_.depth_two().solve(rows, shape.splits, kInfinite, by.data(), &split);
  }
  Cost value = 0;
  if (split.feature >= 0) {
    question.known_upper = found.upper;
    value = add_sides(k, question, split, tree, root);
  } else {
    const std::int32_t depth = shape.depth == 2 ? 0 : shape.depth;
    value = add_stump(search_.node(k), {rows.rows, rows.rows + rows.n_rows}, depth, tree, root);
  }
  *lower = shape.depth == 2 ? std::min(found.lower, found.upper) : value;
  return value;
}

Cost OrderedTrees::add_best(std::size_t k, const OrderedQuestion& question, Tree& tree, std::int32_t* root) {
  if (!search_.node(k).is_complete()) return kInfinite;
  const Budget& budget = search_.context().budget;
  if (question.shape.depth <= 2) {
    Cost lower = 0;
    const Cost value = add_shallow(k, question.shape, tree, root, &lower);
    return budget.stopped() ? kInfinite : value;
  }
  OrderedQuestion asked = question;
  OrderedFound found = search_.recall(search_.node(k).key(), question.shape, nullptr);
  if (found.lower < found.upper) {
    asked.known_upper = found.upper;
    OrderedSplit split;
    found = search_.search_and_remember(k, asked, &split);
  }
  if (found.lower < found.upper) return kInfinite;
  asked.known_upper = found.upper;
  const Cost value = add_known(k, asked, tree, root);
  return budget.stopped() ? kInfinite : value;
}

}  // namespace certree
