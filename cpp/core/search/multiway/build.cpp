// From values to trees, for tests with any number of outcomes: the best tree of depth at most two, the greedy tree, and the
// tree behind a table entry.
#include <algorithm>

#include "search/multiway/search.hpp"
#include "search/shared/remaining_depth.hpp"

namespace certree {

// Outcomes without rows stay leaves with the node's best label.
std::int32_t MultiwaySearch::split(const MultiwayFrame& f, const NodeTest& test, MultiwayTree& tree,
                                   std::int32_t slot) const {
  const auto& columns = context_.tests[static_cast<std::size_t>(test.id)];
  return tree.split(slot, test.id, n_outcomes(columns), f.label);
}

// A tree of depth at most `depth` <= 2 and value at most `target`, which must exist: the first test without any below it,
// else the first with.  The frame must be as its pass left it.  False: stopped.
bool MultiwaySearch::add_shallow_tree(std::size_t level, std::int32_t depth, Cost target, MultiwayTree& tree,
                                      std::int32_t slot) {
  MultiwayFrame& f = frame(level);
  if (f.value[0] <= target || depth <= 0) {
    tree.nodes[static_cast<std::size_t>(slot)] = {-1, -1, f.label};
    return true;
  }
  const bool is_stump = f.value[1] <= target;
  for (std::size_t t = 0; t < f.tests.size(); ++t) {
    const NodeTest test = f.tests[t];
    const auto part_at = [&](std::int32_t o) { return f.outcomes[static_cast<std::size_t>(o)].part; };
    bool is_feasible = true;
    for (std::int32_t o = test.first; o < test.last; ++o)
      is_feasible = is_feasible && !f.is_too_small[static_cast<std::size_t>(part_at(o))];
    if (!is_feasible || sum(f, test, is_stump ? f.leaf : f.upper) > target) continue;
    const std::int32_t first = split(f, test, tree, slot);
    for (std::int32_t o = test.first; o < test.last; ++o) {
      const std::int32_t part = part_at(o);
      const auto k = static_cast<std::size_t>(part);
      const std::int32_t child = first + f.outcomes[static_cast<std::size_t>(o)].number;
      MultiwayFrame& below = frame(level + 1);
      nodes_.make_child(f, part, below);
      if (is_stump || f.leaf[k] <= f.upper[k]) {
        std::int32_t label = 0;
        context_.task.leaf_cost(below.node.totals.data(), &label);
        tree.nodes[static_cast<std::size_t>(child)].label = label;
      } else {
        if (!pass_->expand(below) || !add_shallow_tree(level + 1, 1, f.upper[k], tree, child)) return false;
      }
    }
    return true;
  }
  return false;
}

void MultiwaySearch::add_leaf(std::size_t level, MultiwayTree& tree, std::int32_t slot, Cost* value) {
  std::int32_t label = 0;
  const Cost errors = context_.task.leaf_cost(frame(level).node.totals.data(), &label);
  *value = context_.settings.objective.leaf(errors);
  tree.nodes[static_cast<std::size_t>(slot)] = {-1, -1, label};
}

// The open test with the best depth-two tree; -1: none.
std::int32_t MultiwaySearch::best_guess(const MultiwayFrame& f, Greedy kind) const {
  std::int32_t best = -1;
  for (std::size_t t = 0; t < f.tests.size(); ++t) {
    if (f.closed[t] || (kind == Greedy::whole_tests && is_part_[static_cast<std::size_t>(f.tests[t].id)])) continue;
    if (best < 0 || f.guess[t] < f.guess[static_cast<std::size_t>(best)]) best = static_cast<std::int32_t>(t);
  }
  return best;
}

// The root of the best depth-two tree, then the same below, down to where the depth-two optimum is the answer.  Once the
// budget ends, what is left to do becomes leaves.
void MultiwaySearch::add_greedy_tree(std::size_t level, std::int32_t depth, Greedy kind, MultiwayTree& tree,
                                     std::int32_t slot, Cost* value) {
  MultiwayFrame& f = frame(level);
  Record record;
  if (poll() || !open_ways(level, depth, record)) return add_leaf(level, tree, slot, value);
  const std::int32_t shallow = std::clamp(depth, 0, 2);
  *value = f.value[shallow];
  const std::size_t begin = tree.nodes.size();
  const std::int32_t best = depth > 2 && !record.interval.is_exact() ? best_guess(f, kind) : -1;
  if (best >= 0) {
    const NodeTest test = f.tests[static_cast<std::size_t>(best)];
    const Fingerprint key = f.node.rows.key;
    const std::int32_t first = split(f, test, tree, slot);
    Cost total = context_.settings.objective.split_penalty + test.price;
    for (std::int32_t o = test.first; o < test.last; ++o) {
      const Outcome outcome = f.outcomes[static_cast<std::size_t>(o)];
      nodes_.make_child(f, outcome.part, frame(level + 1));
      Cost below = kInfinite;
      add_greedy_tree(level + 1, depth_below(depth), kind, tree, first + outcome.number, &below);
      total += below;
    }
    if (total < *value) {
      *value = total;
      remember(key, depth, {{0, total}, test.id}, 1);
      return;
    }
    tree.nodes.resize(begin);
  }
  if (!add_shallow_tree(level, shallow, *value, tree, slot)) {
    tree.nodes.resize(begin);
    add_leaf(level, tree, slot, value);
  }
}

// A tree of value at most `target`, known to exist.  False: stopped before it was rebuilt.
bool MultiwaySearch::add_known_tree(std::size_t level, std::int32_t depth, Cost target, MultiwayTree& tree,
                                    std::int32_t slot) {
  MultiwayFrame& f = frame(level);
  const Record stored = recall(f.node.rows.key, depth);
  Record record;
  if (!open_ways(level, depth, record)) return false;
  if (f.value[std::clamp(depth, 0, 2)] <= target)
    return add_shallow_tree(level, std::clamp(depth, 0, 2), target, tree, slot);
  if (depth <= 2) return false;
  if (stored.column >= 0 && stored.interval.upper <= target) {
    for (const NodeTest& test : f.tests)
      if (test.id == stored.column) look_up(level, depth, test);
    refresh_tests(f, record);
  }
  // A part was forgotten: search again.
  while (record.interval.upper > target && !poll())
    if (!improve_best_way(*this, level, depth, target + 1, record)) break;
  if (record.interval.upper > target || record.column < 0) return false;
  const auto found =
      std::find_if(f.tests.begin(), f.tests.end(), [&](const NodeTest& test) { return test.id == record.column; });
  const NodeTest test = *found;
  const std::int32_t first = split(f, test, tree, slot);
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const Outcome outcome = f.outcomes[static_cast<std::size_t>(o)];
    nodes_.make_child(f, outcome.part, frame(level + 1));
    const Cost value = f.upper[static_cast<std::size_t>(outcome.part)];
    if (!add_known_tree(level + 1, depth_below(depth), value, tree, first + outcome.number)) return false;
  }
  return true;
}

// Of all trees of the proven optimum `value`: the best one of depth two if there is one, else the first test at the root, then
// the same below.  It depends on values alone, so it is the same for any number of threads.  False: stopped.
bool MultiwaySearch::add_canonical_tree(std::size_t level, std::int32_t depth, Cost value, MultiwayTree& tree,
                                        std::int32_t slot) {
  MultiwayFrame& f = frame(level);
  Record record;
  if (!open_ways(level, depth, record)) return false;
  if (f.value[std::clamp(depth, 0, 2)] <= value)
    return add_shallow_tree(level, std::clamp(depth, 0, 2), value, tree, slot);
  for (std::size_t t = 0; depth > 2 && t < f.tests.size(); ++t) {
    if (f.closed[t] || f.test_lower[t] > value) continue;
    const NodeTest test = f.tests[t];
    look_up(level, depth, test);
    while (sum(f, test, f.lower) <= value && sum(f, test, f.upper) > value) {
      improve_part(level, depth, test, value + 1);
      if (context_.budget.stopped()) return false;
    }
    if (sum(f, test, f.upper) > value) continue;
    const std::int32_t first = split(f, test, tree, slot);
    for (std::int32_t o = test.first; o < test.last; ++o) {
      const Outcome outcome = f.outcomes[static_cast<std::size_t>(o)];
      nodes_.make_child(f, outcome.part, frame(level + 1));
      const Cost below = f.upper[static_cast<std::size_t>(outcome.part)];
      if (!add_canonical_tree(level + 1, depth_below(depth), below, tree, first + outcome.number)) return false;
    }
    return true;
  }
  return false;
}

void MultiwaySearch::make_canonical() {
  MultiwayTree tree{{{}}};
  nodes_.make_root(frame(0));
  if (add_canonical_tree(0, context_.depth, context_.progress.interval().upper, tree, 0))
    shared_.best = std::move(tree);
}

// The root's test is record.column; its parts' trees are in the table.
void MultiwaySearch::publish(MultiwaySearch&, const Record& record) {
  MultiwayFrame& root = frame(0);
  const auto found = std::find_if(root.tests.begin(), root.tests.end(),
                                  [&](const NodeTest& test) { return test.id == record.column; });
  if (found == root.tests.end()) return;
  const NodeTest test = *found;
  MultiwayTree tree{{{}}};
  const std::int32_t first = split(root, test, tree, 0);
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const Outcome outcome = root.outcomes[static_cast<std::size_t>(o)];
    nodes_.make_child(root, outcome.part, frame(1));
    const Cost value = root.upper[static_cast<std::size_t>(outcome.part)];
    if (!add_known_tree(1, depth_below(context_.depth), value, tree, first + outcome.number)) return;
  }
  keep(record.interval.upper, std::move(tree));
}

}  // namespace certree
