// Lists of chains of the chain search: what is left of a row set's trees, and how two sides combine.
#include <algorithm>

#include "search/chains/search.hpp"

namespace certree {

namespace {

// Deep lists are thinned out whenever they have grown by this factor.
constexpr std::size_t kGrowth = 4;
constexpr std::size_t kLeastThinned = 4096;

}  // namespace

// Chains of both sides at a level.  The side with fewer columns goes first, and its best chains then stand in for it.
bool ChainSearch::list_both(std::int32_t depth, std::size_t level, const Scores& thresholds, ChainSet& yes,
                            ChainSet& no) {
  Level& at = level_at(level);
  const std::size_t n = active_.size();
  const bool starts_with_yes = at.sides[1]->node.n_words <= at.sides[0]->node.n_words;
  Side& first = *at.sides[starts_with_yes ? 1 : 0];
  Side& second = *at.sides[starts_with_yes ? 0 : 1];
  ChainSet& first_set = starts_with_yes ? yes : no;
  ChainSet& second_set = starts_with_yes ? no : yes;
  Scores other, needed(n);
  if (!best_scores(second, depth - 1, level, other)) return false;
  for (std::size_t r = 0; r < n; ++r) needed[r] = thresholds[r] + active_[r]->penalty() - other[r];
  if (!list_chains(first, depth - 1, level, needed, first_set)) return false;
  if (first_set.size() == 0) return true;
  for (std::size_t r = 0; r < n; ++r) needed[r] = thresholds[r] + active_[r]->penalty() - first_set.best_score(r);
  if (!list_chains(second, depth - 1, level, needed, second_set)) return false;
  if (second_set.size() == 0) return true;
  for (std::size_t r = 0; r < n; ++r) needed[r] = thresholds[r] + active_[r]->penalty() - second_set.best_score(r);
  first_set.keep_above(needed);
  return true;
}

bool ChainSearch::list_chains(Side& side, std::int32_t depth, std::size_t level, const Scores& thresholds,
                              ChainSet& out) {
  if (depth > 2) return list_deep_chains(side, depth, level, thresholds, out);
  return side.pairs->count(side.node) && side.pairs->chains(depth, {active_, thresholds}, out);
}

bool ChainSearch::list_deep_chains(Side& side, std::int32_t depth, std::size_t level, const Scores& thresholds,
                                   ChainSet& out) {
  ++counters_.nodes_expanded;
  if (!side.pairs->count(side.node) || !side.pairs->chains(0, {active_, thresholds}, out)) return false;
  Scores yes_best, no_best;
  std::size_t thin_at = kLeastThinned;
  for (std::int32_t g = 0; g < side.node.n_columns; ++g) {
    if (!side.pairs->is_feasible(g)) continue;
    observe();
    if (!make_sides(side.node, g, level + 1)) return false;
    Level& below = level_at(level + 1);
    if (!best_scores(*below.sides[1], depth - 1, level + 1, yes_best)) return false;
    if (!best_scores(*below.sides[0], depth - 1, level + 1, no_best)) return false;
    bool is_open = true;
    for (std::size_t r = 0; r < active_.size(); ++r)
      is_open &= yes_best[r] + no_best[r] - active_[r]->penalty() > thresholds[r];
    ++(is_open ? counters_.splits_tried : counters_.splits_pruned);
    if (!is_open) continue;
    ChainSet yes(context_.memory, active_.size()), no(context_.memory, active_.size());
    if (!list_both(depth, level + 1, thresholds, yes, no)) return false;
    if (!combine(side.node.column[static_cast<std::size_t>(g)], yes, no, thresholds, out)) return false;
    if (settings_.drops_dominated && out.size() > thin_at) {
      if (!out.keep_undominated(settings_.tracks_splits, context_.budget)) return false;
      thin_at = std::max(kLeastThinned, kGrowth * out.size());
    }
  }
  return !settings_.drops_dominated || out.keep_undominated(settings_.tracks_splits, context_.budget);
}

// The origin as something that other origins can refer to.
std::int32_t ChainSearch::keep_origin(const Plan& origin, std::int32_t splits) {
  if (splits == 0) return kChainLeaf;
  if (splits == 1) return chain_stump(origin.column);
  origins_.push_back(origin);
  return static_cast<std::int32_t>(origins_.size()) - 1;
}

bool ChainSearch::combine(std::int32_t column, const ChainSet& yes, const ChainSet& no, const Scores& thresholds,
                          ChainSet& out) {
  const std::size_t n = active_.size();
  std::vector<Edge> edges;
  Scores scores(n);
  std::vector<std::int32_t> yes_origin(yes.size(), kNotKept), no_origin(no.size(), kNotKept);
  const auto origin_of = [&](const ChainSet& set, std::size_t i, std::vector<std::int32_t>& kept) {
    if (kept[i] == kNotKept) kept[i] = keep_origin(set.origin(i), set[i].splits);
    return kept[i];
  };
  for (std::size_t a = 0; a < yes.size(); ++a) {
    if (context_.budget.poll()) return false;
    const Chain of_yes = yes[a];
    for (std::size_t b = 0; b < no.size(); ++b) {
      const Chain of_no = no[b];
      bool is_wanted = true;
      for (std::size_t r = 0; r < n; ++r) {
        scores[r] = of_yes.scores[r] + of_no.scores[r] - active_[r]->penalty();
        is_wanted &= scores[r] > thresholds[r];
      }
      const std::int32_t splits = 1 + of_yes.splits + of_no.splits;
      if (!is_wanted || (settings_.max_splits >= 0 && splits > settings_.max_splits)) continue;
      edges.resize(of_yes.n_edges + of_no.n_edges);
      const std::size_t count = merge_chains(of_yes.edges, of_yes.n_edges, of_no.edges, of_no.n_edges, edges.data());
      out.add({edges.data(), count, splits, scores.data()},
              {column, origin_of(yes, a, yes_origin), origin_of(no, b, no_origin)});
    }
  }
  return true;
}

// All pairs that can beat the incumbent, the most promising first, so that it improves early.
bool ChainSearch::combine_at_root(std::int32_t column, ChainSet& yes, ChainSet& no) {
  const std::size_t n = active_.size();
  yes.sort_by_score();
  no.sort_by_score();
  std::vector<Edge> edges;
  Scores thresholds = root_thresholds();
  for (std::size_t a = 0; a < yes.size(); ++a) {
    if ((a & 15) == 0 || no.size() > kLeastThinned) {
      observe();
      if (context_.budget.poll()) return false;
    }
    const Chain of_yes = yes[a];
    for (std::size_t b = 0; b < no.size(); ++b) {
      const Chain of_no = no[b];
      bool is_wanted = true;
      for (std::size_t r = 0; r < n && is_wanted; ++r)
        is_wanted = of_yes.scores[r] + of_no.scores[r] - active_[r]->penalty() > thresholds[r];
      if (!is_wanted) {
        if (n > 0 && of_yes.scores[0] + of_no.scores[0] - active_[0]->penalty() <= thresholds[0]) break;
        continue;
      }
      const std::int32_t splits = 1 + of_yes.splits + of_no.splits;
      if (settings_.max_splits >= 0 && splits > settings_.max_splits) continue;
      edges.resize(of_yes.n_edges + of_no.n_edges);
      const std::size_t count = merge_chains(of_yes.edges, of_yes.n_edges, of_no.edges, of_no.n_edges, edges.data());
      if (!(incumbent_.value < context_.objective.value(edges.data(), count, splits))) continue;
      offer(edges.data(), count, splits,
            {column, keep_origin(yes.origin(a), of_yes.splits), keep_origin(no.origin(b), of_no.splits)});
      thresholds = root_thresholds();
    }
  }
  return true;
}

}  // namespace certree
