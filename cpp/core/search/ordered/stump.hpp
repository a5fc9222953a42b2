// The best single split of a side of a threshold by every other feature, exactly.
//
// Each feature has its rows in the layout of counts/pair_kernels.hpp, made when it is first asked for; their positions along
// the root feature are made once per root feature.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "search/ordered/bins.hpp"

namespace certree {

// The best splits of runs of rows by the feature that they are in the order of, for squared errors.
//
// What a split saves is convex in the weight and the sums of its left side.  So among the thresholds of a block it is at most
// what the best corner of their weights and sums saves (docs/theory/ordered-features.md, runs of rows), and few blocks are open.
class RunSplits {
  struct Range {
    std::int64_t low, high;
  };

 public:
  explicit RunSplits(MemoryBudget& memory)
      : parts_(memory), ranges_{ChargedVector<Range>(memory), ChargedVector<Range>(memory)} {}

  // `sums`: [position][plane]; `parts(k)`: a threshold before row k exists.
  template <class Parts>
  void start(const PlaneRule& rule, const std::int64_t* sums, std::int32_t n_rows, Parts parts) {
    rule_ = &rule;
    sums_ = sums;
    parts_.resize(static_cast<std::size_t>(n_rows) + 1);
    for (std::int32_t k = 1; k < n_rows; ++k) parts_[static_cast<std::size_t>(k)] = parts(k) ? 1 : 0;
    for (std::size_t l = 0; l < 2; ++l) {
      const std::int32_t n_blocks = n_rows / kSize[l] + 1;
      ranges_[l].assign(static_cast<std::size_t>(n_blocks) * width(), {kInfinite, -kInfinite});
      for (std::int32_t k = 1; k < n_rows; ++k)
        for (std::size_t d = 0; d < width() && parts_[static_cast<std::size_t>(k)] != 0; ++d) {
          Range& range = ranges_[l][static_cast<std::size_t>(k / kSize[l]) * width() + d];
          range.low = std::min(range.low, sum(k, d));
          range.high = std::max(range.high, sum(k, d));
        }
    }
    hint_[0] = hint_[1] = 0;
  }
  // The least cost of a split of the rows between two positions; kInfeasible: there is none.
  std::int64_t best(std::int32_t from, std::int32_t to, int side) {
    from_ = from;
    to_ = to;
    best_ = kInfeasible<std::int64_t>;
    at_ = hint_[side];
    if (at_ > from && at_ < to) offer(at_);
    scan(0, from + 1, to, ranges_[0]);
    hint_[side] = at_;
    return best_;
  }

 private:
  static constexpr std::int32_t kSize[2] = {4096, 64};
  static constexpr double kRounding = 2.5e-16;  // of doubles, twice

  std::size_t width() const { return static_cast<std::size_t>(rule_->n_outputs) + 1; }
  std::int64_t sum(std::int32_t k, std::size_t d) const {
    return sums_[static_cast<std::size_t>(k) * static_cast<std::size_t>(rule_->n_planes) + d];
  }
  void offer(std::int32_t k) {
    if (parts_[static_cast<std::size_t>(k)] == 0) return;
    const std::int64_t cost = whole_cost(k);
    if (cost >= best_) return;
    best_ = cost;
    at_ = k;
  }
  std::int64_t whole_cost(std::int32_t k) {
    const auto planes = static_cast<std::size_t>(rule_->n_planes);
    left_.resize(planes);
    right_.resize(planes);
    for (std::size_t d = 0; d < planes; ++d) {
      left_[d] = sum(k, d) - sum(from_, d);
      right_[d] = sum(to_, d) - sum(k, d);
    }
    return plane_cost(*rule_, left_.data()) + plane_cost(*rule_, right_.data());
  }
  // Thresholds from one position up to another, block by block.
  void scan(std::size_t level, std::int32_t begin, std::int32_t end, const ChargedVector<Range>& ranges) {
    for (std::int32_t k = begin; k < end;) {
      const std::int32_t block = k / kSize[level], next = std::min(end, (block + 1) * kSize[level]);
      if (bound(&ranges[static_cast<std::size_t>(block) * width()]) < best_) {
        if (level == 0) {
          scan(1, k, next, ranges_[1]);
        } else {
          for (std::int32_t q = k; q < next; ++q) offer(q);
        }
      }
      k = next;
    }
  }
  // What splits cost at least whose sums on the left are in these ranges.  Doubles will do: a product takes ten roundings at
  // most, and a sum one for each output, of 2^-53 each.  Rounding to integers takes one at most off each leaf and output.
  std::int64_t bound(const Range* ranges) const {
    if (ranges[0].low > ranges[0].high) return kInfeasible<std::int64_t>;
    const std::int64_t before = sum(from_, 0), all = sum(to_, 0) - before;
    const std::int64_t weights[2] = {ranges[0].low - before, ranges[0].high - before};
    if (weights[0] <= 0 || weights[1] >= all) return 0;  // a block that is cut
    const std::size_t last = width();
    double most = 0;
    for (const std::int64_t weight : weights) {
      const double left = 1.0 / static_cast<double>(weight), right = 1.0 / static_cast<double>(all - weight);
      double saved = 0;
      for (std::size_t d = 1; d < last; ++d) {
        const std::int64_t start = sum(from_, d), whole = sum(to_, d) - start;
        const auto saving = [&](std::int64_t u) {
          const auto below = static_cast<double>(u), above = static_cast<double>(whole - u);
          return below * below * left + above * above * right;
        };
        saved += static_cast<double>(rule_->outputs[d - 1]) *
                 std::max(saving(ranges[d].low - start), saving(ranges[d].high - start));
      }
      most = std::max(most, saved);
    }
    most = most * (1 + kRounding * (40 + rule_->n_outputs)) + 2.0 * rule_->n_outputs + 1;
    const std::int64_t squares = rule_->scale * (sum(to_, last) - sum(from_, last));
    return most < static_cast<double>(squares) ? squares - static_cast<std::int64_t>(most) : 0;
  }

  const PlaneRule* rule_ = nullptr;
  const std::int64_t* sums_ = nullptr;
  ChargedVector<std::uint8_t> parts_;
  ChargedVector<Range> ranges_[2];  // [size][block][weight, sums]
  std::vector<std::int64_t> left_, right_;
  std::int32_t from_ = 0, to_ = 0, at_ = 0;
  std::int32_t hint_[2] = {};
  std::int64_t best_ = 0;
};

template <class V>
class Stump {
 public:
  // `has_runs`: blocks of runs take the place of a pass where they can.
  Stump(const OrderedData& data, bool has_runs, MemoryBudget& memory)
      : data_(data),
        may_use_runs_(has_runs && data.rule().form == PlaneForm::squares),
        lines_(static_cast<std::size_t>(data.n_features()), Line(memory)),
        position_(static_cast<std::size_t>(data.n_rows()) + 1, kInfeasible<V>, memory),
        label_(memory),
        value_(memory),
        none_(memory),
        edges_(memory),
        scratch_(memory),
        first_(memory),
        others_(memory),
        below_(memory),
        above_(memory),
        sums_(memory),
        runs_(memory) {
    scratch_.ensure(pair_scratch_size(data.rule()));
  }

  // A new set of rows.
  void start_set(RowSetBins<V>& set) {
    set_ = &set;
    length_ = (set.n_rows() + kLanes<V> - 1) / kLanes<V>;
    for (Line& line : lines_) line.has_order = line.has_rows = line.has_positions = false;
    if (data_.leaves() != nullptr) data_.leaves()->start(set.given().rows, set.n_rows());
  }
  // The positions of all rows along a root feature, and the sums up to the edges of its bins.
  void start_root(std::int32_t root) {
    root_ = root;
    const std::int32_t* rows = order(root);
    if (data_.leaves() != nullptr) return ask_root(root, rows);
    for (std::int32_t k = 0; k < set_->n_rows(); ++k) position_[static_cast<std::size_t>(rows[k])] = static_cast<V>(k);
    const auto planes = static_cast<std::size_t>(set_->n_planes());
    edges_.assign((static_cast<std::size_t>(set_->feature(root).n_bins) + 1) * planes, V{0});
    V* sums = edges_.data();
    for (std::int32_t b = 0; b < set_->feature(root).n_bins; ++b, sums += planes) {
      std::copy_n(sums, planes, sums + planes);
      set_->add_bin(root, b, sums + planes);
    }
    for (Line& line : lines_) line.has_positions = false;
    for (auto& totals : totals_) totals.resize(planes);
    has_runs_ = false;
  }
  // The first rows of the root feature on side 0, the others on side 1.  `bin`: where the threshold is, or which it ends.
  void part(std::int32_t position, std::int32_t bin) {
    const auto planes = static_cast<std::size_t>(set_->n_planes());
    n_left_ = position;
    if (data_.leaves() != nullptr) return;
    std::copy_n(edges_.data() + static_cast<std::size_t>(bin) * planes, planes, totals_[0].begin());
    const std::int32_t* rows = order(root_);
    V* left = totals_[0].data();
    for (std::int32_t k = set_->feature(root_).start[bin]; k < position; ++k) set_->add_totals(rows[k], 1, left);
    for (std::size_t d = 0; d < planes; ++d) totals_[1][d] = static_cast<V>(set_->totals()[d] - totals_[0][d]);
  }

  // The rows of the set by rising rank.
  const std::int32_t* order(std::int32_t f) {
    Line& line = lines_[static_cast<std::size_t>(f)];
    if (!line.has_order) {
      line.order.resize(static_cast<std::size_t>(set_->n_rows()) + 1);
      set_->order(f, line.order.data());
      line.has_order = true;
    }
    return line.order.data();
  }

  std::int64_t side_rows(int side) const { return side == 0 ? n_left_ : set_->n_rows() - n_left_; }
  V side_cost(int side) const {
    if (data_.leaves() == nullptr) return plane_cost(data_.rule(), totals_[side].data());
    return static_cast<V>((side == 0 ? first_ : others_)[static_cast<std::size_t>(n_left_)]);
  }
  V cost(bool limited) const {
    if (limited && (side_rows(0) < set_->min_leaf() || side_rows(1) < set_->min_leaf())) return kInfeasible<V>;
    return static_cast<V>(side_cost(0) + side_cost(1));
  }

  SecondSplit<V> split(const PairKernels<V>& kernels, std::int32_t f, int side) {
    if (data_.leaves() != nullptr) return ask_split(f, side);
    if constexpr (sizeof(V) == sizeof(std::int64_t))
      if (may_use_runs_ && f == root_ && set_->min_leaf() <= 1 && set_->n_rows() >= kManyRows) return split_run(side);
    Line& line = lines_[static_cast<std::size_t>(f)];
    if (!line.has_positions) set_positions(f, line);
    SecondRows<V>& in = line.in;
    in.threshold = static_cast<V>(n_left_);
    in.side = side;
    in.totals = totals_[side].data();
    in.n_rows = static_cast<V>(side_rows(side));
    return kernels.scan_second(in, scratch_.data());
  }

 private:
  // From so many rows on, blocks are faster than a pass over all.
  static constexpr std::int32_t kManyRows = 4096;

  struct Line {
    explicit Line(MemoryBudget& memory)
        : order(memory), rows(memory), position(memory), values(memory), label(memory), none(memory) {}
    ChargedVector<std::int32_t> order;
    ChargedVector<std::int32_t> rows;  // in lanes; the number of all rows: none
    ChargedVector<V> position, values, label, none;
    bool has_order = false, has_rows = false, has_positions = false;
    SecondRows<V> in;  // all of the above
  };
  void set_positions(std::int32_t f, Line& line) {
    if (!line.has_rows) lay_out(f, line);
    gather(line.rows, position_, line.position);
    line.has_positions = true;
    line.in.position = line.position.data();
  }

  // By the root feature itself, a side is a run of rows.
  SecondSplit<V> split_run(int side) {
    if (!has_runs_) start_runs();
    SecondSplit<V> out;
    out.loose = out.limited = side == 0 ? runs_.best(0, n_left_, side) : runs_.best(n_left_, set_->n_rows(), side);
    return out;
  }
  void start_runs() {
    const std::int32_t* rows = order(root_);
    const std::int32_t* ranks = data_.ranks(root_);
    const auto planes = static_cast<std::size_t>(set_->n_planes());
    sums_.resize((static_cast<std::size_t>(set_->n_rows()) + 1) * planes);
    std::fill_n(sums_.begin(), planes, V{0});
    V* sums = sums_.data();
    for (std::int32_t k = 0; k < set_->n_rows(); ++k, sums += planes) {
      std::copy_n(sums, planes, sums + planes);
      set_->add_totals(rows[k], 1, sums + planes);
    }
    runs_.start(data_.rule(), sums_.data(), set_->n_rows(),
                [&](std::int32_t k) { return ranks[rows[k - 1]] != ranks[rows[k]]; });
    has_runs_ = true;
  }
  // Where costs are asked for: those of both sides of all thresholds of the root.
  void ask_root(std::int32_t root, const std::int32_t* rows) {
    for (std::int32_t k = 0; k < set_->n_rows(); ++k) position_[static_cast<std::size_t>(rows[k])] = static_cast<V>(k);
    first_.resize(static_cast<std::size_t>(set_->n_rows()) + 1);
    others_.resize(first_.size());
    data_.leaves()->along(rows, set_->n_rows(), data_.ranks(root), first_.data(), others_.data());
  }
  // And those of the splits of a side by another feature.
  SecondSplit<V> ask_split(std::int32_t f, int side) {
    const std::int32_t* rows = order(f);
    SecondSplit<V> out;
    side_.clear();
    for (std::int32_t k = 0; k < set_->n_rows(); ++k)
      if ((position_[static_cast<std::size_t>(rows[k])] < n_left_) == (side == 0)) side_.push_back(rows[k]);
    const auto n = static_cast<std::int64_t>(side_.size());
    below_.resize(side_.size() + 1);
    above_.resize(side_.size() + 1);
    data_.leaves()->along(side_.data(), static_cast<std::int32_t>(n), data_.ranks(f), below_.data(), above_.data());
    for (std::int64_t k = 1; k < n; ++k) {
      if (below_[static_cast<std::size_t>(k)] >= kNoCost) continue;
      const auto cost = static_cast<V>(below_[static_cast<std::size_t>(k)] + above_[static_cast<std::size_t>(k)]);
      out.loose = std::min(out.loose, cost);
      if (k >= set_->min_leaf() && n - k >= set_->min_leaf()) out.limited = std::min(out.limited, cost);
    }
    return out;
  }

  bool has_two_labels() const {
    return data_.adds_to_one_plane() && data_.rule().n_planes == 2 && set_->min_leaf() <= 1;
  }
  // Something is to be known of a row beside its label.
  bool has_values() const { return has_two_labels() || !data_.has_unit_values(); }
  // By row, and for none: the plane, and what the row adds to it.  With two labels, the sign tells the plane.
  void read_labels() {
    const auto n = static_cast<std::size_t>(data_.n_rows());
    label_.assign(n + 1, static_cast<V>(-1));
    value_.assign(n + 1, V{0});
    for (std::int32_t row = 0; row < data_.n_rows(); ++row) {
      label_[static_cast<std::size_t>(row)] = static_cast<V>(data_.plane(row));
      const Cost value = data_.value(row, data_.plane(row));
      value_[static_cast<std::size_t>(row)] =
          static_cast<V>(has_two_labels() && data_.plane(row) == 0 ? -value : value);
    }
  }

  void lay_out(std::int32_t f, Line& line) {
    const std::int32_t* order_of = order(f);
    const std::int32_t* ranks = data_.ranks(f);
    const std::int32_t n = set_->n_rows();
    const std::size_t size = static_cast<std::size_t>(length_) * static_cast<std::size_t>(kLanes<V>);
    none_.resize(size);
    std::int32_t rank = ranks[order_of[0]];
    for (std::int32_t k = 0; k + 1 < n; ++k) {
      const std::int32_t next = ranks[order_of[k + 1]];
      none_[static_cast<std::size_t>(k)] = next != rank ? V{0} : kInfeasible<V>;
      rank = next;
    }
    std::fill(none_.begin() + n - 1, none_.end(), kInfeasible<V>);
    line.rows.resize(size);
    line.none.resize(size);
    // Run by run, one per lane.
    std::size_t at = 0;
    for (std::int32_t first = 0; first < length_; ++first)
      for (std::int32_t k = first; at < (static_cast<std::size_t>(first) + 1) * kLanes<V>; k += length_, ++at) {
        line.rows[at] = k < n ? order_of[k] : data_.n_rows();
        line.none[at] = none_[static_cast<std::size_t>(k)];
      }
    if (data_.adds_to_one_plane()) {
      if (label_.empty()) read_labels();
      if (has_values()) gather(line.rows, value_, line.values);
      if (!has_two_labels()) gather(line.rows, label_, line.label);
    } else {
      line.values.assign(size * static_cast<std::size_t>(data_.rule().n_planes), 0);
      for (std::int32_t d = 0; d < data_.rule().n_planes; ++d)
        for (std::size_t k = 0; k < size; ++k)
          if (line.rows[k] < data_.n_rows())
            line.values[static_cast<std::size_t>(d) * size + k] = static_cast<V>(data_.value(line.rows[k], d));
    }
    line.has_rows = true;
    line.in.rule = data_.rule();
    line.in.length = length_;
    line.in.values = has_values() ? line.values.data() : nullptr;
    line.in.label = line.label.data();
    line.in.none = line.none.data();
    line.in.min_leaf =
        set_->min_leaf() > 1 ? static_cast<V>(std::min<std::int64_t>(set_->min_leaf(), kInfeasible<V>)) : V{0};
  }
  static void gather(const ChargedVector<std::int32_t>& rows, const ChargedVector<V>& by_row, ChargedVector<V>& out) {
    out.resize(rows.size());
    for (std::size_t at = 0; at < rows.size(); ++at) out[at] = by_row[static_cast<std::size_t>(rows[at])];
  }

  const OrderedData& data_;
  bool may_use_runs_;
  RowSetBins<V>* set_ = nullptr;
  std::int32_t length_ = 0;
  std::vector<Line> lines_;
  std::int32_t root_ = -1;
  ChargedVector<V> position_;       // by row: along the root feature
  ChargedVector<V> label_, value_;  // by row
  ChargedVector<V> none_;           // along a feature: as in its line
  ChargedVector<V> edges_;          // [bin][plane]: sums of the rows before each bin of the root feature
  std::vector<V> totals_[2];        // [side][plane]
  std::int32_t n_left_ = 0;
  AlignedArray<V> scratch_;
  // Costs that are asked for: [position] along the root feature, and of one side along a second feature.
  ChargedVector<Cost> first_, others_, below_, above_;
  std::vector<std::int32_t> side_;
  ChargedVector<V> sums_;  // [position][plane]: along the root feature, for runs
  RunSplits runs_;
  bool has_runs_ = false;
};

}  // namespace certree
