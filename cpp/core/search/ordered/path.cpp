// The best tree of the search over ordered features for every number of splits.
//
// The numbers are taken from the largest down.  What one has proven bounds the next, its tree less some splits is a first tree
// of the next, and the subproblems in the table bound those with fewer splits.
#include <algorithm>
#include <new>

#include "search/ordered/grower.hpp"
#include "search/ordered/search.hpp"
#include "search/shared/improver.hpp"
#include "search/shared/sized_trees.hpp"

namespace certree {

namespace {

// A bound of a value as one of the leaves' cost, with at most so many splits.
Cost leaf_bound(const Objective& objective, Cost value, std::int64_t splits) {
  const Cost rest = value - splits * objective.split_penalty;
  return rest <= 0 ? 0 : (rest + objective.error_scale - 1) / objective.error_scale;
}

}  // namespace

void OrderedSearch::offer_grown(const SizedTrees& grown, std::int64_t splits) {
  const auto k = static_cast<std::size_t>(splits);
  if (grown.cost(k) >= kInfinite) return;
  const Tree& tree = grown.tree(k);
  goal_->improve(objective_.leaf(grown.cost(k)) + tree.n_splits() * objective_.split_penalty, tree);
}

// `entry` has a bound from more splits.
void OrderedSearch::prove_entry(Shape shape, Improver& improver, const SizedTrees& grown, PathEntry& entry) {
  Progress goal(budget_, {}, 0);
  goal_ = &goal;
  most_splits_ = shape.splits;
  offer_grown(grown, entry.splits);
  if (grown.cost(static_cast<std::size_t>(entry.splits)) > entry.lower && !budget_.stopped()) {
    try {
      search_entry(shape, improver);
    } catch (const std::bad_alloc&) {
      budget_.stop(StopReason::memory);
    }
    entry.lower = std::max(entry.lower, leaf_bound(objective_, goal.interval().lower, entry.splits));
  }
  entry.tree = goal.tree();
  entry.upper = leaf_bound(objective_, goal.interval().upper, entry.tree.n_splits());
  entry.lower = std::min(entry.lower, entry.upper);
  goal_ = &progress_;
}

void OrderedSearch::search_entry(Shape shape, Improver& improver) {
  is_last_ = true;
  if (shape.depth <= 2) {
    search_shallow_root(shape);
  } else {
    prove(shape, shape.depth, improver);
  }
  if (options_.smallest && goal_->interval().is_exact()) lessen_depth(shape.splits);
}

std::vector<PathEntry> OrderedSearch::run_path(Shape shape, Counters& counters, bool* is_whole) {
  has_sizes_ = true;
  std::int32_t label = 0;
  progress_.show_leaf(depth_two_->leaf_value(all_rows(0), &label));
  OrderedGrower grower(*this);
  Progress grown_progress(budget_, {}, 0);  // one entry that is proven says nothing of the others
  ImproverState state;
  Improver improver(grower, std::min(shape.depth, kDeepestGrown), shape.splits, options_, objective_, budget_,
                    grown_progress, state);
  SizedTrees grown(objective_, static_cast<std::size_t>(shape.splits) + 1);
  std::int64_t at = shape.splits;
  improver.watch([&](const GrownTree& tree) {
    grown.offer(tree);
    if (goal_ != &progress_) offer_grown(grown, at);
  });
  improver.start();
  std::vector<PathEntry> entries(static_cast<std::size_t>(shape.splits) + 1);
  Cost lower = 0;
  for (; at >= 0; --at) {
    PathEntry& entry = entries[static_cast<std::size_t>(at)];
    entry.splits = at;
    entry.lower = lower;
    const bool is_searched = !budget_.stopped();
    prove_entry(Shape::of(shape.depth, at), improver, grown, entry);
    lower = entry.lower;
    if (is_searched && !entry.tree.nodes.empty()) grown.offer(measure(grower, 0, entry.tree));
  }
  *is_whole = true;
  std::vector<PathEntry> path;
  for (PathEntry& entry : entries) {
    *is_whole = *is_whole && entry.lower == entry.upper;
    if (entry.tree.nodes.empty()) continue;
    if (path.empty() || entry.upper < path.back().upper) path.push_back(std::move(entry));
  }
  add_counters(counters);
  return path;
}

}  // namespace certree
