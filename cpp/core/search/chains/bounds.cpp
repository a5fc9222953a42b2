// Bounds of the chain search: best scores under tangents.
#include <algorithm>
#include <bit>

#include "search/chains/search.hpp"

namespace certree {

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
  const bool uses_table = context_.options.use_table;
  const Fingerprint key = mix(side.node.rows.key, static_cast<std::uint64_t>(depth));
  if (uses_table) {
    const SharedLock lock(shared_.mutex, context_.budget);
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
      if (!side.pairs->score(*tangent, scores)) return false;
      out.push_back(scores.best);
    }
  }
  const auto bytes = static_cast<std::int64_t>(64 + 8 * out.size());
  if (uses_table && context_.memory.try_charge(bytes)) {
    const SharedLock lock(shared_.mutex, context_.budget);
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

}  // namespace certree
