// Leaf costs that a function of the caller's knows (VectorKind::callback).  Cells are collected, and the function is asked
// about all of them at once: at least a whole depth-two pass, both children included.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "search/vector_leaves.hpp"

namespace certree {

template <class V>
class CallbackLeaves {
 public:
  struct Side {
    explicit Side(MemoryBudget& budget) : yes0(budget), no0(budget), yes1(budget), no1(budget) {}
    AlignedArray<Cost> yes0, no0, yes1, no1;
    SideSums<V> sums;
    Cost leaf = kInfinite;
  };

  CallbackLeaves(const VectorData& data, const LeafSize& size, Isa, MemoryBudget&)
      : task_(data.task()), n_(data.n_statistics()), size_(size), limit_(data.leaf_limit()) {}

  void begin(Side& side, const SideSums<V>& sums) {
    const auto stride = static_cast<std::size_t>(sums.stride);
    side.sums = sums;
    for (AlignedArray<Cost>* array : {&side.yes0, &side.no0, &side.yes1, &side.no1})
      std::fill_n(array->ensure(stride), stride, kInfinite);
    jobs_.push_back({&side, -1});
    for (std::int32_t j = 0; j < sums.n_columns; ++j) {
      add_cell([&](std::size_t s) { return sums.columns[s * stride + static_cast<std::size_t>(j)]; });
      add_cell([&](std::size_t s) {
        return static_cast<V>(sums.totals[s] - sums.columns[s * stride + static_cast<std::size_t>(j)]);
      });
    }
    // The node is a leaf whatever its size.
    ask([&](std::size_t s) { return sums.totals[s]; });
  }

  void add_row(Side& side, std::int32_t i, const PairRow<V>& pairs) {
    jobs_.push_back({&side, i});
    const auto stride = static_cast<std::size_t>(side.sums.stride), mine = static_cast<std::size_t>(i);
    const V* columns = side.sums.columns;
    const V* totals = side.sums.totals;
    for (std::int32_t other = i + 1; other < side.sums.n_columns; ++other) {
      const auto j = static_cast<std::size_t>(other);
      const auto both = [&](std::size_t s) {
        const V pair = pairs.minuend[s * pairs.minuend_type_stride + j];
        return pairs.subtrahend == nullptr
                   ? pair
                   : static_cast<V>(pair - pairs.subtrahend[s * pairs.subtrahend_type_stride + j]);
      };
      add_cell(both);
      add_cell([&](std::size_t s) { return static_cast<V>(columns[s * stride + mine] - both(s)); });
      add_cell([&](std::size_t s) { return static_cast<V>(columns[s * stride + j] - both(s)); });
      add_cell([&](std::size_t s) {
        return static_cast<V>(totals[s] - columns[s * stride + mine] - columns[s * stride + j] + both(s));
      });
    }
    if (cells_.size() >= kMostCells) flush();
  }

  void finish(Side*, Side*) { flush(); }

  SplitErrors errors(const Side& side) const {
    SplitErrors out{side.leaf, kInfinite, kInfinite, kInfinite};
    for (std::size_t j = 0; j < static_cast<std::size_t>(side.sums.n_columns); ++j) {
      if (side.yes0[j] >= kInfinite) continue;
      out[1] = std::min(out[1], side.yes0[j] + side.no0[j]);
      out[2] = std::min({out[2], side.yes1[j] + side.no0[j], side.yes0[j] + side.no1[j]});
      out[3] = std::min(out[3], side.yes1[j] + side.no1[j]);
    }
    for (Cost& error : out) error = std::min(error, kInfinite);
    return out;
  }

  void publish(const Side& side, const Cost*, Expansion& out) const {
    for (std::size_t j = 0; j < static_cast<std::size_t>(side.sums.n_columns); ++j) {
      out.yes0[j] = side.yes0[j];
      out.no0[j] = side.no0[j];
      out.yes1[j] = side.yes1[j];
      out.no1[j] = side.no1[j];
    }
  }

 private:
  static constexpr std::size_t kMostCells = std::size_t{1} << 18;  // of one call
  static constexpr std::int32_t kTooSmall = -1;

  struct Job {
    Side* side = nullptr;
    std::int32_t column = -1;  // its pairs with all later columns; -1: both sides of all columns, and the whole
  };

  // One more cell, to be asked about unless it is too small for a leaf.
  template <class Sum>
  void add_cell(Sum sum) {
    if (static_cast<std::int64_t>(sum(static_cast<std::size_t>(size_.statistic))) <
        std::max<std::int64_t>(size_.least, 1)) {
      cells_.push_back(kTooSmall);
    } else {
      ask(sum);
    }
  }

  template <class Sum>
  void ask(Sum sum) {
    cells_.push_back(static_cast<std::int32_t>(n_asked_++));
    const std::size_t begin = sums_.size();
    sums_.resize(begin + n_);
    for (std::size_t s = 0; s < n_; ++s) sums_[begin + s] = sum(s);
  }

  void flush() {
    costs_.resize(n_asked_);
    labels_.resize(n_asked_);
    if (n_asked_ > 0) task_.leaf(sums_.data(), static_cast<std::int64_t>(n_asked_), costs_.data(), labels_.data());
    for (const Cost cost : costs_) {
      if (cost < 0 || cost > limit_)
        throw std::invalid_argument(
            "leaf_function returned " + std::to_string(cost) + "; costs must lie between 0 and " +
            std::to_string(limit_) +
            (task_.superadditive ? ", the cost of all rows in one leaf, if they are superadditive" : ""));
    }
    std::size_t cell = 0;
    for (const Job& job : jobs_) cell = job.column < 0 ? take_sides(*job.side, cell) : take_pairs(job, cell);
    jobs_.clear();
    cells_.clear();
    sums_.clear();
    n_asked_ = 0;
  }

  Cost cost_at(std::size_t cell) const {
    const std::int32_t place = cells_[cell];
    return place == kTooSmall ? kInfinite : costs_[static_cast<std::size_t>(place)];
  }

  std::size_t take_sides(Side& side, std::size_t cell) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(side.sums.n_columns); ++j, cell += 2) {
      const Cost yes = cost_at(cell), no = cost_at(cell + 1);
      if (yes >= kInfinite || no >= kInfinite) continue;
      side.yes0[j] = yes;
      side.no0[j] = no;
    }
    side.leaf = cost_at(cell);
    return cell + 1;
  }

  std::size_t take_pairs(const Job& job, std::size_t cell) {
    Side& side = *job.side;
    const auto i = static_cast<std::size_t>(job.column);
    for (std::size_t j = i + 1; j < static_cast<std::size_t>(side.sums.n_columns); ++j, cell += 4) {
      const Cost both = cost_at(cell), only_i = cost_at(cell + 1), only_j = cost_at(cell + 2),
                 neither = cost_at(cell + 3);
      side.yes1[i] = std::min(side.yes1[i], both + only_i);
      side.no1[i] = std::min(side.no1[i], only_j + neither);
      side.yes1[j] = std::min(side.yes1[j], both + only_j);
      side.no1[j] = std::min(side.no1[j], only_i + neither);
    }
    return cell;
  }

  const VectorTask& task_;
  std::size_t n_;
  LeafSize size_;
  Cost limit_;
  std::vector<Job> jobs_;
  std::vector<std::int32_t> cells_;
  std::vector<Cost> sums_, costs_;
  std::vector<std::int32_t> labels_;
  std::size_t n_asked_ = 0;
};

}  // namespace certree
