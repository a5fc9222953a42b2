// The best single splits of the two sides of a threshold by every other feature, exactly.
//
// Each feature has its rows in the layout of counts/pair_kernels.hpp, made when it is first asked for; their positions along
// the root feature are made once per root feature.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "search/ordered_bins.hpp"

namespace certree {

template <class V>
class Stump {
 public:
  Stump(const OrderedData& data, MemoryBudget& memory)
      : data_(data),
        lines_(static_cast<std::size_t>(data.n_features()), Line(memory)),
        position_(static_cast<std::size_t>(data.n_rows()), V{0}, memory),
        sums_(memory),
        scratch_(memory),
        first_(memory),
        others_(memory),
        below_(memory),
        above_(memory) {
    scratch_.ensure(pair_scratch_size(data.rule()));
  }

  // A new set of rows.
  void start_set(RowSetBins<V>& set) {
    set_ = &set;
    length_ = (set.n_rows() + kLanes<V> - 1) / kLanes<V>;
    for (Line& line : lines_) line.has_order = line.has_rows = line.has_positions = false;
    if (data_.leaves() != nullptr) data_.leaves()->start(set.given().rows, set.n_rows());
  }
  // The positions of all rows along a root feature, and the sums up to each position.
  void start_root(std::int32_t root) {
    const std::int32_t* rows = order(root);
    if (data_.leaves() != nullptr) return ask_root(root, rows);
    const auto planes = static_cast<std::size_t>(set_->n_planes());
    sums_.resize((static_cast<std::size_t>(set_->n_rows()) + 1) * planes);
    std::fill_n(sums_.begin(), planes, V{0});
    V* sums = sums_.data();
    for (std::int32_t k = 0; k < set_->n_rows(); ++k, sums += planes) {
      position_[static_cast<std::size_t>(rows[k])] = static_cast<V>(k);
      for (std::size_t d = 0; d < planes; ++d) sums[planes + d] = sums[d];
      set_->add_totals(rows[k], 1, sums + planes);
    }
    for (Line& line : lines_) line.has_positions = false;
    rest_.resize(planes);
  }
  // The first rows of the root feature on side 0, the others on side 1.
  void part(std::int32_t position) {
    const auto planes = static_cast<std::size_t>(set_->n_planes());
    n_left_ = position;
    if (data_.leaves() != nullptr) return;
    totals_[0] = sums_.data() + static_cast<std::size_t>(position) * planes;
    for (std::size_t d = 0; d < planes; ++d) rest_[d] = static_cast<V>(set_->totals()[d] - totals_[0][d]);
    totals_[1] = rest_.data();
  }

  // The rows of the set by rising rank.
  const std::int32_t* order(std::int32_t f) {
    Line& line = lines_[static_cast<std::size_t>(f)];
    if (!line.has_order) {
      line.order.resize(static_cast<std::size_t>(set_->n_rows()));
      set_->order(f, line.order.data());
      line.has_order = true;
    }
    return line.order.data();
  }

  std::int64_t side_rows(int side) const { return side == 0 ? n_left_ : set_->n_rows() - n_left_; }
  V side_cost(int side) const {
    if (data_.leaves() == nullptr) return plane_cost(data_.rule(), totals_[side]);
    return static_cast<V>((side == 0 ? first_ : others_)[static_cast<std::size_t>(n_left_)]);
  }
  V cost(bool limited) const {
    if (limited && (side_rows(0) < set_->min_leaf() || side_rows(1) < set_->min_leaf())) return kInfeasible<V>;
    return static_cast<V>(side_cost(0) + side_cost(1));
  }

  SecondSplit<V> split(const PairKernels<V>& kernels, std::int32_t f) {
    if (data_.leaves() != nullptr) return ask_split(f);
    Line& line = lines_[static_cast<std::size_t>(f)];
    if (!line.has_rows) lay_out(f, line);
    if (!line.has_positions) place(f, line);
    SecondRows<V> in;
    in.rule = data_.rule();
    in.length = length_;
    in.position = line.position.data();
    in.values = line.values.data();
    in.label = line.label.data();
    in.parts = line.parts.data();
    in.threshold = static_cast<V>(n_left_);
    in.min_leaf =
        set_->min_leaf() > 1 ? static_cast<V>(std::min<std::int64_t>(set_->min_leaf(), kInfeasible<V>)) : V{0};
    for (int side = 0; side < 2; ++side) {
      in.totals[side] = totals_[side];
      in.n_rows[side] = static_cast<V>(side_rows(side));
    }
    return kernels.scan_second(in, scratch_.data());
  }

 private:
  struct Line {
    explicit Line(MemoryBudget& memory)
        : order(memory), position(memory), values(memory), label(memory), parts(memory) {}
    ChargedVector<std::int32_t> order;
    ChargedVector<V> position, values, label, parts;
    bool has_order = false, has_rows = false, has_positions = false;
  };

  // Where costs are asked for: those of both sides of all thresholds of the root.
  void ask_root(std::int32_t root, const std::int32_t* rows) {
    for (std::int32_t k = 0; k < set_->n_rows(); ++k) position_[static_cast<std::size_t>(rows[k])] = static_cast<V>(k);
    first_.resize(static_cast<std::size_t>(set_->n_rows()) + 1);
    others_.resize(first_.size());
    data_.leaves()->along(rows, set_->n_rows(), data_.ranks(root), first_.data(), others_.data());
  }
  // And those of the splits of each side by another feature.
  SecondSplit<V> ask_split(std::int32_t f) {
    const std::int32_t* rows = order(f);
    SecondSplit<V> out;
    for (int side = 0; side < 2; ++side) {
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
        out.loose[side] = std::min(out.loose[side], cost);
        if (k >= set_->min_leaf() && n - k >= set_->min_leaf()) out.limited[side] = std::min(out.limited[side], cost);
      }
    }
    return out;
  }

  // Calls use(k, place) for every row of an order: run by run, one per lane.
  template <class Use>
  void for_each_place(Use use) const {
    std::int32_t k = 0;
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(kLanes<V>); ++lane)
      for (std::int32_t i = 0; i < length_ && k < set_->n_rows(); ++i, ++k)
        use(k, static_cast<std::size_t>(i) * static_cast<std::size_t>(kLanes<V>) + lane);
  }
  bool has_two_labels() const {
    return data_.adds_to_one_plane() && data_.rule().n_planes == 2 && set_->min_leaf() <= 1;
  }

  void lay_out(std::int32_t f, Line& line) {
    const std::int32_t* rows = order(f);
    const std::int32_t* ranks = data_.ranks(f);
    const std::int32_t n = set_->n_rows();
    const std::size_t size = static_cast<std::size_t>(length_) * static_cast<std::size_t>(kLanes<V>);
    const bool by_label = data_.adds_to_one_plane();
    line.parts.assign(size, 0);
    line.values.assign(by_label ? size : size * static_cast<std::size_t>(data_.rule().n_planes), 0);
    if (by_label && !has_two_labels()) line.label.assign(size, static_cast<V>(-1));
    for_each_place([&](std::int32_t k, std::size_t at) {
      const std::int32_t row = rows[k], type = by_label ? data_.plane(row) : 0;
      if (k + 1 < n && ranks[row] != ranks[rows[k + 1]]) line.parts[at] = static_cast<V>(-1);
      if (has_two_labels()) {
        line.values[at] = static_cast<V>(type == 1 ? data_.value(row, 1) : -data_.value(row, 0));
      } else if (by_label) {
        line.values[at] = static_cast<V>(data_.value(row, type));
        line.label[at] = static_cast<V>(type);
      } else {
        for (std::int32_t d = 0; d < data_.rule().n_planes; ++d)
          line.values[static_cast<std::size_t>(d) * size + at] = static_cast<V>(data_.value(row, d));
      }
    });
    line.has_rows = true;
  }

  void place(std::int32_t f, Line& line) {
    const std::int32_t* rows = order(f);
    line.position.assign(static_cast<std::size_t>(length_) * static_cast<std::size_t>(kLanes<V>), kInfeasible<V>);
    for_each_place(
        [&](std::int32_t k, std::size_t at) { line.position[at] = position_[static_cast<std::size_t>(rows[k])]; });
    line.has_positions = true;
  }

  const OrderedData& data_;
  RowSetBins<V>* set_ = nullptr;
  std::int32_t length_ = 0;
  std::vector<Line> lines_;
  ChargedVector<V> position_;  // by row: along the root feature
  ChargedVector<V> sums_;      // [position][plane]: of the rows up to each position of the root feature
  std::vector<V> rest_;
  const V* totals_[2] = {};  // [side][plane]
  std::int32_t n_left_ = 0;
  AlignedArray<V> scratch_;
  // Costs that are asked for: [position] along the root feature, and of one side along a second feature.
  ChargedVector<Cost> first_, others_, below_, above_;
  std::vector<std::int32_t> side_;
};

}  // namespace certree
