// Features with few bins as columns of bits, one per edge: pairs of these are counted 64 rows at a time, by the kernels of the
// search over columns (counts/kernels.hpp).
//
// A column holds where the test at its edge does.  Thresholds inside of bins have no column, so every rank of these features
// is a bin.  Which features are worth it is a question of the model (search/ordered/model.hpp), for every set of rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "counts/kernels.hpp"
#include "search/ordered/bins.hpp"
#include "search/ordered/model.hpp"
#include "search/shared/options.hpp"

namespace certree {

// The columns of some features.
struct BitLayout {
  std::vector<std::int32_t> features;
  std::vector<std::int32_t> first;  // [feature]: its first column; -1: none
  std::int32_t n_columns = 0, stride = 0;

  bool has(std::int32_t f) const { return !features.empty() && first[static_cast<std::size_t>(f)] >= 0; }
};

// How often pairs of columns hold together in a set of rows, by label.
template <class V>
struct BitCounts {
  explicit BitCounts(MemoryBudget& memory) : columns(memory), pairs(memory) {}
  std::vector<V> totals;    // [label]
  AlignedArray<V> columns;  // [label][stride]
  AlignedArray<V> pairs;    // [label][column][stride]
};

template <class V>
class BitPairs {
 public:
  BitPairs(const OrderedData& data, const Options& options, Budget& budget, MemoryBudget& memory)
      : data_(data),
        options_(options),
        budget_(budget),
        stopwatch_(budget),
        model_(options.isa, data.rule().n_planes),
        kernels_(kernels_for<V>(options.isa)),
        bit_kernels_(bit_kernels_for(options.isa)),
        bits_(memory),
        difference_(memory) {
    for (auto& values : out_) values = AlignedArray<V>(memory);
    for (const Cost weight : data.label_weights()) weights_.push_back(static_cast<V>(weight));
    rule_.form = weights_.size() == 2 && data.has_unit_values() ? LeafForm::binary_unit : LeafForm::weighted_labels;
    rule_.n_types = rule_.n_labels = static_cast<std::int32_t>(weights_.size());
    rule_.weight = weights_.data();
    rule_.has_unit_weights = data.has_unit_values();
  }

  // The features for which columns of bits are faster than pair tables: those with the fewest bins, as long as one more saves
  // time.  `n_rows`: that are counted for a pass.
  void choose(const RowSetBins<V>& set, std::int32_t n_rows, BitLayout& out) {
    out.features.clear();
    out.n_columns = 0;
    if (weights_.empty() || !options_.use_bit_pairs) return;
    few_.clear();
    for (const std::int32_t f : set.live())
      if (!set.feature(f).has_inner) few_.push_back(f);
    const auto bins = [&](std::int32_t f) { return set.feature(f).n_bins; };
    std::stable_sort(few_.begin(), few_.end(), [&](std::int32_t a, std::int32_t b) { return bins(a) < bins(b); });
    out.first.assign(static_cast<std::size_t>(data_.n_features()), -1);
    for (const std::int32_t f : few_) {
      const std::int32_t more = bins(f) - 1;
      double saved = model_.by_table(n_rows, bins(f), bins(f));
      for (const std::int32_t g : out.features) saved += model_.by_table(n_rows, bins(g), bins(f));
      if (!fits(set.n_rows(), out.n_columns + more)) break;
      if (model_.by_bits(n_rows, more * (out.n_columns + (more + 1) / 2.0)) >= saved) break;
      out.first[static_cast<std::size_t>(f)] = out.n_columns;
      out.features.push_back(f);
      out.n_columns += more;
    }
    out.stride = (out.n_columns + 7) / 8 * 8;
  }

  // False: stopped.
  bool count(const RowSetBins<V>& set, const BitLayout& layout, BitCounts<V>& out) {
    const auto stride = static_cast<std::size_t>(layout.stride), n = static_cast<std::size_t>(layout.n_columns);
    BitColumns view;
    if (!pack(set, layout, view)) return false;
    out.totals.assign(weights_.size(), 0);
    for (const Plane& plane : planes_) out.totals[static_cast<std::size_t>(plane.type)] = static_cast<V>(plane.rows);
    kernels_.count_columns(view, out.columns.ensure(weights_.size() * stride));
    V* pairs = out.pairs.ensure(weights_.size() * n * stride);
    const bool is_long = static_cast<std::int64_t>(set.n_rows()) * layout.n_columns > kManyAnswers;
    for (std::int32_t i = 0; i < layout.n_columns; i += kRowsPerCall) {
      kernels_.count_rows(view, i, std::min(i + kRowsPerCall, layout.n_columns),
                          pairs + static_cast<std::size_t>(i) * stride, n * stride);
      if (is_long && budget_.poll()) return false;
    }
    return true;
  }

  // The best splits of both sides of every column by another one, in the rows of `all` without those of `less` (null: none).
  void evaluate(const BitLayout& layout, const BitCounts<V>& all, const BitCounts<V>* less) {
    const auto stride = static_cast<std::size_t>(layout.stride);
    totals_ = all.totals;
    const V* columns = all.columns.data();
    if (less != nullptr) {
      V* difference = difference_.ensure(weights_.size() * stride);
      for (std::size_t k = 0; k < weights_.size() * stride; ++k)
        difference[k] = static_cast<V>(columns[k] - less->columns[k]);
      columns = difference;
      for (std::size_t t = 0; t < totals_.size(); ++t) totals_[t] = static_cast<V>(totals_[t] - less->totals[t]);
    }
    for (int limits = 0; limits < (options_.min_leaf > 1 ? 2 : 1); ++limits) {
      rule_.min_leaf = limits == 0 ? V{1} : static_cast<V>(std::min<std::int64_t>(options_.min_leaf, kInfeasible<V>));
      PairInput<V> in{rule_,
                      layout.n_columns,
                      layout.stride,
                      totals_.data(),
                      columns,
                      out_[2 * limits].ensure(stride),
                      out_[2 * limits + 1].ensure(stride)};
      std::fill_n(in.yes1, stride, kInfeasible<V>);
      std::fill_n(in.no1, stride, kInfeasible<V>);
      const std::size_t by_label = static_cast<std::size_t>(layout.n_columns) * stride;
      for (std::int32_t i = 0; i < layout.n_columns; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * stride;
        kernels_.evaluate_row(
            in, i, {all.pairs.data() + at, by_label, less != nullptr ? less->pairs.data() + at : nullptr, by_label});
      }
    }
  }
  // [column]: of a side, with leaves of any size, or of the least size.
  const V* best(int side, bool limited) const { return out_[(limited && options_.min_leaf > 1 ? 2 : 0) + side].data(); }

 private:
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 24;
  static constexpr std::int32_t kRowsPerCall = 4;
  // Counting four columns with all others takes some milliseconds where there are so many answers.
  static constexpr std::int64_t kManyAnswers = std::int64_t{1} << 24;

  // The counts of so many columns take little memory, and their bits little of what there is.
  bool fits(std::int32_t n_rows, std::int32_t n_columns) const {
    const std::int64_t counts = std::int64_t{n_columns} * n_columns * rule_.n_types * std::int64_t{sizeof(V)};
    const std::int64_t bits = std::int64_t{n_rows} * n_columns / 8;
    if (counts > kMostBytes) return false;
    return options_.memory_limit <= 0 || std::max(counts, bits) <= options_.memory_limit / 16;
  }

  // False: stopped.
  bool pack(const RowSetBins<V>& set, const BitLayout& layout, BitColumns& out) {
    planes_.clear();
    std::int32_t words = 0;
    for (std::int32_t d = 0; d < rule_.n_types; ++d) {
      const std::int32_t rows = set.label_begin(d + 1) - set.label_begin(d);
      const std::int32_t end = words + static_cast<std::int32_t>(words_for(static_cast<std::size_t>(rows)));
      planes_.push_back({d, 0, words, end, rows});
      words = end;
    }
    const auto stride = static_cast<std::size_t>(layout.stride);
    bits_.fill_zero(static_cast<std::size_t>(words) * stride);
    for (const std::int32_t f : layout.features) {
      const SetFeature<V>& own = set.feature(f);
      if (stopwatch_.is_over(std::int64_t{own.n_bins} * set.n_rows())) return false;
      for (std::int32_t e = 0; e + 1 < own.n_bins; ++e)
        for (const Plane& plane : planes_)
          bit_kernels_.pack(own.bins.data() + set.label_begin(plane.type), plane.rows, static_cast<std::uint8_t>(e),
                            layout.stride,
                            bits_.data() + static_cast<std::size_t>(plane.begin) * stride +
                                static_cast<std::size_t>(layout.first[static_cast<std::size_t>(f)] + e));
    }
    out = {bits_.data(), layout.stride, layout.n_columns, planes_.data(), static_cast<std::int32_t>(planes_.size()),
           rule_.n_types};
    return true;
  }

  const OrderedData& data_;
  const Options& options_;
  Budget& budget_;
  Stopwatch stopwatch_;
  PairModel<V> model_;
  const Kernels<V>& kernels_;
  const BitKernels& bit_kernels_;
  LeafRule<V> rule_;
  std::vector<V> weights_, totals_;  // [label]
  std::vector<Plane> planes_;
  AlignedArray<Word> bits_;
  AlignedArray<V> difference_;
  AlignedArray<V> out_[4];  // any size: where columns hold, where not; least size: the same
  std::vector<std::int32_t> few_;
};

}  // namespace certree
