#include "search/chains/pairs.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace certree {

namespace {

constexpr std::int32_t kRowsPerCall = 4;

// At most one split on one side of a column.
struct Stub {
  Edge top;   // the steeper leaf, or the only one
  Edge rest;  // the other
  std::int32_t column = -1;
  std::int32_t splits() const { return column >= 0 ? 1 : 0; }
};

template <class V>
class ChainPairsOf final : public ChainPairs {
 public:
  ChainPairsOf(const Dataset& data, const ChainPairSettings& settings, Budget& budget, MemoryBudget& memory)
      : settings_(settings),
        budget_(budget),
        stopwatch_(budget),
        kernels_(kernels_for<V>(settings.isa)),
        n_types_(static_cast<std::size_t>(data.n_types())),
        n_pair_types_(static_cast<std::size_t>(data.n_pair_types())),
        columns_(memory),
        pairs_(memory) {}

  bool count(const Node& node) override {
    node_ = &node;
    budget_.add_work();
    n_ = static_cast<std::size_t>(node.n_columns);
    stride_ = static_cast<std::size_t>(node.stride);
    plane_ = n_ * stride_;
    V* columns = columns_.ensure(n_types_ * stride_);
    kernels_.count_columns(node.view(), columns);
    V* pairs = pairs_.ensure_unset(n_pair_types_ * plane_);
    BitColumns view = node.view();
    view.n_types = static_cast<std::int32_t>(n_pair_types_);
    const auto words_per_call = static_cast<std::int64_t>(node.n_columns) * node.n_words * kRowsPerCall;
    for (std::int32_t i = 0; i < node.n_columns; i += kRowsPerCall) {
      const std::int32_t last = std::min(i + kRowsPerCall, node.n_columns);
      kernels_.count_rows(view, i, last, pairs + static_cast<std::size_t>(i) * stride_, plane_);
      if (words_per_call > (1 << 20) ? budget_.poll() : stopwatch_.is_over(words_per_call)) return false;
    }
    total_ = {node.totals[0], node.totals[1], n_pair_types_ > 2 ? node.totals[2] : node.totals[0] + node.totals[1]};
    return true;
  }

  bool is_feasible(std::int32_t column) const override {
    const Cell side = column_cell(static_cast<std::size_t>(column));
    return is_large(side) && is_large(total_ - side);
  }
  Edge total() const override { return total_.edge(); }

  bool score(const Tangent& tangent, SideScores& out) override {
    const Cost penalty = tangent.penalty();
    out.yes.assign(n_, -kInfinite);
    out.no.assign(n_, -kInfinite);
    for (std::size_t i = 0; i < n_; ++i) {
      if (!is_feasible(static_cast<std::int32_t>(i))) continue;
      const Cell side = column_cell(i);
      out.yes[i] = tangent.score(side.edge());
      out.no[i] = tangent.score((total_ - side).edge());
    }
    const auto offer = [&](Cost value, Cost& best) { best = std::max(best, value - penalty); };
    for (std::size_t i = 0; i < n_; ++i) {
      if (out.yes[i] == -kInfinite) continue;
      if (stopwatch_.is_over(8 * static_cast<std::int64_t>(n_ - i))) return false;
      const Cell of_i = column_cell(i);
      for (std::size_t j = i + 1; j < n_; ++j) {
        if (out.yes[j] == -kInfinite) continue;
        const Cell of_j = column_cell(j);
        const Cell both = pair_cell(i, j);
        const Cell only_i = of_i - both, only_j = of_j - both, neither = total_ - of_i - only_j;
        const bool has_both = is_large(both), has_i = is_large(only_i), has_j = is_large(only_j),
                   has_neither = is_large(neither);
        const Cost score_both = tangent.score(both.edge()), score_i = tangent.score(only_i.edge()),
                   score_j = tangent.score(only_j.edge()), score_neither = tangent.score(neither.edge());
        if (has_both && has_i) offer(score_both + score_i, out.yes[i]);
        if (has_both && has_j) offer(score_both + score_j, out.yes[j]);
        if (has_j && has_neither) offer(score_j + score_neither, out.no[i]);
        if (has_i && has_neither) offer(score_i + score_neither, out.no[j]);
      }
    }
    out.best = tangent.score(total_.edge());
    for (std::size_t i = 0; i < n_; ++i) {
      if (out.yes[i] == -kInfinite) continue;
      out.best = std::max(out.best, out.yes[i] + out.no[i] - penalty);
    }
    return true;
  }

  bool chains(std::int32_t depth, const ChainNeeds& needs, ChainSet& out) override {
    CERTREE_DCHECK(depth <= 2);
    const std::size_t n_tangents = needs.tangents.size();
    add_leaf(needs, out);
    if (depth == 0 || settings_.max_splits == 0) return true;
    std::vector<SideScores> sides(n_tangents);
    for (std::size_t r = 0; r < n_tangents; ++r)
      if (!score(*needs.tangents[r], sides[r])) return false;
    std::vector<Stub> yes, no;
    std::vector<Cost> yes_scores, no_scores;
    for (std::size_t i = 0; i < n_; ++i) {
      if (budget_.poll()) return false;
      if (!is_feasible(static_cast<std::int32_t>(i)) || !can_exceed(needs, sides, i)) continue;
      collect(i, true, depth, needs, sides, yes, yes_scores);
      collect(i, false, depth, needs, sides, no, no_scores);
      if (!combine(i, needs, yes, yes_scores, no, no_scores, out)) return false;
    }
    return !settings_.drops_dominated || out.keep_undominated(settings_.tracks_splits, budget_);
  }

 private:
  struct Cell {
    Cost x = 0, y = 0, rows = 0;
    Edge edge() const { return {x, y}; }
    Cell operator-(const Cell& other) const { return {x - other.x, y - other.y, rows - other.rows}; }
  };

  bool is_large(const Cell& cell) const { return cell.rows >= settings_.min_leaf; }
  Cell column_cell(std::size_t i) const {
    const V* c = columns_.data() + i;
    const Cost x = c[0], y = c[stride_];
    return {x, y, n_pair_types_ > 2 ? static_cast<Cost>(c[2 * stride_]) : x + y};
  }
  Cell pair_cell(std::size_t i, std::size_t j) const {
    const V* c = pairs_.data() + (i < j ? i * stride_ + j : j * stride_ + i);
    const Cost x = c[0], y = c[plane_];
    return {x, y, n_pair_types_ > 2 ? static_cast<Cost>(c[2 * plane_]) : x + y};
  }

  void add_leaf(const ChainNeeds& needs, ChainSet& out) const {
    std::vector<Cost> scores(needs.tangents.size());
    for (std::size_t r = 0; r < scores.size(); ++r) {
      scores[r] = needs.tangents[r]->score(total_.edge());
      if (scores[r] <= needs.thresholds[r]) return;
    }
    const Edge edge = total_.edge();
    out.add({&edge, 1, 0, scores.data()}, {});
  }

  bool can_exceed(const ChainNeeds& needs, const std::vector<SideScores>& sides, std::size_t i) const {
    for (std::size_t r = 0; r < sides.size(); ++r)
      if (sides[r].yes[i] + sides[r].no[i] - needs.tangents[r]->penalty() <= needs.thresholds[r]) return false;
    return true;
  }

  // The stubs on one side of column i that can still exceed the needs, and their scores.
  void collect(std::size_t i, bool holds, std::int32_t depth, const ChainNeeds& needs,
               const std::vector<SideScores>& sides, std::vector<Stub>& stubs, std::vector<Cost>& scores) const {
    stubs.clear();
    const Cell of_i = column_cell(i);
    const Cell side = holds ? of_i : total_ - of_i;
    const std::size_t n_tangents = needs.tangents.size();
    // What a stub must exceed, given the best of the other side.
    std::vector<Cost> least(n_tangents);
    for (std::size_t r = 0; r < n_tangents; ++r)
      least[r] = needs.thresholds[r] + needs.tangents[r]->penalty() - (holds ? sides[r].no[i] : sides[r].yes[i]);
    const auto is_wanted = [&](const Stub& stub) {
      for (std::size_t r = 0; r < n_tangents; ++r)
        if (stub_score(*needs.tangents[r], stub) <= least[r]) return false;
      return true;
    };
    const Stub leaf{side.edge(), {}, -1};
    for (std::size_t j = 0; depth > 1 && j < n_; ++j) {
      if (j == i) continue;
      const Cell both = pair_cell(i, j);
      const Cell first = holds ? both : column_cell(j) - both;
      const Cell second = side - first;
      if (!is_large(first) || !is_large(second)) continue;
      const bool turns = is_steeper(first.edge(), second.edge());
      const Stub stub{turns ? first.edge() : second.edge(), turns ? second.edge() : first.edge(),
                      static_cast<std::int32_t>(j)};
      if (is_wanted(stub)) stubs.push_back(stub);
    }
    if (settings_.drops_dominated) keep_undominated(stubs);
    if (is_wanted(leaf) && (stubs.empty() || settings_.tracks_splits || !settings_.drops_dominated))
      stubs.push_back(leaf);
    scores.resize(stubs.size() * n_tangents);
    for (std::size_t k = 0; k < stubs.size(); ++k)
      for (std::size_t r = 0; r < n_tangents; ++r)
        scores[k * n_tangents + r] = stub_score(*needs.tangents[r], stubs[k]);
  }

  static Cost stub_score(const Tangent& tangent, const Stub& stub) {
    return tangent.score(stub.top) + (stub.column >= 0 ? tangent.score(stub.rest) - tangent.penalty() : 0);
  }

  // Two-leaf chains with the same ends: one is at or above another everywhere if it starts no flatter and ends no steeper
  // (docs/theory/auc.md).
  static void keep_undominated(std::vector<Stub>& stubs) {
    std::sort(stubs.begin(), stubs.end(), [](const Stub& a, const Stub& b) {
      const Exact by_top = cross(a.top, b.top);
      if (by_top != 0) return by_top < 0;
      const Exact by_rest = cross(a.rest, b.rest);
      return by_rest != 0 ? by_rest > 0 : a.column < b.column;
    });
    std::size_t kept = 0;
    for (std::size_t k = 0; k < stubs.size(); ++k)
      if (kept == 0 || cross(stubs[k].rest, stubs[kept - 1].rest) > 0) stubs[kept++] = stubs[k];
    stubs.resize(kept);
  }

  // False: stopped.
  bool combine(std::size_t i, const ChainNeeds& needs, const std::vector<Stub>& yes,
               const std::vector<Cost>& yes_scores, const std::vector<Stub>& no, const std::vector<Cost>& no_scores,
               ChainSet& out) {
    const std::size_t n_tangents = needs.tangents.size();
    std::vector<Cost> scores(n_tangents);
    std::array<Edge, 4> edges;
    for (std::size_t a = 0; a < yes.size(); ++a) {
      if (stopwatch_.is_over(8 * static_cast<std::int64_t>(no.size()))) return false;
      for (std::size_t b = 0; b < no.size(); ++b) {
        bool is_wanted = true;
        for (std::size_t r = 0; r < n_tangents; ++r) {
          scores[r] = yes_scores[a * n_tangents + r] + no_scores[b * n_tangents + r] - needs.tangents[r]->penalty();
          is_wanted &= scores[r] > needs.thresholds[r];
        }
        const std::int32_t splits = 1 + yes[a].splits() + no[b].splits();
        if (!is_wanted || (settings_.max_splits >= 0 && splits > settings_.max_splits)) continue;
        const Edge first[] = {yes[a].top, yes[a].rest}, second[] = {no[b].top, no[b].rest};
        const std::size_t n = merge_chains(first, static_cast<std::size_t>(1 + yes[a].splits()), second,
                                           static_cast<std::size_t>(1 + no[b].splits()), edges.data());
        out.add({edges.data(), n, splits, scores.data()}, {data_column(i), stub_origin(yes[a]), stub_origin(no[b])});
      }
    }
    return true;
  }

  std::int32_t data_column(std::size_t local) const { return node_->column[local]; }
  std::int32_t stub_origin(const Stub& stub) const {
    return stub.column < 0 ? kChainLeaf : chain_stump(data_column(static_cast<std::size_t>(stub.column)));
  }

  ChainPairSettings settings_;
  Budget& budget_;
  Stopwatch stopwatch_;
  const Kernels<V>& kernels_;
  std::size_t n_types_;       // counted for columns
  std::size_t n_pair_types_;  // negatives, positives, and rows where these are not their sum
  const Node* node_ = nullptr;
  std::size_t n_ = 0, stride_ = 0, plane_ = 0;
  Cell total_;
  AlignedArray<V> columns_, pairs_;
};

}  // namespace

std::unique_ptr<ChainPairs> make_chain_pairs(const Dataset& data, const ChainPairSettings& settings, Budget& budget,
                                             MemoryBudget& memory) {
  Cost largest = 0;
  for (const Cost total : data.totals()) largest = std::max(largest, total);
  if (largest < kInfeasible<std::int32_t>)
    return std::make_unique<ChainPairsOf<std::int32_t>>(data, settings, budget, memory);
  return std::make_unique<ChainPairsOf<std::int64_t>>(data, settings, budget, memory);
}

}  // namespace certree
