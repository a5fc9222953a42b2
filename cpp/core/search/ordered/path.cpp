// The best tree of the search over ordered features for every number of splits.
//
// The numbers are taken from the largest down.  What one has proven bounds the next, its tree less some splits is a first tree
// of the next, and the subproblems in the table bound those with fewer splits.
#include <algorithm>
#include <new>

#include "search/ordered/grower.hpp"
#include "search/ordered/rounds.hpp"
#include "search/shared/improver.hpp"
#include "search/shared/sized_trees.hpp"

namespace certree {

namespace {

// A bound of a value as one of the leaves' cost, with at most so many splits.
Cost leaf_bound(const Objective& objective, Cost value, std::int64_t splits) {
  const Cost rest = value - splits * objective.split_penalty;
  return rest <= 0 ? 0 : (rest + objective.error_scale - 1) / objective.error_scale;
}

void offer_grown(const Objective& objective, const SizedTrees& grown, std::int64_t splits, Progress& goal) {
  const auto k = static_cast<std::size_t>(splits);
  if (grown.cost(k) >= kInfinite) return;
  const Tree& tree = grown.tree(k);
  goal.improve(objective.leaf(grown.cost(k)) + tree.n_splits() * objective.split_penalty, tree);
}

}  // namespace

std::vector<PathEntry> run_ordered_path(const OrderedContext& context, Shape shape, Counters& counters,
                                        bool* is_whole) {
  const Objective& objective = context.objective;
  Budget& budget = context.budget;
  OrderedSearch search(context);
  std::int32_t label = 0;
  context.progress.show_leaf(search.depth_two().leaf_value(search.all_rows(0), &label));
  OrderedGrower grower(search);
  Progress grown_progress(budget, {}, 0);  // one entry that is proven says nothing of the others
  ImproverState state;
  Improver improver(grower, std::min(shape.depth, kDeepestGrown), shape.splits, context.options, objective, budget,
                    grown_progress, state);
  SizedTrees grown(objective, static_cast<std::size_t>(shape.splits) + 1);
  std::int64_t at = shape.splits;
  Progress* goal_at = nullptr;  // of the entry that is being proven
  improver.watch([&](const GrownTree& tree) {
    grown.offer(tree);
    if (goal_at != nullptr) offer_grown(objective, grown, at, *goal_at);
  });
  // `entry` has a bound from more splits.
  const auto prove_entry = [&](PathEntry& entry) {
    Progress goal(budget, {}, 0);
    OrderedRounds rounds(search, goal, Shape::of(shape.depth, at));
    goal_at = &goal;
    grower.tell(&rounds);
    offer_grown(objective, grown, at, goal);
    if (grown.cost(static_cast<std::size_t>(at)) > entry.lower && !budget.stopped()) {
      try {
        rounds.search_whole_depth(improver);
      } catch (const std::bad_alloc&) {
        budget.stop(StopReason::memory);
      }
      entry.lower = std::max(entry.lower, leaf_bound(objective, goal.interval().lower, at));
    }
    entry.tree = goal.tree();
    entry.upper = leaf_bound(objective, goal.interval().upper, entry.tree.n_splits());
    entry.lower = std::min(entry.lower, entry.upper);
    goal_at = nullptr;
    grower.tell(nullptr);
  };
  improver.start();
  std::vector<PathEntry> entries(static_cast<std::size_t>(shape.splits) + 1);
  Cost lower = 0;
  for (; at >= 0; --at) {
    PathEntry& entry = entries[static_cast<std::size_t>(at)];
    entry.splits = at;
    entry.lower = lower;
    const bool is_searched = !budget.stopped();
    prove_entry(entry);
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
  counters.add(search.counters());
  return path;
}

}  // namespace certree
