// Least values of the planes over the trees of depth at most two of a row set, from its sums of pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.hpp"
#include "counts/vector_kernels.hpp"
#include "search/limits/sums.hpp"

namespace certree {

// Per plane and column: the least value of the side where the column holds or not, as a leaf and with at most one more
// split.  kInfinite where a side would be smaller than the minimum leaf size.
class LimitBounds {
 public:
  LimitBounds(const LimitData& data, std::int64_t min_leaf, Isa isa, MemoryBudget& memory);

  // For another view; forgets what was computed.
  void start(const LimitView& view, std::int32_t depth);
  // Computes one plane.
  void compute(std::size_t plane);
  // With at most one more split, or as a leaf.
  Cost side(std::size_t plane, std::size_t column, bool holds) const {
    return (depth_ > 1 ? split_ : leaf_)[index(plane, holds) + column];
  }
  // Over trees of the depth given to `start`.
  Cost whole(std::size_t plane) const { return whole_[plane]; }
  // Do both sides of a column have enough rows?
  bool may_split(std::size_t column) const {
    if (data_.row_value() < 0) return true;
    const auto rows = static_cast<std::size_t>(data_.row_value());
    return view_->side(rows, column, true) >= min_leaf_ && view_->side(rows, column, false) >= min_leaf_;
  }

 private:
  std::size_t index(std::size_t plane, bool holds) const { return (2 * plane + (holds ? 1 : 0)) * view_->stride; }
  // What every label adds to a plane, and rows, from sums of the pair values: for columns from `first` on.
  void weigh(std::size_t plane, const Cost* sums, std::size_t first, Cost* out) const;
  void set_input(std::size_t plane);
  void add_leaves(std::size_t plane);
  void add_pairs(std::size_t plane);

  const LimitData& data_;
  std::int64_t min_leaf_;
  const VectorKernels<Cost>& kernels_;
  const LimitView* view_ = nullptr;
  std::int32_t depth_ = 0;
  std::size_t n_statistics_;         // the labels, and rows if they are counted
  std::vector<Cost> weights_;        // [plane][pair value][statistic]
  VectorInput<Cost> input_;          // of the plane that is computed
  std::vector<Cost> totals_;         // [statistic], then what rows pay for
  AlignedArray<Cost> columns_;       // the same for every column
  AlignedArray<Cost> row_;           // [statistic][stride]: of pairs of one column
  AlignedArray<Cost> leaf_, split_;  // [plane][holds][stride]
  std::vector<Cost> whole_;
};

}  // namespace certree
