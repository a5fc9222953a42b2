// One pass over the pairs of features of some rows: for every edge of a root feature, the best second splits of both sides.
//
// Features with few bins are columns of bits (search/ordered/bits.hpp), other pairs are tables of counts
// (counts/pair_kernels.hpp), which the sides of a threshold may share (search/ordered/siblings.hpp).  The model
// (search/ordered/model.hpp) chooses for every set of rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/thread_pool.hpp"
#include "search/ordered/bins.hpp"
#include "search/ordered/bits.hpp"
#include "search/ordered/depth_two.hpp"
#include "search/ordered/model.hpp"
#include "search/ordered/siblings.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"

namespace certree {

// What is known of the second splits of one side of the edges of a root feature, over all second features.
template <class V>
struct SecondSplits {
  V* edge;   // [bin]: at edges of bins, with leaves that are large enough
  V* inner;  // [bin]: bound of those inside of bins
  V* loose;  // [bin]: as `edge`, for leaves of any size
};

template <class V>
class PairPass {
 public:
  PairPass(const OrderedData& data, const Options& options, Budget& budget, MemoryBudget& memory, Progress& progress)
      : data_(data),
        options_(options),
        budget_(budget),
        stopwatch_(budget),
        progress_(progress),
        kernels_(pair_kernels_for<V>(options.isa)),
        model_(options.isa, data.rule().n_planes),
        bits_(data, options, budget, memory),
        own_bits_(memory),
        own_(data, options.min_leaf, budget, memory),
        siblings_(data, options, budget, memory),
        lows_(memory),
        threads_(data.leaves() != nullptr ? 1 : std::max(options.threads, 1)) {  // functions are asked by one thread
    for (int worker = 0; worker < threads_.size(); ++worker) {
      lanes_.push_back(std::make_unique<Lane>(memory));
      lanes_.back()->scratch.ensure(pair_scratch_size(data.rule()));
    }
  }

  // The rows in bins for a pass.
  RowSetBins<V>& take(const OrderedRows& rows) {
    set_ = siblings_.fits(rows) ? siblings_.take(rows, own_, bits_) : nullptr;
    layout_ = &siblings_.layout();
    if (set_ == nullptr) {
      if (has_pairs()) {
        own_.take(rows, PairModel<V>::bins_for(rows.n_rows), kFewBins);
      } else {
        own_.take(rows, 1, 1);
      }
      set_ = &own_;
      bits_.choose(own_, rows.n_rows, own_layout_);
      layout_ = &own_layout_;
    }
    return *set_;
  }
  // The rows in bins for something else.
  RowSetBins<V>& take(const OrderedRows& rows, std::int32_t bins) {
    own_.take(rows, bins, bins);
    return own_;
  }

  // Counts and scans all pairs with one of the first `n_open` of the roots.  False: stopped.
  bool scan(const std::vector<std::int32_t>& roots, std::size_t n_open, OrderedCounters& counters) {
    begin(roots, n_open);
    if (!has_pairs()) return leave_open();
    list_pairs();
    const std::int64_t steps = static_cast<std::int64_t>(pairs_.size()) * set_->n_rows();
    const std::size_t lanes = threads_.size() > 1 && steps >= kSharedSteps ? lanes_.size() : 1;
    for (std::size_t k = 0; k < lanes; ++k) prepare(*lanes_[k]);
    if (!fold_bits(counters)) return false;
    if (lanes > 1) siblings_.make_room();
    bool is_whole = true;
    while (is_whole && !pairs_.empty()) {
      counters.pair_tables += static_cast<std::int64_t>(pairs_.size());
      is_whole = scan_listed(lanes);
      list_pairs();
      is_whole = is_whole && (pairs_.empty() || !poll());
    }
    for (std::size_t k = 1; k < lanes; ++k) join_lane(*lanes_[k]);
    return is_whole;
  }

  bool is_scanned(std::int32_t f) const { return is_scanned_[static_cast<std::size_t>(f)] != 0; }
  // Of a root that was scanned.
  SecondSplits<V> found(std::int32_t f, int side) { return found(*lanes_[0], f, side); }
  // [bin]: bound of the second splits by g of a side of the edges of f, unless both are columns of bits.
  const V* low(std::int32_t f, std::int32_t g, int side) const { return lows_.data() + low_at(f, g, side); }
  bool are_bits(std::int32_t f, std::int32_t g) const { return layout_->has(f) && layout_->has(g); }
  bool is_bits(std::int32_t f) const { return layout_->has(f); }
  // The best split of a side of an edge of a feature that is columns of bits by another one that is.
  V best_of_bits(std::int32_t f, std::int32_t edge, int side, bool limited) const {
    return bits_.best(side, limited)[layout_->first[static_cast<std::size_t>(f)] + edge];
  }

  // Cells of pair tables tell what leaves cost.  Where they do not, all thresholds are in one bin.
  bool has_pairs() const { return data_.rule().form != PlaneForm::rows; }
  // Pair tables say all: no threshold is inside of a bin, and no leaf too small.
  bool is_exact() const { return !set_->has_inner() && !limits_leaves(); }

 private:
  static constexpr std::size_t kStride = kMostBins + 1;
  // Counting so many values takes some milliseconds.
  static constexpr std::int64_t kManyValues = std::int64_t{1} << 18;
  // Threads share pair tables that take so many steps or more, a tenth of a millisecond.
  static constexpr std::int64_t kSharedSteps = std::int64_t{1} << 17;
  // Pairs are listed so many at a time: all those of twenty thousand features would take gigabytes.
  static constexpr std::size_t kPairsAtATime = std::size_t{1} << 16;

  // What a thread counts pairs in, and what it knows of second splits.
  struct Lane {
    explicit Lane(MemoryBudget& memory) : cells(memory), scratch(memory), folded(memory) {}
    AlignedArray<V> cells, scratch, folded;
    alignas(64) V pair[2][2][3][padded<V>(kMostBins)];  // [root is the first or the second][side][edge, inner, loose]
  };

  SecondSplits<V> found(Lane& lane, std::int32_t f, int side) {
    V* at = lane.folded.data() + static_cast<std::size_t>((f * 2 + side) * 3) * kStride;
    return {at, at + kStride, is_exact() ? at : at + 2 * kStride};
  }
  std::size_t low_at(std::int32_t f, std::int32_t g, int side) const {
    return low_begin_[static_cast<std::size_t>(f)] +
           static_cast<std::size_t>(g * 2 + side) * static_cast<std::size_t>(set_->feature(f).n_bins);
  }
  bool limits_leaves() const { return options_.min_leaf > 1; }
  bool poll() {
    progress_.observe();
    return budget_.poll();
  }

  // Makes room for what is known of second features.
  void begin(const std::vector<std::int32_t>& roots, std::size_t n_open) {
    const auto n = static_cast<std::size_t>(data_.n_features());
    roots_ = roots;
    n_open_ = n_open;
    next_first_ = next_second_ = 0;
    is_scanned_.assign(n, 0);
    low_begin_.assign(n, 0);
    std::size_t size = 0;
    for (std::size_t a = 0; a < n_open; ++a) {
      const auto f = static_cast<std::size_t>(roots[a]);
      is_scanned_[f] = 1;
      low_begin_[f] = size;
      size += n * 2 * static_cast<std::size_t>(set_->feature(roots[a]).n_bins);
    }
    if (set_->has_inner()) lows_.ensure_unset(size);
  }
  // The next pairs with an open root; none: all were listed.
  void list_pairs() {
    pairs_.clear();
    while (next_first_ < n_open_ && pairs_.size() < kPairsAtATime) {
      const std::int32_t f = roots_[next_first_], g = roots_[next_second_];
      if (!are_bits(f, g)) pairs_.emplace_back(f, g);
      if (++next_second_ == roots_.size()) next_second_ = ++next_first_;
    }
  }
  // False: stopped.
  bool scan_listed(std::size_t lanes) {
    const auto n = static_cast<std::int64_t>(pairs_.size());
    const std::int64_t between = std::max<std::int64_t>(kManyValues / std::max(set_->n_rows(), 1), 1);
    std::atomic<bool> is_whole = true;
    if (lanes > 1) {
      // All threads look at the clock; an observer must be called from its own.
      threads_.run(n, [&](int worker, std::int64_t k) {
        if (!is_whole) return;
        scan_pair(*lanes_[static_cast<std::size_t>(worker)], pairs_[static_cast<std::size_t>(k)]);
        if (k % between == between - 1 && (worker == 0 ? poll() : budget_.poll())) is_whole = false;
      });
    } else {
      for (std::int64_t k = 0; k < n && is_whole; ++k) {
        const auto& [f, g] = pairs_[static_cast<std::size_t>(k)];
        scan_pair(*lanes_[0], pairs_[static_cast<std::size_t>(k)]);
        if (k % between == between - 1 && poll()) is_whole = false;
        if (stopwatch_.is_over(std::int64_t{set_->feature(f).n_bins} * set_->feature(g).stride * set_->n_planes()))
          is_whole = false;
      }
    }
    return is_whole;
  }

  // Nothing is known of second splits.
  bool leave_open() {
    prepare(*lanes_[0]);
    for (const std::int32_t f : roots_)
      for (int side = 0; side < 2 && is_scanned(f); ++side) std::fill_n(found(f, side).inner, kStride, V{0});
    return true;
  }

  // Pairs of features that are columns of bits.  False: stopped.
  bool fold_bits(OrderedCounters& counters) {
    const auto is_root = [&](std::int32_t f) { return is_scanned(f); };
    if (std::none_of(layout_->features.begin(), layout_->features.end(), is_root)) return true;
    if (layout_ != &own_layout_) {
      if (!siblings_.evaluate_bits(*set_, bits_)) return false;
    } else {
      if (!bits_.count(own_, own_layout_, own_bits_)) return false;
      bits_.evaluate(own_layout_, own_bits_, nullptr);
    }
    const std::int64_t columns = layout_->n_columns;
    counters.bit_pairs += columns * (columns - 1) / 2;
    for (const std::int32_t f : layout_->features)
      for (int side = 0; side < 2 && is_root(f); ++side) {
        const SecondSplits<V> all = found(f, side);
        const std::int32_t first = layout_->first[static_cast<std::size_t>(f)];
        for (std::int32_t e = 0; e + 1 < set_->feature(f).n_bins; ++e) {
          all.edge[e] = std::min(all.edge[e], bits_.best(side, true)[first + e]);
          if (!is_exact()) all.loose[e] = std::min(all.loose[e], bits_.best(side, false)[first + e]);
        }
      }
    return true;
  }

  // Room for any pair of the set, and nothing known yet.
  void prepare(Lane& lane) {
    std::size_t most = 0;
    for (const std::int32_t f : roots_)
      most = std::max(most, static_cast<std::size_t>(padded<V>(set_->feature(f).n_bins)));
    const auto planes = static_cast<std::size_t>(data_.rule().n_planes + (limits_leaves() ? 1 : 0));
    lane.cells.ensure(most * most * planes);
    lane.folded.ensure_unset(static_cast<std::size_t>(data_.n_features()) * 6 * kStride);
    for (const std::int32_t f : roots_)
      for (int side = 0; side < 2 && is_scanned(f); ++side)
        std::fill_n(found(lane, f, side).edge, 3 * kStride, kInfeasible<V>);
  }
  // The least of what two threads know.
  void join_lane(Lane& lane) {
    for (const std::int32_t f : roots_)
      for (int side = 0; side < 2 && is_scanned(f); ++side) {
        V* mine = found(f, side).edge;
        const V* other = found(lane, f, side).edge;
        for (std::size_t k = 0; k < 3 * kStride; ++k) mine[k] = std::min(mine[k], other[k]);
      }
  }

  void scan_pair(Lane& lane, const std::pair<std::int32_t, std::int32_t>& pair) {
    // Tables that are kept are read again, so the order must depend on the two features alone.
    std::int32_t f = std::min(pair.first, pair.second), g = std::max(pair.first, pair.second);
    if (!model_.comes_first(set_->feature(f).n_bins, set_->feature(g).n_bins)) std::swap(f, g);
    const SetFeature<V>&first = set_->feature(f), &second = set_->feature(g);
    const std::int32_t stride = second.stride;
    const auto plane = static_cast<std::size_t>(first.n_bins) * static_cast<std::size_t>(stride);
    const std::int32_t planes = data_.rule().n_planes + (limits_leaves() ? 1 : 0);
    PairTable<V> table;
    table.rule = data_.rule();
    table.n_first = first.n_bins;
    table.n_second = second.n_bins;
    table.stride = stride;
    if (layout_ != &own_layout_) {
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
      if (is_scanned(f)) fold(lane, f, g, side, table.first[side]);
      if (f != g && is_scanned(g)) fold(lane, g, f, side, table.second[side]);
    }
  }

  void fold(Lane& lane, std::int32_t root, std::int32_t second, int side, const SideSplits<V>& splits) {
    const SecondSplits<V> all = found(lane, root, side);
    if (is_exact()) {
      for (std::int32_t b = 0; b < set_->feature(root).n_bins; ++b) all.edge[b] = std::min(all.edge[b], splits.edge[b]);
      return;
    }
    const V* loose = splits.loose != nullptr ? splits.loose : splits.edge;
    const std::int32_t n = set_->feature(root).n_bins;
    if (!options_.use_dropped_rows)
      for (std::int32_t b = 0; b < n; ++b) splits.inner[b] = splits.inner[b] < kInfeasible<V> ? 0 : kInfeasible<V>;
    for (std::int32_t b = 0; b < n; ++b) {
      all.edge[b] = std::min(all.edge[b], splits.edge[b]);
      all.inner[b] = std::min(all.inner[b], splits.inner[b]);
      all.loose[b] = std::min(all.loose[b], loose[b]);
    }
    if (!set_->has_inner()) return;
    V* low_of = lows_.data() + low_at(root, second, side);
    for (std::int32_t b = 0; b < n; ++b) low_of[b] = std::min(loose[b], splits.inner[b]);
  }

  const OrderedData& data_;
  const Options& options_;
  Budget& budget_;
  Stopwatch stopwatch_;
  Progress& progress_;
  const PairKernels<V>& kernels_;
  PairModel<V> model_;
  BitPairs<V> bits_;
  BitLayout own_layout_;
  BitCounts<V> own_bits_;
  const BitLayout* layout_ = nullptr;
  RowSetBins<V> own_;
  SiblingTables<V> siblings_;
  RowSetBins<V>* set_ = nullptr;
  AlignedArray<V> lows_;
  std::vector<std::size_t> low_begin_;  // [feature]: in `lows_`, of a root that is scanned
  ThreadPool threads_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs_;
  std::vector<std::int32_t> roots_;
  std::size_t n_open_ = 0, next_first_ = 0, next_second_ = 0;  // how far pairs are listed
  std::vector<std::uint8_t> is_scanned_;                       // [feature]
};

}  // namespace certree
