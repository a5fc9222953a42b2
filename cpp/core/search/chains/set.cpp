#include "search/chains/set.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

Cost ChainSet::best_score(std::size_t tangent) const {
  Cost best = -kInfinite;
  for (std::size_t i = 0; i < size(); ++i) best = std::max(best, scores_[i * n_scores_ + tangent]);
  return best;
}

void ChainSet::add(const Chain& chain, const Plan& origin) {
  items_.push_back({edges_.size(), static_cast<std::uint32_t>(chain.n_edges), chain.splits, origin});
  edges_.insert(edges_.end(), chain.edges, chain.edges + chain.n_edges);
  scores_.insert(scores_.end(), chain.scores, chain.scores + n_scores_);
  if ((items_.size() & 255) == 0) charge();
}

void ChainSet::clear() {
  edges_.clear();
  items_.clear();
  scores_.clear();
}

void ChainSet::charge() {
  const auto bytes = static_cast<std::int64_t>(edges_.capacity() * sizeof(Edge) + items_.capacity() * sizeof(Item) +
                                               scores_.capacity() * sizeof(Cost));
  if (bytes > charged_) {
    memory_.charge(bytes - charged_);
    charged_ = bytes;
  }
}

void ChainSet::keep(const std::vector<std::size_t>& indices) {
  std::vector<Edge> edges;
  std::vector<Item> items;
  std::vector<Cost> scores;
  items.reserve(indices.size());
  scores.reserve(indices.size() * n_scores_);
  for (const std::size_t i : indices) {
    Item item = items_[i];
    const Edge* first = edges_.data() + item.begin;
    item.begin = edges.size();
    edges.insert(edges.end(), first, first + item.n_edges);
    items.push_back(item);
    scores.insert(scores.end(), scores_.begin() + static_cast<std::ptrdiff_t>(i * n_scores_),
                  scores_.begin() + static_cast<std::ptrdiff_t>((i + 1) * n_scores_));
  }
  edges_ = std::move(edges);
  items_ = std::move(items);
  scores_ = std::move(scores);
}

// A chain that is at or above another one everywhere has at least its area, and its score under every tangent: candidates
// are taken by falling area, and scores decide most comparisons.
bool ChainSet::keep_undominated(bool with_splits, Budget& budget) {
  if (size() < 2) return true;
  std::vector<Exact> area(size());
  for (std::size_t i = 0; i < size(); ++i) area[i] = doubled_area((*this)[i].edges, (*this)[i].n_edges);
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (area[a] != area[b]) return area[a] > area[b];
    return items_[a].splits != items_[b].splits ? items_[a].splits < items_[b].splits : a < b;
  });
  std::vector<std::size_t> kept;
  Stopwatch stopwatch(budget);
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (((at & 255) == 0 && budget.poll()) || stopwatch.is_over(8 * static_cast<std::int64_t>(kept.size())))
      return false;
    const Chain candidate = (*this)[order[at]];
    const bool is_dominated = std::any_of(kept.begin(), kept.end(), [&](std::size_t k) {
      const Chain other = (*this)[k];
      if (with_splits && other.splits > candidate.splits) return false;
      for (std::size_t r = 0; r < n_scores_; ++r)
        if (other.scores[r] < candidate.scores[r]) return false;
      return is_above(other.edges, other.n_edges, candidate.edges, candidate.n_edges);
    });
    if (!is_dominated) kept.push_back(order[at]);
  }
  keep(kept);
  return true;
}

void ChainSet::keep_above(const std::vector<Cost>& thresholds) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < size(); ++i) {
    bool is_above_all = true;
    for (std::size_t r = 0; r < n_scores_; ++r) is_above_all &= scores_[i * n_scores_ + r] > thresholds[r];
    if (is_above_all) kept.push_back(i);
  }
  if (kept.size() < size()) keep(kept);
}

void ChainSet::sort_by_score() {
  if (n_scores_ == 0) return;
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores_[a * n_scores_] > scores_[b * n_scores_]; });
  keep(order);
}

}  // namespace certree
