// From values to trees: the depth-two tree of a node, and the tree behind a table entry.
#include <algorithm>

#include "search/columns/worker.hpp"

namespace certree {

namespace {

std::int32_t add_leaf(Tree& tree, std::int32_t label) { return tree.add({-1, -1, -1, label}); }

}  // namespace

std::int32_t local_column(const Node& node, std::int32_t column) {
  const std::int32_t* begin = node.column.data();
  const std::int32_t* end = begin + node.n_columns;
  const std::int32_t* found = std::lower_bound(begin, end, column);
  return found != end && *found == column ? static_cast<std::int32_t>(found - begin) : -1;
}

// Of equal values the fewest splits, hence the least depth.
std::int32_t Worker::add_depth_two_tree(std::size_t level, std::int32_t depth, Tree& tree) {
  const SplitErrors& errors = frame(level).expansion.errors;
  const Cost value = shallow_value(errors, depth);
  std::size_t k = 0;
  while (context_.objective.leaf(errors[k]) + static_cast<Cost>(k) * context_.objective.split_penalty != value) ++k;
  return add_shallow_tree(level, k, errors[k], tree);
}

std::int32_t Worker::add_shallow_tree(std::size_t level, std::size_t splits, Cost errors, Tree& tree) {
  Frame& f = frame(level);
  const Expansion& e = f.expansion;
  std::int32_t label = 0;
  if (splits == 0) {
    depth_two_->leaf_cost(f.node, &label);
    return add_leaf(tree, label);
  }
  for (std::int32_t s = 0; s < f.node.n_columns; ++s) {
    const auto k = static_cast<std::size_t>(s);
    if (e.yes0[k] >= kInfinite) continue;
    // Which sides are split once more: none, the no side, the yes side, both.
    for (int below = 0; below < 4; ++below) {
      const bool split_yes = (below & 2) != 0, split_no = (below & 1) != 0;
      if (1 + std::size_t{split_yes} + std::size_t{split_no} != splits) continue;
      const Cost test = e.has_tests ? e.tests[k] : 0;
      if (test + (split_yes ? e.yes1[k] : e.yes0[k]) + (split_no ? e.no1[k] : e.no0[k]) != errors) continue;
      const std::int32_t root = tree.add({f.node.column[k], -1, -1, -1});
      for (const int holds : {1, 0}) {
        descend(level, s, holds != 0);
        const std::int32_t child = add_stump(level + 1, holds != 0 ? split_yes : split_no, tree);
        tree.nodes[static_cast<std::size_t>(root)].set_child(holds != 0, child);
      }
      return root;
    }
  }
  return -1;
}

// The node in frame(level) as a leaf, or with its first best split.
std::int32_t Worker::add_stump(std::size_t level, bool splits, Tree& tree) {
  std::int32_t label = 0, column = -1;
  const Node& node = frame(level).node;
  if (splits) depth_two_->best_split(node, &column);
  if (column < 0) {
    depth_two_->leaf_cost(node, &label);
    return add_leaf(tree, label);
  }
  const std::int32_t root = tree.add({node.column[static_cast<std::size_t>(column)], -1, -1, -1});
  for (const int holds : {1, 0}) {
    descend(level, column, holds != 0);
    const std::int32_t leaf = add_stump(level + 1, false, tree);
    tree.nodes[static_cast<std::size_t>(root)].set_child(holds != 0, leaf);
  }
  return root;
}

// Values of trees for both children of a split that are known without search, if together they meet the target.
bool Worker::known_children(std::size_t level, std::int32_t split, std::int32_t depth, Cost target, Cost values[2]) {
  Frame& f = frame(level);
  Scratch& s = scratch(level);
  for (const int holds : {0, 1}) {
    values[holds] = f.child_upper[holds][static_cast<std::size_t>(split)];
    child_rows(f, split, holds != 0, s.rows[holds]);
    for (std::int32_t below = depth_below(depth); below > 1; below = below == kUnlimitedDepth ? 0 : below - 1) {
      Record stored;
      if (context_.table.find(mix(s.rows[holds].key, static_cast<std::uint64_t>(below)), stored))
        values[holds] = std::min(values[holds], stored.interval.upper);
    }
  }
  return value_of_split(f, static_cast<std::size_t>(split), values[0] + values[1]) <= target;
}

bool Worker::add_known_tree(std::size_t level, std::int32_t depth, Cost target, Tree& tree, std::int32_t* root) {
  Frame& f = frame(level);
  if (depth <= 2) {
    if (!expand(f)) return false;
    *root = add_depth_two_tree(level, depth, tree);
    return true;
  }
  const Fingerprint key = f.node.rows.key;
  Record record;
  const auto find = [&] {
    return context_.table.find(mix(key, static_cast<std::uint64_t>(depth)), record) && record.interval.upper <= target;
  };
  if (!find()) {
    // Stored for one level less, never stored because a first bound was exact, or forgotten: search again.
    Record shallow;
    if (depth > 3 && depth != kUnlimitedDepth &&
        context_.table.find(mix(key, static_cast<std::uint64_t>(depth - 1)), shallow) &&
        shallow.interval.upper <= target) {
      return add_known_tree(level, depth - 1, target, tree, root);
    }
    if (!expand(f)) return false;
    if (shallow_value(f.expansion.errors, 2) <= target) {
      *root = add_depth_two_tree(level, 2, tree);
      return true;
    }
    solve(level, depth, target + 1);
    if (!find()) return false;
  }
  if (record.column == kShallowTree) return add_known_tree(level, depth - 1, target, tree, root);
  if (record.column < 0) {
    if (!expand(f)) return false;
    *root = add_depth_two_tree(level, 2, tree);
    return true;
  }
  const std::int32_t split = local_column(f.node, record.column);
  if (split < 0) return false;
  Record opened;
  if (!open(level, depth, opened)) return false;
  Cost values[2];
  if (!known_children(level, split, depth, target, values)) {
    // A part was forgotten: with a ceiling just above the target, try_split leaves both children's values behind.
    if (try_split(level, split, depth, target + 1).upper > target) return false;
    for (const int holds : {0, 1}) values[holds] = child(level, holds != 0).interval.upper;
  }
  const std::int32_t index = tree.add({record.column, -1, -1, -1});
  for (const int holds : {1, 0}) {
    descend(level, split, holds != 0);
    std::int32_t below = -1;
    if (!add_known_tree(level + 1, depth_below(depth), values[holds], tree, &below)) return false;
    tree.nodes[static_cast<std::size_t>(index)].set_child(holds != 0, below);
  }
  *root = index;
  return true;
}

// The canonical tree: of all optimal trees the one with the fewest splits (part of the value, base/cost.hpp), then the
// least depth, then the first column at the root, then the same below under the depth that is left.  It depends on
// values alone, so it is the same for every order of search, number of threads and processor.
bool Worker::add_canonical_tree(std::size_t level, std::int32_t depth, Cost value, Tree& tree, std::int32_t* root) {
  Frame& f = frame(level);
  if (!expand(f)) return false;
  if (depth <= 2 || shallow_value(f.expansion.errors, 2) <= value) {
    *root = add_depth_two_tree(level, std::min(depth, 2), tree);
    return true;
  }
  if (depth != kUnlimitedDepth) {
    for (std::int32_t less = 3; less < depth; ++less) {
      const Interval found = solve(level, less, value + 1);
      if (context_.budget.stopped()) return false;
      if (found.upper <= value) depth = less;
    }
  }
  Record record;
  Cost shallow_lower = 0;
  recall(f.node.rows.key, depth, &shallow_lower);
  if (!open(level, depth, record, shallow_lower)) return false;
  for (std::int32_t s = 0; s < f.node.n_columns; ++s) {
    if (f.closed[static_cast<std::size_t>(s)] || f.lower[static_cast<std::size_t>(s)] > value) continue;
    const Interval found = try_split(level, s, depth, value + 1);
    if (context_.budget.stopped()) return false;
    if (found.upper > value) {
      keep_children(level, s);
      close_split(f, s, found, record);
      continue;
    }
    const Cost values[] = {child(level, false).interval.upper, child(level, true).interval.upper};
    const std::int32_t index = tree.add({f.node.column[static_cast<std::size_t>(s)], -1, -1, -1});
    for (const int holds : {1, 0}) {
      descend(level, s, holds != 0);
      std::int32_t below = -1;
      if (!add_canonical_tree(level + 1, depth_below(depth), values[holds], tree, &below)) return false;
      tree.nodes[static_cast<std::size_t>(index)].set_child(holds != 0, below);
    }
    *root = index;
    return true;
  }
  return false;
}

}  // namespace certree
