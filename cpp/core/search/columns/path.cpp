#include "search/columns/path.hpp"

#include <algorithm>
#include <numeric>

#include "bounds/nested_sets.hpp"
#include "bounds/split_similarity.hpp"
#include "search/columns/grower.hpp"
#include "search/shared/improver.hpp"

namespace certree {

namespace {

constexpr std::int64_t kFirstTurn = 20000;  // depth-two evaluations

}  // namespace

PathSearch::PathSearch(const Context& context, std::int32_t depth, std::int64_t max_splits)
    : context_(context),
      depth_(static_cast<std::int32_t>(std::min<std::int64_t>(depth, max_splits))),
      max_splits_(static_cast<std::size_t>(max_splits)),
      worker_(context, true),
      own_table_(context.curves == nullptr ? std::make_unique<CurveTable>(context.memory) : nullptr),
      known_(context.curves == nullptr ? *own_table_ : *context.curves) {
  if (context.options.memory_limit > 0) known_.limit(context.options.memory_limit / 2);
  if (depth_ < 30) max_splits_ = std::min(max_splits_, (std::size_t{1} << depth_) - 1);
}

PathSearch::Level& PathSearch::level_at(std::size_t level) {
  while (levels_.size() <= level) levels_.push_back(std::make_unique<Level>(context_.memory));
  return *levels_[level];
}

// Entries of a curve at this depth: the splits asked for, as far as the depth can hold them.
std::size_t PathSearch::capacity(std::int32_t depth) const {
  return 1 + (depth < 30 ? std::min(max_splits_, (std::size_t{1} << depth) - 1) : max_splits_);
}

bool PathSearch::is_closed(const Curve& curve, const Needs& need) const {
  for (std::size_t k = 0; k < curve.size(); ++k)
    if (!curve.is_closed(k, need[k])) return false;
  return true;
}

bool PathSearch::is_done() const {
  if (context_.budget.stopped()) return true;
  const Interval now = context_.progress.interval();
  return now.upper - now.lower <= context_.options.gap;
}

// Trees with at most two splits have depth at most two, so these entries of the depth-two pass are exact; a tree with
// three splits may be a chain.
void PathSearch::start_curve(const Frame& frame, Curve& curve) const {
  const SplitErrors& errors = frame.expansion.errors;
  for (std::size_t k = 0; k < std::min<std::size_t>(curve.size(), 4); ++k) {
    curve.offer(k, errors[k], k == 0 ? kLeafTree : kDepthTwoTree, 0);
    if (k < 3) curve.lower[k] = std::max(curve.lower[k], std::min(errors[k], curve.upper[k]));
  }
  for (std::size_t k = 0; k < curve.size(); ++k)
    curve.lower[k] = std::max(curve.lower[k], std::min(curve.upper[k], frame.unavoidable));
  curve.make_monotone();
}

void PathSearch::start_child(const Frame& frame, const Curve& parent, std::int32_t split, bool holds,
                             Curve& child) const {
  const Expansion& e = frame.expansion;
  const auto s = static_cast<std::size_t>(split);
  const Cost costs[] = {holds ? e.yes0[s] : e.no0[s], holds ? e.yes1[s] : e.no1[s]};
  Cost unavoidable = 0;
  if (context_.options.use_equivalent_points)
    unavoidable = holds ? e.yes_unavoidable[s] : frame.unavoidable - e.yes_unavoidable[s];
  const Cost sibling_worst = holds ? e.worst - e.yes_worst[s] : e.yes_worst[s];
  for (std::size_t k = 0; k < child.size(); ++k) {
    if (k < 2) child.offer(k, costs[k], k == 0 ? kLeafTree : kDepthTwoTree, 0);
    if (k > 0) child.offer(k, child.upper[k - 1], child.column[k - 1], child.yes_splits[k - 1]);
    child.lower[k] = k < 2 ? child.upper[k] : std::min(child.upper[k], unavoidable);
    if (context_.options.use_nested_sets && has_free_tests() && k < parent.size())
      child.lower[k] = std::max(child.lower[k], parent.lower[k] - sibling_worst);
  }
  child.make_monotone();
}

Cost PathSearch::test_cost(const Frame& frame, std::int32_t split) const {
  return frame.expansion.has_tests ? frame.expansion.tests[static_cast<std::size_t>(split)] : 0;
}

// out[k] over the ways of dividing k - 1 splits.
void PathSearch::combine(const Curve& yes, const Curve& no, Cost test, Curve& out) const {
  for (std::size_t k = 1; k < out.size(); ++k) {
    Cost lower = kInfinite;
    for (std::size_t a = 0; a < k; ++a) {
      const std::size_t y = std::min(a, yes.size() - 1), n = std::min(k - 1 - a, no.size() - 1);
      lower = std::min(lower, test + yes.lower[y] + no.lower[n]);
      if (yes.upper[y] < kInfinite && no.upper[n] < kInfinite)
        out.offer(k, test + yes.upper[y] + no.upper[n], out.column[0], static_cast<std::int32_t>(y));
    }
    out.lower[k] = std::max(out.lower[k], lower);
  }
}

bool PathSearch::can_improve(const Cost* lower, const Needs& bound) const {
  for (std::size_t k = 1; k < bound.size(); ++k)
    if (lower[k] < bound[k]) return true;
  return false;
}

void PathSearch::recall(const Fingerprint& key, std::int32_t depth, Curve& curve) {
  if (!context_.options.use_table) return;
  Counters& counters = worker_.counters();
  const Fingerprint subproblem = mix(key, static_cast<std::uint64_t>(depth));
  if (known_.find(subproblem, curve)) {
    ++counters.table_hits;
    return;
  }
  ++counters.table_misses;
  // What the table knows includes what earlier solves said when the subproblem was searched.
  if (context_.earlier_curves != nullptr && context_.earlier_curves->raise(subproblem, curve)) ++counters.reused_bounds;
}

void PathSearch::remember(const Fingerprint& key, std::int32_t depth, const Curve& curve) {
  if constexpr (kChecksKnownTree) {
    if (context_.known_tree != nullptr) context_.known_tree->check_curve(key, depth, curve.lower);
  }
  Curve kept = curve;
  if (!context_.options.use_infeasibility) {
    for (std::size_t k = 0; k < kept.size(); ++k)
      if (kept.lower[k] < kept.upper[k]) kept.lower[k] = 0;
  }
  worker_.counters().table_evictions += known_.store(mix(key, static_cast<std::uint64_t>(depth)), std::move(kept));
}

void PathSearch::solve(std::size_t level, std::int32_t depth, const Needs& need, Curve& curve) {
  Frame& f = worker_.frame(level);
  recall(f.node.rows.key, depth, curve);
  if (is_closed(curve, need) || worker_.poll()) return;
  if (!worker_.expand(f)) return;
  start_curve(f, curve);
  if (depth <= 2) {
    for (std::size_t k = 0; k < curve.size(); ++k) curve.lower[k] = curve.upper[k];
  } else {
    search_splits(level, depth, need, curve);
  }
  remember(f.node.rows.key, depth, curve);
}

// Bounds of all other splits from this one's, entry by entry (bounds/split_similarity.hpp).
void PathSearch::spread(const Frame& f, Level& l, std::int32_t split, std::size_t width, const Cost* lower) {
  if (!context_.options.use_split_similarity || !has_free_tests() || !similarity_is_valid(context_.options.min_leaf) ||
      !f.expansion.has_pairs)
    return;
  Cost* common = l.common.ensure(static_cast<std::size_t>(f.node.stride));
  worker_.depth_two().common_worst(f.node, f.expansion, split, common);
  const Cost* yes_worst = f.expansion.yes_worst.data();
  for (std::int32_t h = 0; h < f.node.n_columns; ++h) {
    const Cost distance = split_distance(yes_worst[split], yes_worst[h], common[h], f.expansion.worst);
    Cost* target = l.lower.data() + static_cast<std::size_t>(h) * width;
    for (std::size_t k = 0; k < width; ++k) target[k] = std::max(target[k], lower[k] - distance);
  }
}

void PathSearch::search_splits(std::size_t level, std::int32_t depth, const Needs& need, Curve& curve) {
  Frame& f = worker_.frame(level);
  Level& l = level_at(level);
  const std::size_t width = curve.size();
  const auto n = static_cast<std::size_t>(f.node.n_columns);
  l.lower.assign(n * width, 0);
  l.order.clear();
  for (std::size_t s = 0; s < n; ++s) {
    if (f.expansion.yes0[s] >= kInfinite) {
      std::fill_n(l.lower.begin() + static_cast<std::ptrdiff_t>(s * width), width, kInfinite);
      continue;
    }
    l.order.push_back(static_cast<std::int32_t>(s));
    for (const int holds : {0, 1}) {
      l.child[holds].reset(capacity(depth - 1));
      start_child(f, curve, static_cast<std::int32_t>(s), holds != 0, l.child[holds]);
    }
    l.found.reset(width);
    combine(l.child[1], l.child[0], test_cost(f, static_cast<std::int32_t>(s)), l.found);
    std::copy(l.found.lower.begin(), l.found.lower.end(), l.lower.begin() + static_cast<std::ptrdiff_t>(s * width));
  }
  const auto guess = [&](std::int32_t s) {
    const auto k = static_cast<std::size_t>(s);
    return test_cost(f, s) + std::min(f.expansion.yes0[k], f.expansion.yes1[k]) +
           std::min(f.expansion.no0[k], f.expansion.no1[k]);
  };
  if (context_.options.use_look_ahead_order)
    std::stable_sort(l.order.begin(), l.order.end(), [&](auto a, auto b) { return guess(a) < guess(b); });

  const bool is_root = level == 0 && follows_objective_;
  Needs bound(width);
  for (const std::int32_t split : l.order) {
    const Needs& wanted = is_root ? (l.need = needs_for_objective(curve)) : need;
    for (std::size_t k = 0; k < width; ++k) bound[k] = std::min(wanted[k], curve.upper[k]);
    if (worker_.poll() || (is_root && is_done())) break;
    Cost* lower = l.lower.data() + static_cast<std::size_t>(split) * width;
    if (!can_improve(lower, bound)) {
      ++worker_.counters().splits_pruned;
      continue;
    }
    ++worker_.counters().splits_tried;
    try_split(level, split, depth, bound, curve);
    for (std::size_t k = 0; k < width; ++k) {
      lower[k] = std::max(lower[k], l.found.lower[k]);
      curve.offer(k, l.found.upper[k], l.found.column[k], l.found.yes_splits[k]);
    }
    curve.make_monotone();
    spread(f, l, split, width, lower);
    if (is_root) publish(curve);
  }
  for (std::size_t k = 1; k < width; ++k) {
    Cost least = curve.upper[k];
    for (std::size_t s = 0; s < n; ++s) least = std::min(least, l.lower[s * width + k]);
    curve.lower[k] = std::max(curve.lower[k], least);
  }
  curve.make_monotone();
}

// Leaves the curve of trees with root `split` in level.found.
void PathSearch::try_split(std::size_t level, std::int32_t split, std::int32_t depth, const Needs& bound,
                           Curve& curve) {
  Frame& f = worker_.frame(level);
  Level& l = level_at(level);
  for (const int holds : {0, 1}) {
    l.child[holds].reset(capacity(depth - 1));
    start_child(f, curve, split, holds != 0, l.child[holds]);
  }
  if (depth == 3) {
    ChildErrors errors;
    if (worker_.depth_two().evaluate_children(f.node, f.expansion, split, true, true, errors)) {
      for (const int holds : {0, 1}) {
        const SplitErrors& exact = holds != 0 ? errors.yes : errors.no;
        for (std::size_t k = 0; k < std::min<std::size_t>(l.child[holds].size(), 4); ++k) {
          l.child[holds].offer(k, exact[k], k == 0 ? kLeafTree : kDepthTwoTree, 0);
          l.child[holds].lower[k] = l.child[holds].upper[k];
        }
      }
    }
  } else {
    const auto width = [&](int holds) { return l.child[holds].upper.back() - l.child[holds].lower.back(); };
    const int first = width(1) > width(0) ? 1 : 0;
    solve_child(level, split, first, depth, bound);
    solve_child(level, split, 1 - first, depth, bound);
  }
  l.found.reset(bound.size());
  l.found.column[0] = f.node.column[static_cast<std::size_t>(split)];
  combine(l.child[1], l.child[0], test_cost(f, split), l.found);
  l.found.column[0] = kNoTree;
}

// The child matters with a splits only below what some total k leaves it: max over k of bound[k] - sibling[k - 1 - a].
void PathSearch::solve_child(std::size_t level, std::int32_t split, int holds, std::int32_t depth, const Needs& bound) {
  Level& l = level_at(level);
  Curve& mine = l.child[holds];
  const Curve& other = l.child[1 - holds];
  const Cost test = test_cost(worker_.frame(level), split);
  l.child_need.assign(mine.size(), -kInfinite);
  for (std::size_t a = 0; a < mine.size(); ++a)
    for (std::size_t k = a + 1; k < bound.size(); ++k)
      l.child_need[a] = std::max(l.child_need[a], bound[k] - test - other.lower[std::min(k - 1 - a, other.size() - 1)]);
  if (is_closed(mine, l.child_need) || context_.budget.stopped()) return;
  const Needs need = l.child_need;
  worker_.descend(level, split, holds != 0);
  solve(level + 1, depth - 1, need, mine);
}

// Of the tree behind entry k; kInfinite: there is none.
Cost PathSearch::value_of(const Curve& curve, std::size_t k) const {
  if (curve.upper[k] >= kInfinite) return kInfinite;
  return context_.objective.leaf(curve.upper[k]) + static_cast<Cost>(k) * context_.objective.split_penalty;
}

// Below what cost a tree with k splits would beat the incumbent: S cost + P k < upper.  Where the curve has no tree of the
// incumbent's value, one of the same value is wanted, too: ties are broken among the trees of the curve.
PathSearch::Needs PathSearch::needs_for_objective(const Curve& curve) const {
  const Objective& o = context_.objective;
  Cost best = context_.progress.interval().upper;
  bool has_incumbent = false;
  for (std::size_t k = 0; k < curve.size(); ++k) has_incumbent = has_incumbent || value_of(curve, k) == best;
  if (!has_incumbent) ++best;
  Needs need(curve.size());
  for (std::size_t k = 0; k < need.size(); ++k) {
    const Cost room = best - static_cast<Cost>(k) * o.split_penalty;
    need[k] = room <= 0 ? 0 : (room + o.error_scale - 1) / o.error_scale;
  }
  return need;
}

// Offers the best point of the curve as incumbent.
void PathSearch::publish(const Curve& curve) {
  Cost best = kInfinite;
  std::size_t at = 0;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    const Cost value = value_of(curve, k);
    if (value < best) best = value, at = k;
  }
  if (best >= context_.progress.interval().upper) return;
  Tree tree;
  std::int32_t root = -1;
  // Deepest in the recursion nothing of the root's frame is touched, so this is safe in the middle of its splits.
  if (add_tree(0, depth_, at, &curve, tree, &root) < kInfinite) context_.progress.improve(best, std::move(tree));
}

// Adds the tree behind entry k of the node's curve and returns its cost; kInfinite: stopped, or forgotten.
Cost PathSearch::add_tree(std::size_t level, std::int32_t depth, std::size_t k, const Curve* given, Tree& tree,
                          std::int32_t* root) {
  Frame& f = worker_.frame(level);
  Curve curve;
  if (given != nullptr) {
    curve = *given;
  } else {
    curve.reset(capacity(depth));
    if (!known_.find(mix(f.node.rows.key, static_cast<std::uint64_t>(depth)), curve)) {
      // Never stored because its first bounds were exact, or forgotten: search for this entry again.
      Needs need(curve.size(), -kInfinite);
      need[std::min(k, curve.size() - 1)] = kInfinite;
      solve(level, depth, need, curve);
    }
    if (!worker_.expand(f)) return kInfinite;
    start_curve(f, curve);
  }
  k = std::min(k, curve.size() - 1);
  while (k > 0 && curve.upper[k - 1] == curve.upper[k]) --k;
  const Cost cost = curve.upper[k];
  if (curve.column[k] < 0) {
    *root = worker_.add_shallow_tree(level, k, cost, tree);
    return *root < 0 ? kInfinite : cost;
  }
  const std::int32_t split = local_column(f.node, curve.column[k]);
  if (split < 0) return kInfinite;
  *root = tree.add({curve.column[k], -1, -1, -1});
  const auto yes = static_cast<std::size_t>(curve.yes_splits[k]);
  Cost sum = test_cost(f, split);
  for (const int holds : {1, 0}) {
    worker_.descend(level, split, holds != 0);
    std::int32_t below = -1;
    sum += add_tree(level + 1, depth - 1, holds != 0 ? yes : k - 1 - yes, nullptr, tree, &below);
    if (sum > cost) return kInfinite;
    tree.nodes[static_cast<std::size_t>(*root)].set_child(holds != 0, below);
  }
  return sum == cost ? cost : kInfinite;
}

// As Worker::add_canonical_tree, for exactly k splits of this cost (no fewer will do): least depth, first column, fewest
// splits where it holds.
bool PathSearch::add_canonical_tree(std::size_t level, std::int32_t depth, std::size_t k, Cost cost, Tree& tree,
                                    std::int32_t* root) {
  Frame& f = worker_.frame(level);
  Level& l = level_at(level);
  if (!worker_.expand(f)) return false;
  if (k <= 3 && f.expansion.errors[k] <= cost) {
    *root = worker_.add_shallow_tree(level, k, cost, tree);
    return *root >= 0;
  }
  const auto only_k = [&](std::int32_t at_depth) {
    Needs need(capacity(at_depth), -kInfinite);
    if (k < need.size()) need[k] = cost + 1;
    return need;
  };
  for (std::int32_t less = 3; less < depth; ++less) {
    Curve curve;
    curve.reset(capacity(less));
    if (k >= curve.size()) continue;
    solve(level, less, only_k(less), curve);
    if (context_.budget.stopped()) return false;
    if (curve.upper[k] <= cost) depth = less;
  }
  if (!worker_.expand(f)) return false;
  Curve curve;
  curve.reset(capacity(depth));
  start_curve(f, curve);
  const Needs bound = only_k(depth);
  for (std::int32_t s = 0; s < f.node.n_columns; ++s) {
    if (f.expansion.yes0[static_cast<std::size_t>(s)] >= kInfinite) continue;
    try_split(level, s, depth, bound, curve);
    if (context_.budget.stopped()) return false;
    if (l.found.upper[k] > cost) continue;
    const Curve yes = l.child[1], no = l.child[0];
    for (std::size_t a = 0; a < k; ++a) {
      const std::size_t y = std::min(a, yes.size() - 1), n = std::min(k - 1 - a, no.size() - 1);
      if (test_cost(f, s) + yes.upper[y] + no.upper[n] != cost) continue;
      *root = tree.add({f.node.column[static_cast<std::size_t>(s)], -1, -1, -1});
      for (const int holds : {1, 0}) {
        worker_.descend(level, s, holds != 0);
        std::int32_t below = -1;
        const Curve& curve_below = holds != 0 ? yes : no;
        std::size_t splits = holds != 0 ? y : n;
        const Cost cost_below = curve_below.upper[splits];
        while (splits > 0 && curve_below.upper[splits - 1] == cost_below) --splits;
        if (!add_canonical_tree(level + 1, depth - 1, splits, cost_below, tree, &below)) return false;
        tree.nodes[static_cast<std::size_t>(*root)].set_child(holds != 0, below);
      }
      return true;
    }
  }
  return false;
}

template <class NeedNow>
void PathSearch::solve_in_turns(Improver& improver, Curve& curve, NeedNow need) {
  const Options& options = context_.options;
  const auto take_turn = [&](std::int64_t expected) {
    improver.expect_proof(expected);
    if (depth_ > 3) improver.take_turn();
  };
  const std::int64_t n = worker_.frame(0).node.n_columns;
  take_turn(n * n);
  for (std::int64_t work = improver.first_turn(kFirstTurn);; work *= 3) {
    {
      // What was found before a pause is in the table.
      const bool pauses = options.use_table && !improver.is_exhausted();
      const Turn turn(context_.budget, pauses ? work : kNoEnd);
      solve(0, depth_, need(), curve);
      if (!context_.budget.is_paused()) return;
    }
    if (context_.budget.stopped()) return;
    take_turn(0);
  }
}

void PathSearch::run(Counters& counters) {
  try {
    ColumnGrower grower(worker_);
    ImproverState state;
    Improver improver(grower, std::min(depth_, kDeepestGrown), static_cast<std::int64_t>(max_splits_), context_.options,
                      context_.objective, context_.budget, context_.progress, state);
    improver.start();
    Curve& curve = level_at(0).curve;
    curve.reset(capacity(depth_));
    follows_objective_ = true;
    solve_in_turns(improver, curve, [&] { return Needs(curve.size(), kInfinite); });
    follows_objective_ = false;
    // An earlier solve may have answered all.
    if (worker_.frame(0).is_expanded || worker_.expand(worker_.frame(0))) publish(curve);
    const Objective& o = context_.objective;
    Cost lower = kInfinite;
    for (std::size_t k = 0; k < curve.size(); ++k)
      lower = std::min(lower, o.leaf(curve.lower[k]) + static_cast<Cost>(k) * o.split_penalty);
    context_.progress.raise(lower);
    if (context_.options.smallest && context_.progress.interval().is_exact()) make_canonical(curve);
  } catch (const std::bad_alloc&) {
    context_.budget.stop(StopReason::memory);
  }
  counters.add(worker_.counters());
}

void PathSearch::make_canonical(const Curve& curve) {
  const Cost value = context_.progress.interval().upper;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    if (value_of(curve, k) != value) continue;
    Tree tree;
    std::int32_t root = -1;
    if (add_canonical_tree(0, depth_, k, curve.upper[k], tree, &root)) context_.progress.replace_tree(std::move(tree));
    return;
  }
}

// The improver has a progress of its own: one entry that is proven says nothing of the others.
void PathSearch::solve_whole(Curve& curve, SizedTrees& grown) {
  ColumnGrower grower(worker_);
  Progress progress(context_.budget, {}, 0);
  ImproverState state;
  Improver improver(grower, std::min(depth_, kDeepestGrown), static_cast<std::int64_t>(max_splits_), context_.options,
                    context_.objective, context_.budget, progress, state);
  improver.watch([&](const GrownTree& tree) { grown.offer(tree); });
  improver.start();
  // Trees as good as those grown are wanted too, so that the curve has trees of its own.
  solve_in_turns(improver, curve, [&] {
    Needs need(curve.size(), kInfinite);
    for (std::size_t k = 0; k < need.size(); ++k)
      if (grown.cost(k) < kInfinite) need[k] = grown.cost(k) + 1;
    return need;
  });
}

bool PathSearch::add_entry_tree(const Curve& curve, const SizedTrees& grown, PathEntry& entry) {
  const auto k = static_cast<std::size_t>(entry.splits);
  std::int32_t root = -1;
  if (context_.options.smallest && entry.lower == entry.upper &&
      add_canonical_tree(0, depth_, k, entry.upper, entry.tree, &root))
    return true;
  entry.tree = {};
  Frame& whole = worker_.frame(0);
  if (curve.upper[k] == entry.upper && (whole.is_expanded || worker_.expand(whole)) &&
      add_tree(0, depth_, k, &curve, entry.tree, &root) < kInfinite)
    return true;
  entry.tree = grown.tree(k);
  entry.upper = grown.cost(k);
  return !entry.tree.nodes.empty();
}

std::vector<PathEntry> PathSearch::run_whole(Counters& counters) {
  std::vector<PathEntry> path;
  Curve& curve = level_at(0).curve;
  curve.reset(capacity(depth_));
  SizedTrees grown(context_.objective, curve.size());
  const auto within_memory = [&](auto&& part) {
    try {
      part();
    } catch (const std::bad_alloc&) {
      context_.budget.stop(StopReason::memory);
      is_whole_ = false;
    }
  };
  within_memory([&] { solve_whole(curve, grown); });
  within_memory([&] {
    for (std::size_t k = 0; k < curve.size(); ++k) {
      const Cost upper = std::min(curve.upper[k], grown.cost(k));
      PathEntry entry{static_cast<std::int64_t>(k), std::min(curve.lower[k], upper), upper, {}};
      const bool is_better = path.empty() || upper < path.back().upper;
      const bool has_tree = is_better && add_entry_tree(curve, grown, entry);
      is_whole_ = is_whole_ && has_tree == is_better && entry.lower == entry.upper;
      if (has_tree && (path.empty() || entry.upper < path.back().upper)) path.push_back(std::move(entry));
    }
  });
  counters.add(worker_.counters());
  return path;
}

}  // namespace certree
