// The best single splits of the two sides of a threshold by every other feature, exactly.
//
// Each feature has its rows in the layout of counts/pair_kernels.hpp, made when it is first asked for; their positions along
// the root feature are made once per root feature.
#pragma once

#include <cstdint>
#include <vector>

#include "search/ordered_bins.hpp"

namespace certree {

template <class V>
class Stump {
 public:
  Stump(const OrderedData& data, MemoryBudget& memory)
      : data_(data),
        lines_(static_cast<std::size_t>(data.n_features())),
        position_(static_cast<std::size_t>(data.n_rows())),
        scratch_(memory) {
    scratch_.ensure(pair_scratch_size(data.n_planes()));
  }

  // A new set of rows.
  void start_set(RowSetBins<V>& set) {
    set_ = &set;
    length_ = (set.n_rows() + kLanes<V> - 1) / kLanes<V>;
    for (Line& line : lines_) line.has_order = line.has_rows = line.has_positions = false;
  }
  // All rows on side 1; `move` takes one to side 0.
  void start_root(std::int32_t root) {
    const std::int32_t* rows = order(root);
    for (std::int32_t k = 0; k < set_->n_rows(); ++k) position_[static_cast<std::size_t>(rows[k])] = static_cast<V>(k);
    for (Line& line : lines_) line.has_positions = false;
    totals_[0].assign(static_cast<std::size_t>(set_->n_planes()), 0);
    totals_[1] = set_->totals();
    n_left_ = 0;
  }
  void move(std::int32_t row, int sign) {
    set_->add_totals(row, static_cast<V>(sign), totals_[0].data());
    set_->add_totals(row, static_cast<V>(-sign), totals_[1].data());
    n_left_ += sign;
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
  V side_cost(int side) const { return plane_cost(data_.form(), data_.n_planes(), totals_[side].data()); }
  V cost(bool limited) const {
    if (limited && (side_rows(0) < set_->min_leaf() || side_rows(1) < set_->min_leaf())) return kInfeasible<V>;
    return static_cast<V>(side_cost(0) + side_cost(1));
  }

  SecondSplit<V> split(const PairKernels<V>& kernels, std::int32_t f) {
    Line& line = lines_[static_cast<std::size_t>(f)];
    if (!line.has_rows) lay_out(f, line);
    if (!line.has_positions) place(f, line);
    SecondRows<V> in;
    in.form = data_.form();
    in.n_planes = data_.n_planes();
    in.length = length_;
    in.position = line.position.data();
    in.values = line.values.data();
    in.label = line.label.data();
    in.parts = line.parts.data();
    in.threshold = static_cast<V>(n_left_);
    in.min_leaf =
        set_->min_leaf() > 1 ? static_cast<V>(std::min<std::int64_t>(set_->min_leaf(), kInfeasible<V>)) : V{0};
    for (int side = 0; side < 2; ++side) {
      in.totals[side] = totals_[side].data();
      in.n_rows[side] = static_cast<V>(side_rows(side));
    }
    return kernels.scan_second(in, scratch_.data());
  }

 private:
  struct Line {
    std::vector<std::int32_t> order;
    std::vector<V> position, values, label, parts;
    bool has_order = false, has_rows = false, has_positions = false;
  };

  // Where the k-th row of an order stands in the layout of lanes.
  std::size_t place_of(std::int32_t k) const {
    return static_cast<std::size_t>(k % length_) * static_cast<std::size_t>(kLanes<V>) +
           static_cast<std::size_t>(k / length_);
  }
  bool has_two_labels() const {
    return data_.form() == PlaneForm::labels && data_.n_planes() == 2 && set_->min_leaf() <= 1;
  }

  void lay_out(std::int32_t f, Line& line) {
    const std::int32_t* rows = order(f);
    const std::int32_t* ranks = data_.ranks(f);
    const std::int32_t n = set_->n_rows();
    const std::size_t size = static_cast<std::size_t>(length_) * static_cast<std::size_t>(kLanes<V>);
    const bool by_label = data_.form() == PlaneForm::labels;
    line.parts.assign(size, 0);
    line.values.assign(by_label ? size : size * static_cast<std::size_t>(data_.n_planes()), 0);
    if (by_label && !has_two_labels()) line.label.assign(size, static_cast<V>(-1));
    for (std::int32_t k = 0; k < n; ++k) {
      const std::size_t at = place_of(k);
      const std::int32_t row = rows[k], type = data_.type(row);
      if (k + 1 < n && ranks[row] != ranks[rows[k + 1]]) line.parts[at] = static_cast<V>(-1);
      if (has_two_labels()) {
        line.values[at] = static_cast<V>(type == 1 ? data_.value(row, 1) : -data_.value(row, 0));
      } else if (by_label) {
        line.values[at] = static_cast<V>(data_.value(row, type));
        line.label[at] = static_cast<V>(type);
      } else {
        for (std::int32_t d = 0; d < data_.n_planes(); ++d)
          line.values[static_cast<std::size_t>(d) * size + at] = static_cast<V>(data_.value(row, d));
      }
    }
    line.has_rows = true;
  }

  void place(std::int32_t f, Line& line) {
    const std::int32_t* rows = order(f);
    line.position.assign(static_cast<std::size_t>(length_) * static_cast<std::size_t>(kLanes<V>), kInfeasible<V>);
    for (std::int32_t k = 0; k < set_->n_rows(); ++k)
      line.position[place_of(k)] = position_[static_cast<std::size_t>(rows[k])];
    line.has_positions = true;
  }

  const OrderedData& data_;
  RowSetBins<V>* set_ = nullptr;
  std::int32_t length_ = 0;
  std::vector<Line> lines_;
  std::vector<V> position_;   // by row: along the root feature
  std::vector<V> totals_[2];  // [side][plane]
  std::int32_t n_left_ = 0;
  AlignedArray<V> scratch_;
};

}  // namespace certree
