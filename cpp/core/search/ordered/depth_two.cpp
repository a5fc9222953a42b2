#include "search/ordered/depth_two.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "search/ordered/bins.hpp"
#include "search/ordered/pairs.hpp"
#include "search/ordered/root.hpp"
#include "search/ordered/single.hpp"
#include "search/ordered/stump.hpp"

namespace certree {

namespace {

// A threshold is evaluated this share of all cost beyond what could still win: a wider margin skips more of its neighbours.
constexpr Cost kSlackShare = 128;
// Looking at so many values takes some milliseconds.
constexpr std::int64_t kManyValues = std::int64_t{1} << 18;
// Intervals of thresholds between two looks at the clock: about a tenth of a millisecond, where features are few.
constexpr std::int64_t kPollEvery = 16;
// Putting a row in its place along a second feature takes as long as so many steps of other loops.
constexpr std::int64_t kStepsPerRow = 4;

template <class V>
class DepthTwoSearch final : public OrderedDepthTwo {
 public:
  DepthTwoSearch(const OrderedData& data, const Options& options, const Objective& objective, Budget& budget,
                 MemoryBudget& memory, Progress& progress)
      : data_(data),
        options_(options),
        objective_(objective),
        budget_(budget),
        stopwatch_(budget),
        progress_(progress),
        kernels_(pair_kernels_for<V>(options.isa)),
        pairs_(data, options, budget, memory, progress),
        stump_(data, options.use_run_blocks, memory),
        singles_(data, options, objective, stump_),
        root_(data, options, objective, memory) {}

  OrderedFound solve(const OrderedRows& rows, std::int64_t splits, Cost ceiling, Cost* by_root,
                     OrderedSplit* split) override {
    budget_.add_work();
    set_ = &pairs_.take(rows);
    stump_.start_set(*set_);
    slack_ = objective_.leaf(data_.has_worst() ? set_->worst() : Cost{set_->leaf_cost()}) / kSlackShare;
    start(splits, ceiling, by_root, split);
    is_scanned_all_ = false;
    if (is_leaf_best()) return {best_.value, best_.value, best_.value};
    if (!try_single_splits() || !set_->is_complete() || is_cut()) return {0, 0, best_.value};
    list_roots();
    if (!scan_pairs()) return {0, 0, best_.value};  // the trees found so far count
    is_scanned_all_ = true;
    return close();
  }

  OrderedFound solve_again(std::int64_t splits, Cost ceiling, Cost* by_root, OrderedSplit* split) override {
    start(splits, ceiling, by_root, split);
    if (is_leaf_best()) return {best_.value, best_.value, best_.value};
    if (!try_single_splits() || !is_scanned_all_) return {0, 0, best_.value};
    for (const std::int32_t f : roots_)
      if (pairs_.is_scanned(f)) offer_edges(f);
    return close();
  }

  OrderedFound best_split(const OrderedRows& rows, OrderedSplit* split) override {
    is_scanned_all_ = false;
    set_ = &pairs_.take(rows, data_.leaves() == nullptr ? kMostBins : 1);  // all thresholds are asked about at once
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
  void start(std::int64_t splits, Cost ceiling, Cost* by_root, OrderedSplit* split) {
    *split = {};
    best_.value = objective_.leaf(set_->leaf_cost());
    best_.split = split;
    by_ = by_root;
    ceiling_ = ceiling;
    is_short_ = splits == 2;
  }
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

  bool poll() {
    progress_.observe();
    return budget_.poll();
  }
  // In the middle of something that ends with valid bounds at any time.
  bool is_late(std::int64_t more_steps) {
    is_late_ = is_late_ || stopwatch_.is_over(kStepsPerRow * more_steps);
    return is_late_;
  }
  Cost limit() const { return std::min(best_.value, ceiling_); }
  bool limits_leaves() const { return options_.min_leaf > 1; }

  // The value of a side whose best single split costs `split`, or of a leaf.
  Cost side_value(V leaf, V split) const {
    Cost value = leaf >= kInfeasible<V> ? kInfinite : objective_.leaf(leaf);
    if (split < kInfeasible<V>) value = std::min(value, objective_.split(objective_.leaf(split)));
    return value;
  }

  // False: stopped.
  bool try_single_splits() {
    single_ = kInfinite;
    for (const std::int32_t f : set_->live()) {
      single_ = std::min(single_,
                         pairs_.has_pairs() ? singles_.edges(*set_, f, best_) : singles_.thresholds(*set_, f, best_));
      if (!pairs_.has_pairs() && is_late(set_->n_rows())) return false;
    }
    return true;
  }

  // Roots by rising bounds; features whose trees cannot be better are at the end.
  void list_roots() {
    if (!options_.use_root_feature_bounds)
      for (const std::int32_t f : set_->live()) by_[f] = 0;
    roots_ = set_->live();
    std::stable_sort(roots_.begin(), roots_.end(), [&](std::int32_t a, std::int32_t b) { return by_[a] < by_[b]; });
  }

  // All pairs with a feature that may still be the root of a better tree.  False: stopped.
  bool scan_pairs() {
    std::size_t n_open = 0;
    while (n_open < roots_.size() && by_[roots_[n_open]] < limit()) ++n_open;
    const bool is_whole = pairs_.scan(roots_, n_open, counters);
    // Where the budget ended on the way, trees of the pairs that were scanned count.
    for (const std::int32_t f : roots_)
      if (pairs_.is_scanned(f)) offer_edges(f);
    return is_whole && !is_cut();
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
      const SecondSplits<V> s = pairs_.found(f, side);
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
    const SecondSplits<V> s = pairs_.found(f, side);
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
      if (pairs_.is_scanned(f)) bound_root(f);
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
    if (pairs_.has_pairs()) one_level_ = std::min(one_level_, before.best(is_short_, 0));
    low_[static_cast<std::size_t>(f)] = std::max(by_[f], loose);
    true_low_[static_cast<std::size_t>(f)] = std::max(by_[f], lower);
  }

  // Something of this root is not known exactly: bins with thresholds inside, of itself or of a second feature.
  bool has_open_bins(std::int32_t f) const {
    return pairs_.is_scanned(f) && set_->has_inner() && true_low_[static_cast<std::size_t>(f)] < limit();
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
      if (((n_seen++ % kPollEvery == 0 || data_.leaves() != nullptr) && poll()) || is_cut() || is_late(0)) return false;
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
    if (pairs_.is_bits(f)) take_bits(bin, sides);
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

  // The best splits of both sides of an edge of a feature that is columns of bits by others that are.
  void take_bits(std::int32_t edge, RootSide (&sides)[2]) const {
    const std::int32_t f = root_.root();
    for (int s = 0; s < 2; ++s)
      sides[s].take(side_value(kInfeasible<V>, pairs_.best_of_bits(f, edge, s, false)),
                    side_value(kInfeasible<V>, pairs_.best_of_bits(f, edge, s, true)));
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
      if (pairs_.are_bits(root_.root(), g)) continue;
      const V low_of = bin >= 0 ? pairs_.low(root_.root(), g, side)[bin] : V{0};
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
      if (at->bound >= std::min(found.upper, wanted) || is_late(set_->n_rows() + (end - at))) break;
      const SecondSplit<V> best = stump_.split(kernels_, at->feature, side);
      at->bound = side_value(kInfeasible<V>, best.loose);
      found.take(at->bound, side_value(kInfeasible<V>, best.limited));
    }
    if (at != seconds_[side].end()) found.keep(at->bound);
  }

  const OrderedData& data_;
  const Options& options_;
  const Objective& objective_;
  Budget& budget_;
  Stopwatch stopwatch_;
  bool is_late_ = false;
  Progress& progress_;
  const PairKernels<V>& kernels_;
  PairPass<V> pairs_;
  RowSetBins<V>* set_ = nullptr;
  Stump<V> stump_;
  SingleSplits<V> singles_;
  std::vector<std::int32_t> roots_;
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

// Every row counts 1: sets of few rows have sums of 16 bits, larger ones of 32.
class DepthTwoByWidth final : public OrderedDepthTwo {
 public:
  DepthTwoByWidth(const OrderedData& data, const Options& options, const Objective& objective, Budget& budget,
                  MemoryBudget& memory, Progress& progress)
      : narrow_(data, options, objective, budget, memory, progress),
        wide_(data, options, objective, budget, memory, progress) {}

  OrderedFound solve(const OrderedRows& rows, std::int64_t splits, Cost ceiling, Cost* by_root,
                     OrderedSplit* split) override {
    return counted(of(rows).solve(rows, splits, ceiling, by_root, split));
  }
  OrderedFound solve_again(std::int64_t splits, Cost ceiling, Cost* by_root, OrderedSplit* split) override {
    return counted(last_->solve_again(splits, ceiling, by_root, split));
  }
  OrderedFound best_split(const OrderedRows& rows, OrderedSplit* split) override {
    return of(rows).best_split(rows, split);
  }
  Cost leaf_value(const OrderedRows& rows, std::int32_t* label) override { return wide_.leaf_value(rows, label); }

 private:
  OrderedDepthTwo& of(const OrderedRows& rows) {
    last_ = &wide_;
    if (rows.n_rows < kInfeasible<std::int16_t>) last_ = &narrow_;
    return *last_;
  }
  OrderedFound counted(const OrderedFound& found) {
    counters = narrow_.counters;
    counters.add(wide_.counters);
    return found;
  }

  DepthTwoSearch<std::int16_t> narrow_;
  DepthTwoSearch<std::int32_t> wide_;
  OrderedDepthTwo* last_ = &wide_;
};

// Some feature has more ranks than the tables of a node and its sides share (search/ordered/siblings.hpp).
bool has_many_ranks(const OrderedData& data) {
  for (std::int32_t f = 0; f < data.n_features(); ++f)
    if (data.n_ranks(f) > kFewBins) return true;
  return false;
}

}  // namespace

std::unique_ptr<OrderedDepthTwo> make_ordered_depth_two(const OrderedData& data, const Options& options,
                                                        const Objective& objective, Budget& budget,
                                                        MemoryBudget& memory, Progress& progress) {
  const auto make = [&]<class Search>() -> std::unique_ptr<OrderedDepthTwo> {
    return std::make_unique<Search>(data, options, objective, budget, memory, progress);
  };
  if (data.largest() < kInfeasible<std::int16_t>) return make.operator()<DepthTwoSearch<std::int16_t>>();
  if (data.largest() >= kInfeasible<std::int32_t>) return make.operator()<DepthTwoSearch<std::int64_t>>();
  const bool varies = data.has_unit_values() && has_many_ranks(data);
  return varies ? make.operator()<DepthTwoByWidth>() : make.operator()<DepthTwoSearch<std::int32_t>>();
}

}  // namespace certree
