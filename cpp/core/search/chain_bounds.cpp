// Bounds of the chain search: best scores under tangents, and tangents made for one root split.
#include <algorithm>
#include <bit>

#include "search/chain_search.hpp"

namespace certree {

namespace {

constexpr int kRefinements = 12;
// Tangents kept for the lists of a split: each one more filters, and costs an evaluation per pair of columns.
constexpr std::size_t kActiveTangents = 4;

}  // namespace

// Scores that no tree exceeds: a leaf's, or after a split at best every group of equal rows in a leaf of its own, or, not
// looking at groups, all positives apart from all negatives.  Splitting a leaf never lowers its score.
void ChainSearch::cap_scores(const Node& node, Scores& out) const {
  const Edge total{node.totals[0], node.totals[1]};
  out.assign(active_.size(), 0);
  for (std::size_t r = 0; r < active_.size(); ++r) {
    const Tangent& tangent = *active_[r];
    Cost apart = tangent.ceiling() * total.y;
    if (!group_scores_.empty()) {
      apart = 0;
      for (std::size_t w = 0; w < context_.data.group_words(); ++w)
        for (Word rest = node.rows_data()[w]; rest != 0; rest &= rest - 1)
          apart += group_scores_[r][w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest))];
    }
    out[r] = std::max(tangent.score(total), apart - tangent.penalty());
  }
}

bool ChainSearch::best_scores(Side& side, std::int32_t depth, std::size_t level, Scores& out) {
  const bool uses_table = context_.options.use_table && shares_active_;
  const Fingerprint key = mix(side.node.rows.key, static_cast<std::uint64_t>(depth));
  if (uses_table) {
    const std::lock_guard lock(shared_.mutex);
    if (const auto entry = shared_.known.find(key); entry != shared_.known.end()) {
      ++counters_.table_hits;
      out = entry->second;
      return true;
    }
    ++counters_.table_misses;
  }
  if (depth > 3) {
    cap_scores(side.node, out);
    return true;
  }
  if (!(depth > 2 ? search_best_scores(side, depth, level, out) : side.pairs->count(side.node))) return false;
  if (depth <= 2) {
    SideScores scores;
    out.clear();
    for (const Tangent* tangent : active_) {
      side.pairs->score(*tangent, scores);
      out.push_back(scores.best);
    }
  }
  const auto bytes = static_cast<std::int64_t>(64 + 8 * out.size());
  if (uses_table && context_.memory.try_charge(bytes)) {
    const std::lock_guard lock(shared_.mutex);
    shared_.known.emplace(key, out);
  }
  return !context_.budget.poll();
}

// Depth three: over all splits, two depth-two passes each.
bool ChainSearch::search_best_scores(Side& side, std::int32_t depth, std::size_t level, Scores& out) {
  if (!side.pairs->count(side.node)) return false;
  out.clear();
  for (const Tangent* tangent : active_) out.push_back(tangent->score(side.pairs->total()));
  Scores yes, no;
  for (std::int32_t g = 0; g < side.node.n_columns; ++g) {
    if (!side.pairs->is_feasible(g)) continue;
    if (!make_sides(side.node, g, level + 1)) return false;
    Level& below = level_at(level + 1);
    if (!best_scores(*below.sides[1], depth - 1, level + 1, yes)) return false;
    if (!best_scores(*below.sides[0], depth - 1, level + 1, no)) return false;
    for (std::size_t r = 0; r < active_.size(); ++r) out[r] = std::max(out[r], yes[r] + no[r] - active_[r]->penalty());
  }
  return true;
}

bool ChainSearch::close_infeasible(const Node& root, std::vector<Cost>& bounds) {
  Side counted(context_, settings_);
  if (!counted.pairs->count(root)) return false;
  for (std::int32_t f = 0; f < root.n_columns; ++f)
    if (!counted.pairs->is_feasible(f)) bounds[static_cast<std::size_t>(f)] = -kInfinite;
  return true;
}

bool ChainSearch::bound_root_split(const Node& root, std::int32_t column, std::int32_t depth, Cost& bound) {
  observe();
  if (!make_sides(root, column, 0)) return false;
  Level& at = level_at(0);
  Scores yes, no;
  if (!best_scores(*at.sides[1], depth - 1, 0, yes) || !best_scores(*at.sides[0], depth - 1, 0, no)) return false;
  for (std::size_t r = 0; r < active_.size(); ++r)
    bound = std::min(bound, active_[r]->bound(yes[r] + no[r] - active_[r]->penalty()));
  return true;
}

// The tree that attains the bound under the tangent, below a root split with counted sides.
void ChainSearch::offer_best_tree(std::int32_t column, const Tangent& tangent, ReferenceChain& out) {
  std::vector<Edge> leaves;
  Plan origin{column, kChainLeaf, kChainLeaf};
  std::int32_t splits = 1;
  SideScores scores;
  origins_.clear();
  for (const int holds : {1, 0}) {
    const Side& side = *level_at(0).sides[holds];
    side.pairs->score(tangent, scores);
    std::int32_t& made = holds ? origin.yes : origin.no;
    if (scores.best_column < 0) {
      leaves.push_back(side.pairs->total());
      continue;
    }
    const auto i = static_cast<std::size_t>(scores.best_column);
    Plan inner{side.node.column[i], kChainLeaf, kChainLeaf};
    ++splits;
    for (const bool inner_holds : {true, false}) {
      const std::int32_t j = inner_holds ? scores.yes_column[i] : scores.no_column[i];
      const Edge whole = inner_holds ? side.pairs->yes_side(scores.best_column)
                                     : side.pairs->total() - side.pairs->yes_side(scores.best_column);
      if (j < 0) {
        leaves.push_back(whole);
        continue;
      }
      ++splits;
      const Edge both = side.pairs->both_hold(scores.best_column, j);
      const Edge first = inner_holds ? both : side.pairs->yes_side(j) - both;
      leaves.push_back(first);
      leaves.push_back(whole - first);
      (inner_holds ? inner.yes : inner.no) = chain_stump(side.node.column[static_cast<std::size_t>(j)]);
    }
    origins_.push_back(inner);
    made = static_cast<std::int32_t>(origins_.size()) - 1;
  }
  sort_by_slope(leaves);
  if (context_.options.max_splits < 0 || splits <= context_.options.max_splits)
    offer(leaves.data(), leaves.size(), splits, origin);
  out = {std::move(leaves), 1, splits};
}

// Lowers the bound of one root split by tangents of its own (docs/theory/auc.md): the tree that attains the bound is mixed
// into the tangent's chain, in the share that makes the largest area.  Leaves the best tangents active, the best first.
bool ChainSearch::refine(std::int32_t column, Cost& bound) {
  Level& at = level_at(0);
  std::vector<std::pair<Cost, const Tangent*>> found;
  SideScores yes, no;
  const auto measure = [&](const Tangent& tangent) {
    at.sides[1]->pairs->score(tangent, yes);
    at.sides[0]->pairs->score(tangent, no);
    found.emplace_back(tangent.bound(yes.best + no.best - tangent.penalty()), &tangent);
  };
  const auto by_bound = [](const auto& a, const auto& b) { return a.first < b.first; };
  const Tangent of_incumbent(context_.objective, {incumbent_.chain, 1});
  tangents_.push_back(of_incumbent);
  std::vector<const Tangent*> all = active_;
  all.push_back(&tangents_.back());
  for (const Tangent* tangent : all) measure(*tangent);
  std::vector<ReferenceChain> trees{{incumbent_.chain, 1, incumbent_.splits}};
  int failures = 0;
  for (int round = 0; round < kRefinements; ++round) {
    std::stable_sort(found.begin(), found.end(), by_bound);
    bound = std::min(bound, found.front().first);
    if (bound <= incumbent_.value.whole) return true;
    if (context_.budget.poll()) return false;
    ReferenceChain tree;
    const Tangent& best = *found.front().second;
    offer_best_tree(column, best, tree);
    trees.push_back(std::move(tree));
    tangents_.emplace_back(context_.objective, best_mixture(context_.objective, trees, context_.mixture_unit));
    measure(tangents_.back());
    if (found.back().first >= bound && ++failures > 1) break;
  }
  std::stable_sort(found.begin(), found.end(), by_bound);
  bound = std::min(bound, found.front().first);
  if (found.size() > kActiveTangents) found.resize(kActiveTangents);
  std::vector<const Tangent*> best;
  for (const auto& [value, tangent] : found) best.push_back(tangent);
  set_active(std::move(best), false);
  return true;
}

}  // namespace certree
