#include "search/multiway/path.hpp"

#include <algorithm>
#include <numeric>

#include "search/shared/remaining_depth.hpp"

namespace certree {

namespace {

constexpr std::int32_t kFirstDepth = 3;

MultiwaySettings without_split_penalty(MultiwaySettings settings) {
  settings.objective.split_penalty = 0;
  return settings;
}

}  // namespace

MultiwayPath::MultiwayPath(const MultiwayContext& context, std::int64_t max_splits)
    : context_(context),
      settings_(without_split_penalty(context.settings)),
      max_splits_(static_cast<std::size_t>(max_splits)),
      nodes_(context.data, context.tests, context.settings, context.memory),
      pass_(make_multiway_pass(context.data, context.task, settings_, context.budget, context.memory)),
      known_(context.memory) {
  // No path has more tests than the tree.
  context_.depth = static_cast<std::int32_t>(std::min<std::int64_t>(context.depth, max_splits));
  for (const auto& columns : context.tests) most_outcomes_ = std::max(most_outcomes_, n_outcomes(columns));
  if (context.settings.options.memory_limit > 0) known_.limit(context.settings.options.memory_limit / 2);
  max_splits_ = capacity(context_.depth) - 1;
}

MultiwayFrame& MultiwayPath::frame(std::size_t level) {
  while (frames_.size() <= level) frames_.push_back(std::make_unique<MultiwayFrame>(context_.memory));
  return *frames_[level];
}

MultiwayPath::Level& MultiwayPath::level_at(std::size_t level) {
  while (levels_.size() <= level) levels_.push_back(std::make_unique<Level>(context_.memory));
  return *levels_[level];
}

bool MultiwayPath::poll() {
  context_.progress.observe();
  return context_.budget.poll();
}

// Entries of a curve at this depth: the splits asked for, as far as the depth can hold them.
std::size_t MultiwayPath::capacity(std::int32_t depth) const {
  std::size_t splits = 0, nodes = 1;
  for (std::int32_t d = 0; d < depth && splits < max_splits_; ++d) {
    splits += nodes;
    nodes = std::min(nodes * static_cast<std::size_t>(most_outcomes_), max_splits_);
  }
  return 1 + std::min(splits, max_splits_);
}

bool MultiwayPath::is_closed(const Curve& curve, const Costs& need) const {
  for (std::size_t k = 0; k < curve.size(); ++k)
    if (!curve.is_closed(k, need[k])) return false;
  return true;
}

bool MultiwayPath::expand(std::size_t level) {
  ++counters_.nodes_expanded;
  counters_.branches_evaluated += static_cast<std::int64_t>(frame(level).parts.size());
  return pass_->expand(frame(level));
}

void MultiwayPath::recall(const Fingerprint& key, std::int32_t depth, Curve& curve) {
  if (!settings_.options.use_table) return;
  const bool found = known_.find(mix(key, static_cast<std::uint64_t>(depth)), curve);
  ++(found ? counters_.table_hits : counters_.table_misses);
}

void MultiwayPath::remember(const Fingerprint& key, std::int32_t depth, const Curve& curve) {
  Curve kept = curve;
  if (!settings_.options.use_infeasibility) {
    for (std::size_t k = 0; k < kept.size(); ++k)
      if (kept.lower[k] < kept.upper[k]) kept.lower[k] = 0;
  }
  counters_.table_evictions += known_.store(mix(key, static_cast<std::uint64_t>(depth)), std::move(kept));
}

bool MultiwayPath::is_feasible(const MultiwayFrame& f, const NodeTest& test) const {
  for (std::int32_t o = test.first; o < test.last; ++o)
    if (f.is_too_small[static_cast<std::size_t>(f.outcomes[static_cast<std::size_t>(o)].part)]) return false;
  return true;
}

// What the pass knows: trees of depth two.  Below a test, the parts that gain most from a test of their own have one.  Trees
// with at most two splits have depth at most two, so these entries are exact.
void MultiwayPath::start_curve(const MultiwayFrame& f, std::int32_t depth, Curve& curve) const {
  curve.offer(0, f.value[0], kLeafTree, 0);
  Costs gains;
  for (const NodeTest& test : f.tests) {
    if (depth < 1 || !is_feasible(f, test)) continue;
    gains.clear();
    Cost cost = test.price;
    for (std::int32_t o = test.first; o < test.last; ++o) {
      const auto part = static_cast<std::size_t>(f.outcomes[static_cast<std::size_t>(o)].part);
      cost += f.leaf[part];
      gains.push_back(f.leaf[part] - f.upper[part]);
    }
    std::sort(gains.begin(), gains.end(), std::greater<>());
    if (curve.size() > 1) curve.offer(1, cost, test.id, 0);
    for (std::size_t k = 0; depth > 1 && k < gains.size() && k + 2 < curve.size(); ++k)
      curve.offer(k + 2, cost -= gains[k], test.id, 0);
  }
  curve.make_monotone();
  const Cost floor = settings_.objective.at_least(f.all_unavoidable, 0);
  for (std::size_t k = 0; k < curve.size(); ++k)
    curve.lower[k] = std::max(curve.lower[k], depth <= 2 || k <= 2 ? curve.upper[k] : std::min(curve.upper[k], floor));
  curve.make_monotone();
}

void MultiwayPath::start_part(const MultiwayFrame& f, std::size_t part, Curve& curve) const {
  curve.offer(0, f.leaf[part], kLeafTree, 0);
  for (std::size_t k = 1; k < curve.size(); ++k) curve.offer(k, f.upper[part], kDepthTwoTree, 0);
  for (std::size_t k = 0; k < curve.size(); ++k)
    curve.lower[k] = std::max(curve.lower[k], k < 2 ? curve.upper[k] : std::min(curve.upper[k], f.lower[part]));
}

// Nested sets (bounds/nested_sets.hpp), entry by entry: a tree for a part serves the node, and the other rows cost their
// worst at most.
void MultiwayPath::start_parts(std::size_t level, std::int32_t depth, const Curve& curve) {
  const MultiwayFrame& f = frame(level);
  Level& l = level_at(level);
  const bool is_nested = settings_.options.use_nested_sets && settings_.outcomes.extends_to_supersets();
  l.parts.resize(f.parts.size());
  l.looked_up.assign(f.parts.size(), 0);
  for (std::size_t p = 0; p < l.parts.size(); ++p) {
    Curve& part = l.parts[p];
    part.reset(capacity(depth_below(depth)));
    start_part(f, p, part);
    const Cost lost = settings_.objective.errors(f.all_worst - f.worst[p]);
    for (std::size_t k = 0; is_nested && k < part.size() && k < curve.size(); ++k)
      part.lower[k] = std::max(part.lower[k], std::min(part.upper[k], curve.lower[k] - lost));
  }
}

MultiwayPath::Costs MultiwayPath::sum(const MultiwayFrame& f, const NodeTest& test, const std::vector<Curve>& parts,
                                      End end, std::size_t width, std::int32_t without) const {
  Costs total(width, test.price), next(width);
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const std::int32_t part = f.outcomes[static_cast<std::size_t>(o)].part;
    if (part == without) continue;
    const Curve& curve = parts[static_cast<std::size_t>(part)];
    const Costs& ends = end == End::lower ? curve.lower : curve.upper;
    for (std::size_t k = 0; k < width; ++k) {
      next[k] = kInfinite;
      for (std::size_t a = 0; a <= k && a < ends.size(); ++a) next[k] = std::min(next[k], total[k - a] + ends[a]);
    }
    total.swap(next);
  }
  return total;
}

// A part matters with a splits only below what some number of splits of the tree leaves it.
MultiwayPath::Costs MultiwayPath::need_of(const MultiwayFrame& f, const NodeTest& test, const std::vector<Curve>& parts,
                                          std::int32_t part, const Costs& bound) const {
  const Costs others = sum(f, test, parts, End::lower, bound.size(), part);
  Costs need(parts[static_cast<std::size_t>(part)].size(), -kInfinite);
  for (std::size_t a = 0; a < need.size(); ++a)
    for (std::size_t k = a + 1; k < bound.size(); ++k) need[a] = std::max(need[a], bound[k] - others[k - 1 - a]);
  return need;
}

// Similarity (bounds/split_similarity.hpp), entry by entry.
void MultiwayPath::spread(const MultiwayFrame& f, std::vector<Curve>& parts, std::size_t a) const {
  if (!f.has_common) return;
  const Cost* common = f.common.data() + a * f.parts.size();
  for (std::size_t b = 0; b < parts.size(); ++b) {
    const Cost lost = settings_.objective.errors(f.worst[a] - common[b]);
    for (std::size_t k = 2; k < parts[b].size(); ++k)
      parts[b].lower[k] = std::max(parts[b].lower[k], std::min(parts[b].upper[k], parts[a].lower[k] - lost));
  }
}

void MultiwayPath::solve(std::size_t level, std::int32_t depth, const Costs& need, Curve& curve) {
  const Fingerprint key = frame(level).node.rows.key;
  recall(key, depth, curve);
  if (is_closed(curve, need) || poll()) return;
  ++counters_.iterations;
  if (!expand(level)) return;
  start_curve(frame(level), depth, curve);
  if (depth > 2) search_tests(level, depth, need, curve);
  remember(key, depth, curve);
}

void MultiwayPath::search_tests(std::size_t level, std::int32_t depth, const Costs& need, Curve& curve) {
  const MultiwayFrame& f = frame(level);
  Level& l = level_at(level);
  const std::size_t width = curve.size();
  start_parts(level, depth, curve);
  l.order.clear();
  Costs guess(f.tests.size(), 0);
  for (std::size_t t = 0; t < f.tests.size(); ++t) {
    if (!is_feasible(f, f.tests[t])) continue;
    l.order.push_back(static_cast<std::int32_t>(t));
    guess[t] = sum(f, f.tests[t], l.parts, End::upper, width).back();
  }
  if (settings_.options.use_look_ahead_order)
    std::stable_sort(l.order.begin(), l.order.end(), [&](auto a, auto b) {
      return guess[static_cast<std::size_t>(a)] < guess[static_cast<std::size_t>(b)];
    });
  const bool is_root = level == 0 && follows_objective_;
  if (is_root) publish(depth, curve);
  Costs bound(width);
  for (const std::int32_t t : l.order) {
    if (poll()) break;
    const Costs wanted = is_root ? needs_for_objective() : need;
    for (std::size_t k = 0; k < width; ++k) bound[k] = std::min(wanted[k], curve.upper[k]);
    const NodeTest& test = f.tests[static_cast<std::size_t>(t)];
    try_test(level, depth, test, bound);
    const Costs found = sum(f, test, l.parts, End::upper, width);
    for (std::size_t k = 1; k < width; ++k) curve.offer(k, found[k - 1], test.id, 0);
    curve.make_monotone();
    if (is_root) publish(depth, curve);
  }
  Costs least = curve.upper;
  for (const std::int32_t t : l.order) {
    const Costs lower = sum(f, f.tests[static_cast<std::size_t>(t)], l.parts, End::lower, width);
    for (std::size_t k = 1; k < width; ++k) least[k] = std::min(least[k], lower[k - 1]);
  }
  for (std::size_t k = 1; k < width; ++k) curve.lower[k] = std::max(curve.lower[k], least[k]);
  curve.make_monotone();
}

// Narrows the curves of a test's parts until no number of splits can lead below the bound.
void MultiwayPath::try_test(std::size_t level, std::int32_t depth, const NodeTest& test, const Costs& bound) {
  const MultiwayFrame& f = frame(level);
  Level& l = level_at(level);
  const auto may_improve = [&] {
    const Costs lower = sum(f, test, l.parts, End::lower, bound.size());
    for (std::size_t k = 1; k < bound.size(); ++k)
      if (lower[k - 1] < bound[k]) return true;
    return false;
  };
  if (!may_improve()) {
    ++counters_.splits_pruned;
    return;
  }
  ++counters_.splits_tried;
  std::vector<std::int32_t> order;
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const std::int32_t part = f.outcomes[static_cast<std::size_t>(o)].part;
    const auto p = static_cast<std::size_t>(part);
    order.push_back(part);
    if (l.looked_up[p]) continue;
    l.looked_up[p] = 1;
    nodes_.child_rows(f, part, l.rows);
    recall(l.rows.key, depth_below(depth), l.parts[p]);
    spread(f, l.parts, p);
  }
  const auto width = [&](std::int32_t part) {
    const Curve& curve = l.parts[static_cast<std::size_t>(part)];
    return curve.upper.back() - curve.lower.back();
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return width(a) > width(b); });
  for (const std::int32_t part : order) {
    const auto p = static_cast<std::size_t>(part);
    if (context_.budget.stopped() || !may_improve()) return;
    const Costs need = need_of(f, test, l.parts, part, bound);
    if (is_closed(l.parts[p], need)) continue;
    nodes_.make_child(f, part, frame(level + 1));
    solve(level + 1, depth_below(depth), need, l.parts[p]);
    spread(f, l.parts, p);
  }
}

Cost MultiwayPath::value_of(const Costs& ends, std::size_t k) const {
  return ends[k] >= kInfinite ? kInfinite : ends[k] + static_cast<Cost>(k) * context_.settings.objective.split_penalty;
}

// Below what cost a tree with k splits would beat the incumbent.
MultiwayPath::Costs MultiwayPath::needs_for_objective() const {
  const Cost best = context_.progress.interval().upper;
  Costs need(max_splits_ + 1);
  for (std::size_t k = 0; k < need.size(); ++k)
    need[k] = best - static_cast<Cost>(k) * context_.settings.objective.split_penalty;
  return need;
}

// Offers the best point of the root's curve as incumbent.
void MultiwayPath::publish(std::int32_t depth, const Curve& curve) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < curve.size(); ++k)
    if (value_of(curve.upper, k) < value_of(curve.upper, best)) best = k;
  const Cost value = value_of(curve.upper, best);
  if (value >= context_.progress.interval().upper) return;
  MultiwayTree tree{{{}}};
  if (!add_tree(0, depth, best, curve.upper[best], curve, tree, 0)) return;
  best_ = std::move(tree);
  context_.progress.improve(value, Tree{});
}

// How `splits` are shared among the parts so that their trees cost the target or less; empty: they do not.
std::vector<std::size_t> MultiwayPath::share(const MultiwayFrame& f, const NodeTest& test,
                                             const std::vector<Curve>& parts, std::size_t splits, Cost target) const {
  const auto n = static_cast<std::size_t>(test.last - test.first);
  // totals[i]: of the parts from i on.
  std::vector<Costs> totals(n + 1, Costs(splits + 1, 0));
  const auto upper_of = [&](std::size_t i) -> const Costs& {
    const Outcome& outcome = f.outcomes[static_cast<std::size_t>(test.first) + i];
    return parts[static_cast<std::size_t>(outcome.part)].upper;
  };
  for (std::size_t i = n; i-- > 0;) {
    const Costs& upper = upper_of(i);
    for (std::size_t k = 0; k <= splits; ++k) {
      totals[i][k] = kInfinite;
      for (std::size_t a = 0; a <= k && a < upper.size(); ++a)
        totals[i][k] = std::min(totals[i][k], totals[i + 1][k - a] + upper[a]);
    }
  }
  if (test.price + totals[0][splits] > target) return {};
  std::vector<std::size_t> shares;
  for (std::size_t i = 0; i < n; ++i) {
    const Costs& upper = upper_of(i);
    std::size_t a = 0;
    while (totals[i][splits] != totals[i + 1][splits - a] + upper[a]) ++a;
    shares.push_back(a);
    splits -= a;
  }
  return shares;
}

bool MultiwayPath::add_tree(std::size_t level, std::int32_t depth, std::size_t k, Cost target, const Curve& known,
                            MultiwayTree& tree, std::int32_t slot) {
  const MultiwayFrame& f = frame(level);
  if (!expand(level)) return false;
  if (f.value[0] <= target) {
    tree.nodes[static_cast<std::size_t>(slot)] = {-1, -1, f.label};
    return true;
  }
  Curve curve;
  curve.reset(capacity(depth));
  start_curve(f, depth, curve);
  for (std::size_t j = 0; j < std::min(curve.size(), known.size()); ++j)
    if (known.column[j] >= 0) curve.offer(j, known.upper[j], known.column[j], 0);
  curve.make_monotone();
  k = std::min(k, curve.size() - 1);
  while (k > 0 && curve.upper[k - 1] <= target) --k;
  if (curve.upper[k] > target) return false;
  const auto found =
      std::find_if(f.tests.begin(), f.tests.end(), [&](const NodeTest& test) { return test.id == curve.column[k]; });
  if (found == f.tests.end()) return false;
  const NodeTest test = *found;

  std::vector<Curve> parts(f.parts.size());
  RowSet rows(context_.memory);
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const std::int32_t part = f.outcomes[static_cast<std::size_t>(o)].part;
    Curve& below = parts[static_cast<std::size_t>(part)];
    below.reset(capacity(depth_below(depth)));
    start_part(f, static_cast<std::size_t>(part), below);
    nodes_.child_rows(f, part, rows);
    if (depth > 3) recall(rows.key, depth_below(depth), below);
  }
  std::vector<std::size_t> shares = share(f, test, parts, k - 1, target);
  if (shares.empty()) {  // parts that the table has forgotten, or never had
    Costs bound(k + 1, -kInfinite);
    bound[k] = target + 1;
    for (std::int32_t o = test.first; o < test.last; ++o) {
      const std::int32_t part = f.outcomes[static_cast<std::size_t>(o)].part;
      const Costs need = need_of(f, test, parts, part, bound);
      nodes_.make_child(f, part, frame(level + 1));
      solve(level + 1, depth_below(depth), need, parts[static_cast<std::size_t>(part)]);
    }
    shares = share(f, test, parts, k - 1, target);
    if (shares.empty()) return false;
  }
  const auto& columns = context_.tests[static_cast<std::size_t>(test.id)];
  const std::int32_t first = tree.split(slot, test.id, n_outcomes(columns), f.label);
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const Outcome outcome = f.outcomes[static_cast<std::size_t>(o)];
    const Curve& below = parts[static_cast<std::size_t>(outcome.part)];
    const std::size_t splits = shares[static_cast<std::size_t>(o - test.first)];
    nodes_.make_child(f, outcome.part, frame(level + 1));
    if (!add_tree(level + 1, depth_below(depth), splits, below.upper[splits], below, tree, first + outcome.number))
      return false;
  }
  return true;
}

void MultiwayPath::solve_root(std::int32_t depth, Curve& curve) {
  nodes_.make_root(frame(0));
  curve.reset(capacity(depth));
  Costs need(curve.size(), kInfinite);
  if (follows_objective_) {
    need = needs_for_objective();
    need.resize(curve.size());
  }
  solve(0, depth, need, curve);
}

void MultiwayPath::run(Counters& counters) {
  try {
    follows_objective_ = true;
    nodes_.make_root(frame(0));
    std::int32_t label = 0;
    const Cost errors = context_.task.leaf_cost(frame(0).node.totals.data(), &label);
    const Cost leaf = settings_.objective.leaf(errors);
    if (leaf < context_.progress.interval().upper) {
      best_ = MultiwayTree{{{-1, -1, label}}};
      context_.progress.improve(leaf, Tree{});
    }
    Curve curve;
    // Shallow trees are soon found, and bound the others.
    if (context_.depth > kFirstDepth) solve_root(kFirstDepth, curve);
    solve_root(context_.depth, curve);
    publish(context_.depth, curve);
    Cost lower = kInfinite;
    for (std::size_t k = 0; k < curve.size(); ++k) lower = std::min(lower, value_of(curve.lower, k));
    context_.progress.raise(std::min(lower, context_.progress.interval().upper));
  } catch (const std::bad_alloc&) {
    context_.budget.stop(StopReason::memory);
  }
  counters.add(counters_);
}

std::vector<MultiwayPathEntry> MultiwayPath::run_whole(Counters& counters) {
  std::vector<MultiwayPathEntry> path;
  Curve curve;
  try {
    solve_root(context_.depth, curve);
    for (std::size_t k = 0; k < curve.size(); ++k) {
      MultiwayPathEntry entry{static_cast<std::int64_t>(k), curve.lower[k], curve.upper[k], MultiwayTree{{{}}}};
      const bool is_better = path.empty() || entry.upper < path.back().upper;
      const bool has_tree =
          is_better && entry.upper < kInfinite && add_tree(0, context_.depth, k, entry.upper, curve, entry.tree, 0);
      is_whole_ = is_whole_ && has_tree == is_better && entry.lower == entry.upper;
      if (has_tree) path.push_back(std::move(entry));
    }
  } catch (const std::bad_alloc&) {
    context_.budget.stop(StopReason::memory);
    is_whole_ = false;
  }
  counters.add(counters_);
  return path;
}

}  // namespace certree
