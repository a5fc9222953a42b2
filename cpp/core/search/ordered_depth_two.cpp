#include "search/ordered_depth_two.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/crew.hpp"
#include "search/ordered_bins.hpp"
#include "search/ordered_root.hpp"
#include "search/ordered_siblings.hpp"
#include "search/ordered_single.hpp"
#include "search/ordered_stump.hpp"

namespace certree {

namespace {

// Pairs are counted in n steps and scanned in about kBins^2 n: more bins give fewer open ones (docs/theory/ordered-features.md,
// what is chosen where).
constexpr double kBinsPerRoot = 0.7;
constexpr std::int32_t kMostCoarseBins = 240;
// A threshold is evaluated this share of all cost past what could still win: a wider margin skips more of its neighbours.
constexpr Cost kSlackShare = 128;
// Looking at so many values takes some milliseconds.
constexpr std::int64_t kManyValues = std::int64_t{1} << 18;
// Intervals of thresholds between two looks at the clock: about a tenth of a millisecond.
constexpr std::int64_t kPollEvery = 16;
// Threads share pair tables that take so many steps or more, a tenth of a millisecond.
constexpr std::int64_t kSharedSteps = std::int64_t{1} << 17;

template <class V>
class DepthTwoSearch final : public OrderedDepthTwo {
 public:
  DepthTwoSearch(const OrderedData& data, const Options& options, const Objective& objective, Budget& budget,
                 MemoryBudget& memory, Progress& progress)
      : data_(data),
        options_(options),
        objective_(objective),
        budget_(budget),
        progress_(progress),
        kernels_(pair_kernels_for<V>(options.isa)),
        own_(data, options.min_leaf, budget, memory),
        siblings_(data, options, budget, memory),
        stump_(data, options.use_run_blocks, memory),
        singles_(data, options, objective, stump_),
        lows_(memory),
        crew_(data.leaves() != nullptr ? 1 : std::max(options.threads, 1)),  // functions are asked by one thread
        root_(data, options, objective, memory) {
    for (int worker = 0; worker < crew_.size(); ++worker) {
      lanes_.push_back(std::make_unique<Lane>(memory));
      lanes_.back()->scratch.ensure(pair_scratch_size(data.rule()));
    }
  }

  OrderedFound solve(const OrderedRows& rows, std::int64_t splits, Cost ceiling, Cost* by_root,
                     OrderedSplit* split) override {
    budget_.add_work();
    set_ = siblings_.fits(rows) ? siblings_.take(rows, own_) : nullptr;
    if (set_ == nullptr) {
      if (has_pairs()) {
        own_.take(rows, bins_for(rows.n_rows), kFewBins);
      } else {
        own_.take(rows, 1, 1);
      }
      set_ = &own_;
    }
    stump_.start_set(*set_);
    slack_ = objective_.leaf(data_.has_worst() ? set_->worst() : Cost{set_->leaf_cost()}) / kSlackShare;
    start(splits, ceiling, by_root, split);
    is_scanned_all_ = false;
    if (is_leaf_best()) return {best_.value, best_.value, best_.value};
    try_single_splits();
    if (!set_->is_complete() || is_cut()) return {0, 0, best_.value};
    list_roots();
    if (!scan_pairs()) return {0, 0, best_.value};  // the trees found so far count
    is_scanned_all_ = true;
    return close();
  }

  OrderedFound solve_again(std::int64_t splits, Cost ceiling, Cost* by_root, OrderedSplit* split) override {
    start(splits, ceiling, by_root, split);
    if (is_leaf_best()) return {best_.value, best_.value, best_.value};
    try_single_splits();
    if (!is_scanned_all_) return {0, 0, best_.value};
    for (const std::int32_t f : roots_)
      if (is_scanned_[static_cast<std::size_t>(f)]) offer_edges(f);
    return close();
  }

  OrderedFound best_split(const OrderedRows& rows, OrderedSplit* split) override {
    set_ = &own_;
    is_scanned_all_ = false;
    const std::int32_t bins = data_.leaves() == nullptr ? kMostBins : 1;  // all thresholds are asked about at once
    own_.take(rows, bins, bins);
    stump_.start_set(*set_);
    *split = {};
    best_.value = objective_.leaf(set_->leaf_cost());
    best_.split = split;
    Cost loose = best_.value;
    bool is_whole = set_->is_complete();
    const bool is_large = static_cast<std::int64_t>(rows.n_rows) * data_.n_features() > kManyValues;
    // Edges of bins first: few bins can hold a better threshold than the best of them.
    for (const std::int32_t f : set_->live())
      if (has_leaf_sums() || !set_->feature(f).has_inner) loose = std::min(loose, singles_.edges(*set_, f, best_));
    for (const std::int32_t f : set_->live()) {
      if (!set_->feature(f).has_inner) continue;
      // Where the budget has ended, the edges must do.
      if (is_large && poll()) {
        is_whole = false;
        loose = std::min(loose, singles_.edges(*set_, f, best_));
      } else {
        loose =
            std::min(loose, has_leaf_sums() ? singles_.inside(*set_, f, best_) : singles_.thresholds(*set_, f, best_));
      }
    }
    if (!is_whole || is_cut()) return {0, 0, best_.value};
    return {best_.value, loose, best_.value};
  }

  Cost leaf_value(const OrderedRows& rows, std::int32_t* label) override {
    if (data_.leaves() != nullptr) return objective_.leaf(data_.leaves()->leaf(rows.rows, rows.n_rows, label));
    std::vector<Cost> sums(static_cast<std::size_t>(data_.rule().n_planes), 0);
    for (std::int32_t k = 0; k < rows.n_rows; ++k) {
      const std::int32_t row = rows.rows[k];
      if (data_.adds_to_one_plane()) {
        sums[static_cast<std::size_t>(data_.plane(row))] += data_.value(row, data_.plane(row));
      } else {
        for (std::int32_t d = 0; d < data_.rule().n_planes; ++d)
          sums[static_cast<std::size_t>(d)] += data_.value(row, d);
      }
    }
    return objective_.leaf(data_.leaf_cost(sums.data(), label));
  }

 private:
  // What is known of the second splits of one side of an edge of a root feature, over all second features.
  struct Folded {
    V* edge;
    V* inner;
    V* loose;
  };
  void start(std::int64_t splits, Cost ceiling, Cost* by_root, OrderedSplit* split) {
    *split = {};
    best_.value = objective_.leaf(set_->leaf_cost());
    best_.split = split;
    by_ = by_root;
    ceiling_ = ceiling;
    is_short_ = splits == 2;
  }
  // Cells of pair tables tell what leaves cost.  Where they do not, all thresholds are in one bin.
  bool has_pairs() const { return data_.rule().form != PlaneForm::rows; }
  // Sums over the rows of a leaf tell what it costs.
  bool has_leaf_sums() const { return data_.leaves() == nullptr; }
  // Costs that are asked for have no answer any more.
  bool is_cut() const { return data_.leaves() != nullptr && data_.leaves()->is_cut(); }
  bool is_leaf_best() const { return best_.value <= objective_.split_penalty || best_.value == 0; }

  // What pair tables leave open.
  OrderedFound close() {
    bound_roots();
    for (const std::int32_t f : roots_)
      if (low_[static_cast<std::size_t>(f)] < limit() && has_open_bins(f) && !refine(f)) break;
    OrderedFound found{objective_.leaf(set_->leaf_cost()), objective_.leaf(set_->leaf_cost()), best_.value};
    for (const std::int32_t f : set_->live()) {
      const auto at = static_cast<std::size_t>(f);
      found.lower = std::min(found.lower, std::max(low_[at], true_low_[at]));
      found.loose = std::min(found.loose, low_[at]);
      by_[f] = std::max(by_[f], std::min(low_[at], one_level_));
    }
    found.lower = std::min(found.lower, best_.value);
    found.loose = std::min(found.loose, best_.value);
    return found;
  }

  static std::int32_t bins_for(std::int32_t n_rows) {
    const auto bins = static_cast<std::int32_t>(kBinsPerRoot * std::sqrt(static_cast<double>(n_rows)));
    return std::clamp(bins, 4, kMostCoarseBins);
  }
  bool poll() {
    progress_.observe();
    return budget_.poll();
  }
  Cost limit() const { return std::min(best_.value, ceiling_); }
  // Pair tables say all: no threshold is inside of a bin, and no leaf too small.
  bool is_exact() const { return !set_->has_inner() && !limits_leaves(); }
  bool limits_leaves() const { return options_.min_leaf > 1; }

  // The value of a side whose best single split costs `split`, or of a leaf.
  Cost side_value(V leaf, V split) const {
    Cost value = leaf >= kInfeasible<V> ? kInfinite : objective_.leaf(leaf);
    if (split < kInfeasible<V>) value = std::min(value, objective_.split(objective_.leaf(split)));
    return value;
  }

  // What a thread counts pairs in, and what it knows of second splits.
  struct Lane {
    explicit Lane(MemoryBudget& memory) : cells(memory), scratch(memory), folded(memory) {}
    AlignedArray<V> cells, scratch, folded;
    V pair[2][2][3][kMostBins + 16];  // [root is the first or the second][side][edge, inner, loose]
  };

  Folded folded(std::int32_t f, int side) { return folded(*lanes_[0], f, side); }
  Folded folded(Lane& lane, std::int32_t f, int side) {
    V* at = lane.folded.data() + static_cast<std::size_t>((f * 2 + side) * 3) * kStride;
    return {at, at + kStride, is_exact() ? at : at + 2 * kStride};
  }
  // [bin]: bound of the second splits by g of a side of the edges of f.
  V* low(std::int32_t f, std::int32_t g, int side) {
    const auto n = static_cast<std::size_t>(data_.n_features());
    return lows_.data() +
           ((static_cast<std::size_t>(f) * n + static_cast<std::size_t>(g)) * 2 + static_cast<std::size_t>(side)) *
               static_cast<std::size_t>(low_stride_);
  }

  void try_single_splits() {
    single_ = kInfinite;
    for (const std::int32_t f : set_->live())
      single_ = std::min(single_, has_pairs() ? singles_.edges(*set_, f, best_) : singles_.thresholds(*set_, f, best_));
  }

  // Roots by rising bounds; features whose trees cannot be better are at the end.
  void list_roots() {
    if (!options_.use_root_feature_bounds)
      for (const std::int32_t f : set_->live()) by_[f] = 0;
    roots_ = set_->live();
    std::stable_sort(roots_.begin(), roots_.end(), [&](std::int32_t a, std::int32_t b) { return by_[a] < by_[b]; });
    is_scanned_.assign(static_cast<std::size_t>(data_.n_features()), 0);
    low_stride_ = 0;
    for (const std::int32_t f : roots_) low_stride_ = std::max(low_stride_, set_->feature(f).n_bins);
    if (set_->has_inner()) {
      const auto n = static_cast<std::size_t>(data_.n_features());
      lows_.ensure(n * n * 2 * static_cast<std::size_t>(low_stride_));
    }
  }

  // Counts and scans all pairs with a feature that may still be the root of a better tree.  False: stopped.
  bool scan_pairs() {
    pairs_.clear();
    for (std::size_t a = 0; a < roots_.size() && by_[roots_[a]] < limit(); ++a) {
      is_scanned_[static_cast<std::size_t>(roots_[a])] = 1;
      for (std::size_t b = a; b < roots_.size(); ++b) pairs_.emplace_back(roots_[a], roots_[b]);
    }
    if (!has_pairs()) return leave_open();
    counters.pair_tables += static_cast<std::int64_t>(pairs_.size());
    const std::int64_t n = static_cast<std::int64_t>(pairs_.size()), steps = n * set_->n_rows();
    const std::size_t lanes = crew_.size() > 1 && steps >= kSharedSteps ? lanes_.size() : 1;
    for (std::size_t k = 0; k < lanes; ++k) prepare(*lanes_[k]);
    const std::int64_t between = std::max<std::int64_t>(kManyValues / std::max(set_->n_rows(), 1), 1);
    std::atomic<bool> is_whole = true;
    if (lanes > 1) {
      siblings_.make_room();
      // Whoever waits for the result looks at the clock: an observer must be called from its own thread.
      crew_.run(n, [&](int worker, std::int64_t k) {
        if (!is_whole) return;
        scan_pair(*lanes_[static_cast<std::size_t>(worker)], pairs_[static_cast<std::size_t>(k)]);
        if (worker == 0 && k % between == between - 1 && poll()) is_whole = false;
      });
      for (std::size_t k = 1; k < lanes; ++k) join_lane(*lanes_[k]);
    } else {
      for (std::int64_t k = 0; k < n && is_whole; ++k) {
        scan_pair(*lanes_[0], pairs_[static_cast<std::size_t>(k)]);
        if (k % between == between - 1 && poll()) is_whole = false;
      }
    }
    // Where the budget ended on the way, trees of the pairs that were scanned count.
    for (const std::int32_t f : roots_)
      if (is_scanned_[static_cast<std::size_t>(f)]) offer_edges(f);
    return is_whole && !is_cut();
  }
  // Nothing is known of second splits.
  bool leave_open() {
    prepare(*lanes_[0]);
    for (const std::int32_t f : roots_)
      for (int side = 0; side < 2 && is_scanned_[static_cast<std::size_t>(f)]; ++side)
        std::fill_n(folded(f, side).inner, kStride, V{0});
    return true;
  }

  // Room for any pair of the set, and nothing known yet.
  void prepare(Lane& lane) {
    std::size_t most = 0;
    for (const std::int32_t f : roots_)
      most = std::max(most, static_cast<std::size_t>((set_->feature(f).n_bins + 15) / 16 * 16));
    const auto planes = static_cast<std::size_t>(data_.rule().n_planes + (limits_leaves() ? 1 : 0));
    lane.cells.ensure(most * most * planes);
    lane.folded.ensure(static_cast<std::size_t>(data_.n_features()) * 6 * kStride);
    for (const std::int32_t f : roots_)
      for (int side = 0; side < 2 && is_scanned_[static_cast<std::size_t>(f)]; ++side)
        std::fill_n(folded(lane, f, side).edge, 3 * kStride, kInfeasible<V>);
  }
  // The least of what two threads know.
  void join_lane(Lane& lane) {
    for (const std::int32_t f : roots_)
      for (int side = 0; side < 2 && is_scanned_[static_cast<std::size_t>(f)]; ++side) {
        V* mine = folded(f, side).edge;
        const V* other = folded(lane, f, side).edge;
        for (std::size_t k = 0; k < 3 * kStride; ++k) mine[k] = std::min(mine[k], other[k]);
      }
  }

  void scan_pair(Lane& lane, const std::pair<std::int32_t, std::int32_t>& pair) {
    const auto [f, g] = std::minmax(pair.first, pair.second);
    const SetFeature<V>&first = set_->feature(f), &second = set_->feature(g);
    const std::int32_t stride = (second.n_bins + 15) / 16 * 16;
    const auto plane = static_cast<std::size_t>(first.n_bins) * static_cast<std::size_t>(stride);
    const std::int32_t planes = data_.rule().n_planes + (limits_leaves() ? 1 : 0);
    PairTable<V> table;
    table.rule = data_.rule();
    table.n_first = first.n_bins;
    table.n_second = second.n_bins;
    table.stride = stride;
    if (siblings_.fits(set_->given())) {
      siblings_.count(kernels_, f, g, *set_, table);
    } else {
      V* cells = lane.cells.ensure(plane * static_cast<std::size_t>(planes));
      std::fill_n(cells, plane * static_cast<std::size_t>(planes), V{0});
      set_->count_pair(kernels_, f, g, stride, plane, cells);
      table.cells = cells;
    }
    table.first_line = first.line.data();
    table.first_stride = first.stride;
    table.second_line = second.line.data();
    table.second_stride = second.stride;
    table.first_inner = first.inner;
    table.second_inner = second.inner;
    table.has_inner = first.has_inner || second.has_inner;
    table.min_leaf = limits_leaves() ? static_cast<V>(std::min<std::int64_t>(options_.min_leaf, kInfeasible<V>)) : V{0};
    for (int side = 0; side < 2; ++side) {
      auto &first_found = lane.pair[0][side], &second_found = lane.pair[1][side];
      table.first[side] = {first_found[0], first_found[1], limits_leaves() ? first_found[2] : nullptr};
      table.second[side] = {second_found[0], second_found[1], limits_leaves() ? second_found[2] : nullptr};
    }
    kernels_.scan_pair(table, lane.scratch.data());
    for (int side = 0; side < 2; ++side) {
      if (is_scanned_[static_cast<std::size_t>(f)]) fold(lane, f, g, side, table.first[side]);
      if (f != g && is_scanned_[static_cast<std::size_t>(g)]) fold(lane, g, f, side, table.second[side]);
    }
  }

  void fold(Lane& lane, std::int32_t root, std::int32_t second, int side, const SideSplits<V>& found) {
    const Folded all = folded(lane, root, side);
    if (is_exact()) {
      for (std::int32_t b = 0; b < set_->feature(root).n_bins; ++b) all.edge[b] = std::min(all.edge[b], found.edge[b]);
      return;
    }
    const V* loose = found.loose != nullptr ? found.loose : found.edge;
    const std::int32_t n = set_->feature(root).n_bins;
    if (!options_.use_dropped_rows)
      for (std::int32_t b = 0; b < n; ++b) found.inner[b] = found.inner[b] < kInfeasible<V> ? 0 : kInfeasible<V>;
    for (std::int32_t b = 0; b < n; ++b) {
      all.edge[b] = std::min(all.edge[b], found.edge[b]);
      all.inner[b] = std::min(all.inner[b], found.inner[b]);
      all.loose[b] = std::min(all.loose[b], loose[b]);
    }
    if (!set_->has_inner()) return;
    V* low_of = low(root, second, side);
    for (std::int32_t b = 0; b < n; ++b) low_of[b] = std::min(loose[b], found.inner[b]);
  }

  // What the two sides of a root test cost, each as a leaf or with a split, as far as splits allow.
  Cost join(const Cost* best, const Cost* leaf) const {
    return objective_.split(is_short_ ? std::min(best[0] + leaf[1], leaf[0] + best[1]) : best[0] + best[1]);
  }

  // Trees whose tests are at edges of bins; `inner` counts thresholds inside of bins of second features in, as a bound.
  Cost edge_value(std::int32_t f, std::int32_t b, bool inner) {
    const SetFeature<V>& own = set_->feature(f);
    if (own.limited[0][b] >= kInfeasible<V> || own.limited[1][b] >= kInfeasible<V>) return kInfinite;
    Cost best[2], leaf[2];
    for (int side = 0; side < 2; ++side) {
      const Folded s = folded(f, side);
      leaf[side] = objective_.leaf(own.limited[side][b]);
      best[side] = side_value(own.limited[side][b], inner ? std::min(s.edge[b], s.inner[b]) : s.edge[b]);
    }
    return join(best, leaf);
  }
  void offer_edges(std::int32_t f) {
    for (std::int32_t b = 0; b + 1 < set_->feature(f).n_bins; ++b)
      best_.offer(edge_value(f, b, false), f, set_->last_rank(f, b));
  }

  // What any subtree costs on one side of an edge.
  Cost loose_side(std::int32_t f, std::int32_t b, int side) {
    const Folded s = folded(f, side);
    return side_value(set_->feature(f).leaf[side][b], std::min(s.loose[b], s.inner[b]));
  }
  // Beyond the last edge, all rows are on the left.
  RootSides loose_edge(std::int32_t f, std::int32_t b) {
    const SetFeature<V>& own = set_->feature(f);
    const bool is_last = b + 1 >= own.n_bins;
    const Cost best[2] = {loose_side(f, b, 0), is_last ? 0 : loose_side(f, b, 1)};
    const Cost leaf[2] = {objective_.leaf(own.leaf[0][b]), is_last ? 0 : objective_.leaf(own.leaf[1][b])};
    return RootSides::divide(is_short_, best, leaf);
  }

  // Bounds of all trees with a root feature, from edges and from bins.
  void bound_roots() {
    low_.assign(by_, by_ + data_.n_features());
    true_low_ = low_;
    one_level_ = std::min(objective_.leaf(set_->leaf_cost()), single_);
    for (const std::int32_t f : roots_)
      if (is_scanned_[static_cast<std::size_t>(f)]) bound_root(f);
    std::stable_sort(roots_.begin(), roots_.end(), [&](std::int32_t a, std::int32_t b) {
      return low_[static_cast<std::size_t>(a)] < low_[static_cast<std::size_t>(b)];
    });
  }
  void bound_root(std::int32_t f) {
    const SetFeature<V>& own = set_->feature(f);
    Cost loose = kInfinite, lower = kInfinite;
    RootSides before;
    for (std::int32_t b = 0; b < own.n_bins; ++b) {
      const RootSides here = loose_edge(f, b);
      if (own.inner[b] == 0) {
        const Cost inside = options_.use_dropped_rows ? dropped_rows_bound(objective_, before, here, is_short_) : 0;
        loose = std::min(loose, inside);
        lower = std::min(lower, inside);
      }
      before = here;
      if (b + 1 >= own.n_bins) break;
      loose = std::min(loose, objective_.split(here.sum(is_short_)));
      lower = std::min(lower, edge_value(f, b, true));
    }
    if (has_pairs()) one_level_ = std::min(one_level_, before.best(is_short_, 0));
    low_[static_cast<std::size_t>(f)] = std::max(by_[f], loose);
    true_low_[static_cast<std::size_t>(f)] = std::max(by_[f], lower);
  }

  // Something of this root is not known exactly: bins with thresholds inside, of itself or of a second feature.
  bool has_open_bins(std::int32_t f) const {
    return is_scanned_[static_cast<std::size_t>(f)] && set_->has_inner() &&
           true_low_[static_cast<std::size_t>(f)] < limit();
  }

  // Halves the range of thresholds until bounds close what is left.  False: stopped, with no better bound.
  bool refine(std::int32_t f) {
    root_.start(*set_, stump_, f, is_short_);
    for (std::int32_t b = 0; b + 1 < set_->feature(f).n_bins; ++b)
      root_.set_edge(b, loose_edge(f, b), edge_value(f, b, true));
    Cost loose = kInfinite, lower = kInfinite;
    stack_.assign(1, {{0, {}}, {set_->n_rows(), {}}});
    std::int64_t n_seen = 0;
    while (!stack_.empty()) {
      if (((n_seen++ % kPollEvery == 0 || data_.leaves() != nullptr) && poll()) || is_cut()) return false;
      const RootInterval at = stack_.back();
      stack_.pop_back();
      const Cost bound = root_.bound_of(at);
      typename RootThresholds<V>::Inside inside;
      const std::int32_t p = bound >= limit() ? -1 : root_.open_middle(at, limit(), &inside);
      if (p < 0) {  // nothing inside can be below the limit
        loose = std::min(loose, inside.leaves_small ? bound : std::max(bound, limit()));
        if (limits_leaves()) loose = std::min(loose, root_.loose_edges(inside));
        lower = std::min(lower, std::max(bound, limit()));
        continue;
      }
      const Evaluated found = evaluate(at, p);
      loose = std::min(loose, objective_.split(found.point.sides.sum(is_short_)));
      lower = std::min(lower, found.lower);
      stack_.push_back({found.point, at.b});
      stack_.push_back({at.a, found.point});
    }
    low_[static_cast<std::size_t>(f)] = std::max(low_[static_cast<std::size_t>(f)], loose);
    true_low_[static_cast<std::size_t>(f)] = std::max(true_low_[static_cast<std::size_t>(f)], lower);
    return true;
  }

  struct Evaluated {
    RootPoint point;
    Cost lower = 0;  // of the trees with this root test
  };
  // The best second splits of both sides of a threshold: first of the side with fewer open second features, since what it
  // costs closes some of the other side.
  Evaluated evaluate(const RootInterval& at, std::int32_t position) {
    ++counters.thresholds;
    const std::int32_t f = root_.root(), bin = root_.bin_of(position);
    stump_.part(position, bin);
    const std::int32_t bins[2] = {root_.is_edge(position, bin) ? bin : bin - 1,
                                  bin + 1 < set_->feature(f).n_bins ? bin : -1};
    const std::int32_t number = root_.add_point();
    RootSide sides[2];
    Cost loose[2], leaf[2];
    for (int s = 0; s < 2; ++s) {
      loose[s] = std::max(bins[s] >= 0 ? root_.edge(bins[s]).best(is_short_, s) : 0, root_.side_bound(at, position, s));
      leaf[s] = objective_.leaf(stump_.side_cost(s));
      const bool fits = stump_.side_rows(s) >= set_->min_leaf();
      sides[s] = {leaf[s], fits ? leaf[s] : kInfinite, fits};
      sides[s].upper = sides[s].lower;
    }
    const Cost wanted = limit() + slack_ - objective_.split_penalty;
    std::ptrdiff_t open[2];
    for (int s = 0; s < 2; ++s) {
      bound_seconds(at, position, s, bins[s]);
      const Cost below = std::min(sides[s].upper, wanted - (is_short_ ? leaf[1 - s] : loose[1 - s]));
      open[s] = std::count_if(seconds_[s].begin(), seconds_[s].end(), [&](const Second& g) { return g.bound < below; });
    }
    const int first = open[0] <= open[1] ? 0 : 1;
    for (const int s : {first, 1 - first}) {
      try_seconds(s, wanted - (is_short_ ? leaf[1 - s] : loose[1 - s]), sides[s]);
      loose[s] = std::max(loose[s], sides[s].loose);
      Cost* kept = root_.seconds(number, s);
      for (const Second& g : seconds_[s]) kept[g.feature] = std::min(g.bound, objective_.split(leaf[s]));
    }
    Evaluated out{{position, RootSides::divide(is_short_, loose, leaf), number}, kInfinite};
    if (sides[0].fits && sides[1].fits) {
      const Cost upper[2] = {sides[0].upper, sides[1].upper}, lower[2] = {sides[0].lower, sides[1].lower};
      best_.offer(join(upper, leaf), f, root_.rank_at(position));
      out.lower = std::max(join(lower, leaf), objective_.split(out.point.sides.sum(is_short_)));
    }
    if (root_.is_edge(position, bin)) root_.keep_sides(bin, out.point.sides);
    return out;
  }

  // What is known of the splits of a side of a threshold by one second feature.
  struct Second {
    Cost bound;
    std::int32_t feature;
  };
  void bound_seconds(const RootInterval& at, std::int32_t position, int side, std::int32_t bin) {
    const typename RootThresholds<V>::Neighbours near = root_.neighbours(at, position, side);
    seconds_[side].clear();
    for (const std::int32_t g : set_->live()) {
      const V low_of = bin >= 0 ? low(root_.root(), g, side)[bin] : V{0};
      const Cost bound = low_of >= kInfeasible<V> ? kInfinite : objective_.split(objective_.leaf(low_of));
      seconds_[side].push_back({std::max(bound, near.second_bound(g)), g});
    }
  }
  // Second features by rising bounds; those that can bring the side neither below what is found nor below what is wanted
  // keep their bound.
  void try_seconds(int side, Cost wanted, RootSide& found) {
    auto at = seconds_[side].begin();
    for (const auto end = seconds_[side].end(); at != end; ++at) {
      std::iter_swap(at, std::min_element(at, end, [](const Second& a, const Second& b) { return a.bound < b.bound; }));
      if (at->bound >= std::min(found.upper, wanted)) break;
      const SecondSplit<V> best = stump_.split(kernels_, at->feature, side);
      at->bound = side_value(kInfeasible<V>, best.loose);
      found.take(at->bound, side_value(kInfeasible<V>, best.limited));
    }
    if (at != seconds_[side].end()) found.keep(at->bound);
  }

  static constexpr std::size_t kStride = kMostBins + 1;

  const OrderedData& data_;
  const Options& options_;
  const Objective& objective_;
  Budget& budget_;
  Progress& progress_;
  const PairKernels<V>& kernels_;
  RowSetBins<V> own_;
  SiblingTables<V> siblings_;
  RowSetBins<V>* set_ = nullptr;
  Stump<V> stump_;
  SingleSplits<V> singles_;
  AlignedArray<V> lows_;
  Crew crew_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs_;
  std::int32_t low_stride_ = 0;
  std::vector<std::int32_t> roots_;
  std::vector<std::uint8_t> is_scanned_;
  // [feature]: bounds of the trees with a root test that parts the rows; for leaves of any size, and for large enough ones.
  std::vector<Cost> low_, true_low_;
  Cost single_ = 0;     // value of the single splits that were tried, for leaves of any size
  Cost one_level_ = 0;  // bound of the trees of depth one, for leaves of any size
  OrderedBest best_;
  Cost ceiling_ = 0, slack_ = 0;
  bool is_scanned_all_ = false;  // pairs of the rows at hand, as far as they mattered
  Cost* by_ = nullptr;
  bool is_short_ = false;   // two splits at most, where three fit
  RootThresholds<V> root_;  // the one under refinement
  std::vector<RootInterval> stack_;
  std::vector<Second> seconds_[2];  // [side]
};

}  // namespace

std::unique_ptr<OrderedDepthTwo> make_ordered_depth_two(const OrderedData& data, const Options& options,
                                                        const Objective& objective, Budget& budget,
                                                        MemoryBudget& memory, Progress& progress) {
  if (data.largest() < kInfeasible<std::int32_t>)
    return std::make_unique<DepthTwoSearch<std::int32_t>>(data, options, objective, budget, memory, progress);
  return std::make_unique<DepthTwoSearch<std::int64_t>>(data, options, objective, budget, memory, progress);
}

}  // namespace certree
