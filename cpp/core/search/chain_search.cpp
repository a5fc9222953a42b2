#include "search/chain_search.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

ChainSearch::Side::Side(const ChainContext& context, const ChainPairSettings& settings)
    : node(context.memory), pairs(make_chain_pairs(context.data, settings, context.budget, context.memory)) {}

ChainSearch::ChainSearch(const ChainContext& context, ChainIncumbent& incumbent)
    : context_(context),
      incumbent_(incumbent),
      factory_(context.data, bit_kernels_for(context.options.isa), context.memory,
               context.options.use_column_reduction) {
  const Options& options = context.options;
  settings_.min_leaf = options.min_leaf;
  settings_.tracks_splits = context.objective.split_penalty > 0 || options.max_splits >= 0;
  settings_.drops_dominated = options.use_chain_dominance;
  settings_.max_splits = options.max_splits;
  settings_.isa = options.isa;
}

ChainSearch::Level& ChainSearch::level_at(std::size_t level) {
  while (levels_.size() <= level) {
    levels_.push_back(std::make_unique<Level>());
    for (auto& side : levels_.back()->sides) side = std::make_unique<Side>(context_, settings_);
  }
  return *levels_[level];
}

void ChainSearch::set_active(std::vector<const Tangent*> tangents, bool are_shared) {
  active_ = std::move(tangents);
  shares_active_ = are_shared;
  group_scores_.clear();
  if (!context_.options.use_chain_equivalent_points) return;
  const auto n_types = static_cast<std::size_t>(context_.data.n_pair_types());
  const std::vector<Cost>& weights = context_.data.group_weights();
  for (const Tangent* tangent : active_) {
    std::vector<Cost>& scores = group_scores_.emplace_back();
    for (std::size_t g = 0; g < static_cast<std::size_t>(context_.data.n_groups()); ++g)
      scores.push_back(tangent->score(weights[g * n_types], weights[g * n_types + 1]));
  }
}

bool ChainSearch::make_sides(const Node& parent, std::int32_t column, std::size_t level) {
  Level& at = level_at(level);
  for (const int holds : {0, 1}) {
    factory_.child_rows(parent, column, holds != 0, at.sides[holds]->node.rows);
    factory_.make_child(parent, column, holds != 0, true, at.sides[holds]->node);
  }
  return !context_.budget.poll();
}

ChainSearch::Scores ChainSearch::root_thresholds() const {
  Scores out;
  for (const Tangent* t : active_) out.push_back(t->threshold(incumbent_.value));
  return out;
}

void ChainSearch::publish_bound(Cost value) {
  context_.progress.raise(context_.objective.perfect() - std::max(value, incumbent_.value.whole));
}

void ChainSearch::offer(const Edge* edges, std::size_t count, std::int32_t splits, const Plan& origin) {
  const ChainValue value = context_.objective.value(edges, count, splits);
  if (!(incumbent_.value < value)) return;
  incumbent_.value = value;
  incumbent_.chain.assign(edges, edges + count);
  incumbent_.splits = splits;
  incumbent_.tree = {};
  plant(splits == 0 ? Plan{} : origin, [this](std::int32_t plan) { return look(plan); }, incumbent_.tree);
  name_columns(context_.data, incumbent_.tree);
  context_.progress.improve(context_.objective.perfect() - value.whole, incumbent_.tree);
  context_.progress.replace_tree(incumbent_.tree);
}

Plan ChainSearch::look(std::int32_t origin) const {
  if (origin == kChainLeaf) return {};
  return origin < 0 ? Plan{stump_column(origin), kChainLeaf, kChainLeaf} : origins_[static_cast<std::size_t>(origin)];
}

void ChainSearch::run(std::int32_t depth, std::vector<Tangent> tangents, Cost bound, Counters& counters) {
  counters_ = &counters;
  for (Tangent& t : tangents) tangents_.push_back(std::move(t));
  std::vector<const Tangent*> shared;
  for (const Tangent& t : tangents_) shared.push_back(&t);
  set_active(shared, true);
  Side root(context_, settings_);
  factory_.make_root(root.node);
  const auto n = static_cast<std::size_t>(root.node.n_columns);
  if (depth <= 2) {
    ChainSet chains(context_.memory, active_.size());
    if (!list_chains(root, depth, 0, root_thresholds(), chains)) return;
    for (std::size_t i = 0; i < chains.size(); ++i)
      offer(chains[i].edges, chains[i].n_edges, chains[i].splits, chains.origin(i));
    publish_bound(-kInfinite);
    return;
  }
  ++counters.nodes_expanded;
  std::vector<Cost> bounds(n, bound);
  const bool is_bounded = bound_root_splits(root.node, depth, bounds);
  const auto open_bound = [&] { return n == 0 ? -kInfinite : *std::max_element(bounds.begin(), bounds.end()); };
  publish_bound(open_bound());
  if (!is_bounded) return;
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return bounds[static_cast<std::size_t>(a)] > bounds[static_cast<std::size_t>(b)];
  });
  for (const std::int32_t column : order) {
    Cost& split_bound = bounds[static_cast<std::size_t>(column)];
    context_.progress.observe();
    if (context_.budget.poll()) return;
    if (split_bound <= incumbent_.value.whole) {
      ++counters.splits_pruned;
      continue;
    }
    ++counters.splits_tried;
    set_active(shared, true);
    const bool is_done = explore(root.node, column, depth, split_bound);
    if (is_done) split_bound = -kInfinite;
    while (tangents_.size() > shared.size()) tangents_.pop_back();
    origins_.clear();
    publish_bound(open_bound());
    if (!is_done) return;
  }
}

bool ChainSearch::explore(const Node& root, std::int32_t column, std::int32_t depth, Cost& bound) {
  if (!make_sides(root, column, 0)) return false;
  if (depth == 3 && context_.options.use_chain_tangents && context_.options.use_chain_refinement) {
    for (auto& side : level_at(0).sides)
      if (!side->pairs->count(side->node)) return false;
    if (!refine(root.column[static_cast<std::size_t>(column)], bound)) return false;
    if (bound <= incumbent_.value.whole) return true;
  }
  ChainSet yes(context_.memory, active_.size()), no(context_.memory, active_.size());
  if (!list_both(depth, 0, root_thresholds(), yes, no)) return false;
  return combine_at_root(root.column[static_cast<std::size_t>(column)], yes, no);
}

}  // namespace certree
