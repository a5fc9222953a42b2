// Leaf costs that a function of the caller's knows (VectorKind::callback).  Cells are collected, and the function is asked
// about all of a depth-two pass at once, both children included, as long as it answers quickly (tasks/leaf_questions.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/vectors/leaves.hpp"
#include "tasks/leaf_questions.hpp"

namespace certree {

template <class V>
class CallbackLeaves {
 public:
  static constexpr bool kReadsRows = false;
  struct Side {
    explicit Side(MemoryBudget& memory) : yes0(memory), no0(memory), yes1(memory), no1(memory) {}
    AlignedArray<Cost> yes0, no0, yes1, no1;
    SideSums<V> sums;
    Cost leaf = kInfinite;
  };

  CallbackLeaves(const VectorData& data, const LeafSize& size, const DepthTwoSettings&, Budget& budget, MemoryBudget&)
      : task_(data.task()),
        questions_(data.task(), budget),
        n_(data.n_statistics()),
        size_(size),
        limit_(data.leaf_limit()),
        most_cells_(std::min(kMostCells, (task_.is_native ? kFewSums : kMostSums) / std::max<std::size_t>(n_, 1))) {}

  void begin(Side& side, const SideSums<V>& sums) {
    const auto stride = static_cast<std::size_t>(sums.stride), n = static_cast<std::size_t>(sums.n_columns);
    side.sums = sums;
    for (AlignedArray<Cost>* array : {&side.yes0, &side.no0, &side.yes1, &side.no1})
      std::fill_n(array->ensure(stride), stride, kInfinite);
    jobs_.push_back({&side, -1});
    make_room(2 * n + 1);
    const V* rows = sums.columns + static_cast<std::size_t>(size_.statistic) * stride;
    const V all = sums.totals[size_.statistic], least = least_rows();
    std::uint8_t* large = is_large_.data() + n_cells_;
    for (std::size_t j = 0; j < n; ++j) {
      large[j] = rows[j] >= least;
      large[n + j] = static_cast<V>(all - rows[j]) >= least;
    }
    large[2 * n] = 1;  // the node is a leaf whatever its size
    for (std::size_t s = 0; s < n_; ++s) {
      const V* column = sums.columns + s * stride;
      const V total = sums.totals[s];
      Cost* out = cells(s);
      for (std::size_t j = 0; j < n; ++j) {
        out[j] = large[j] != 0 ? column[j] : total;
        out[n + j] = large[n + j] != 0 ? static_cast<V>(total - column[j]) : total;
      }
      out[2 * n] = total;
    }
    n_cells_ += 2 * n + 1;
  }

  // Cells that are too small for a leaf are asked about as the whole node, and the answer is not used.
  void add_row(Side& side, std::int32_t i, const PairRow<V>& pairs) {
    const auto first = static_cast<std::size_t>(i) + 1;
    const std::size_t n = static_cast<std::size_t>(side.sums.n_columns) - first;
    if (n == 0) return;
    jobs_.push_back({&side, i});
    make_room(4 * n);
    std::uint8_t* large = is_large_.data() + n_cells_;
    const V least = least_rows();
    visit_cells(side, i, pairs, static_cast<std::size_t>(size_.statistic),
                [&](std::size_t cell, V rows) { large[cell] = rows >= least; });
    for (std::size_t s = 0; s < n_; ++s) {
      const V total = side.sums.totals[s];
      Cost* out = cells(s);
      visit_cells(side, i, pairs, s, [&](std::size_t cell, V sum) { out[cell] = large[cell] != 0 ? sum : total; });
    }
    n_cells_ += 4 * n;
    if (n_cells_ >= most_cells_) is_stopped_ = !flush(true);
  }

  // False: the time is up, and nothing is known of the pass.
  bool finish(bool may_stop) { return flush(may_stop); }
  bool is_stopped() {
    if (is_stopped_ || questions_.is_late()) return reset();
    return false;
  }

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
  static constexpr std::size_t kMostSums = std::size_t{1} << 20;   // in all of them
  static constexpr std::size_t kFewSums = std::size_t{1} << 15;    // the same if questions cost little

  struct Job {
    Side* side = nullptr;
    std::int32_t column = -1;  // its pairs with all later columns; -1: both sides of all columns, and the whole
  };

  V least_rows() const { return static_cast<V>(std::clamp<std::int64_t>(size_.least, 1, kInfeasible<V>)); }
  Cost* cells(std::size_t statistic) { return sums_.data() + statistic * capacity_ + n_cells_; }

  void make_room(std::size_t more) {
    if (n_cells_ + more <= capacity_) return;
    const std::size_t capacity = std::max(2 * capacity_, n_cells_ + more);
    std::vector<Cost> sums(n_ * capacity);
    for (std::size_t s = 0; s < n_; ++s)
      std::copy_n(sums_.data() + s * capacity_, n_cells_, sums.data() + s * capacity);
    sums_ = std::move(sums);
    is_large_.resize(capacity);
    capacity_ = capacity;
  }

  // use(cell, sum of one statistic) for all pairs of i: first those where both hold, then only i, only j, neither.
  template <class Use>
  void visit_cells(const Side& side, std::int32_t i, const PairRow<V>& pairs, std::size_t s, Use use) const {
    const auto mine = static_cast<std::size_t>(i), first = mine + 1;
    const std::size_t n = static_cast<std::size_t>(side.sums.n_columns) - first;
    const V* column = side.sums.columns + s * static_cast<std::size_t>(side.sums.stride);
    const V* pair = pairs.minuend + s * pairs.minuend_type_stride + first;
    const V* less = pairs.subtrahend == nullptr ? nullptr : pairs.subtrahend + s * pairs.subtrahend_type_stride + first;
    const V held = column[mine], rest = static_cast<V>(side.sums.totals[s] - held);
    for (std::size_t k = 0; k < n; ++k) {
      const V both = less == nullptr ? pair[k] : static_cast<V>(pair[k] - less[k]);
      const V only_j = static_cast<V>(column[first + k] - both);
      use(k, both);
      use(n + k, static_cast<V>(held - both));
      use(2 * n + k, only_j);
      use(3 * n + k, static_cast<V>(rest - only_j));
    }
  }

  // Forgets a pass that was left.
  bool reset() {
    jobs_.clear();
    n_cells_ = 0;
    is_stopped_ = false;
    return true;
  }

  bool flush(bool may_stop) {
    costs_.resize(n_cells_);
    if (!questions_.ask(sums_.data(), n_cells_, capacity_, costs_.data(), may_stop)) return !reset();
    for (std::size_t k = 0; k < n_cells_; ++k) {
      if (costs_[k] < 0 || costs_[k] > limit_) refuse_leaf_cost(task_, costs_[k], limit_);
      if (is_large_[k] == 0) costs_[k] = kInfinite;
    }
    const Cost* costs = costs_.data();
    for (const Job& job : jobs_) costs = job.column < 0 ? take_sides(*job.side, costs) : take_pairs(job, costs);
    return reset();
  }

  const Cost* take_sides(Side& side, const Cost* costs) {
    const auto n = static_cast<std::size_t>(side.sums.n_columns);
    for (std::size_t j = 0; j < n; ++j) {
      if (costs[j] >= kInfinite || costs[n + j] >= kInfinite) continue;
      side.yes0[j] = costs[j];
      side.no0[j] = costs[n + j];
    }
    side.leaf = costs[2 * n];
    return costs + 2 * n + 1;
  }

  const Cost* take_pairs(const Job& job, const Cost* costs) {
    Side& side = *job.side;
    const auto i = static_cast<std::size_t>(job.column);
    const std::size_t n = static_cast<std::size_t>(side.sums.n_columns) - i - 1;
    const Cost *both = costs, *only_i = costs + n, *only_j = costs + 2 * n, *neither = costs + 3 * n;
    Cost* yes1 = side.yes1.data() + i + 1;
    Cost* no1 = side.no1.data() + i + 1;
    Cost yes = side.yes1[i], no = side.no1[i];
    for (std::size_t k = 0; k < n; ++k) {
      yes = std::min(yes, both[k] + only_i[k]);
      no = std::min(no, only_j[k] + neither[k]);
      yes1[k] = std::min(yes1[k], both[k] + only_j[k]);
      no1[k] = std::min(no1[k], only_i[k] + neither[k]);
    }
    side.yes1[i] = yes;
    side.no1[i] = no;
    return costs + 4 * n;
  }

  const VectorTask& task_;
  LeafQuestions questions_;
  std::size_t n_;
  LeafSize size_;
  Cost limit_;
  std::size_t most_cells_;
  std::vector<Job> jobs_;
  std::vector<Cost> sums_, costs_;  // sums by statistic
  std::vector<std::uint8_t> is_large_;
  std::size_t n_cells_ = 0, capacity_ = 0;
  bool is_stopped_ = false;
};

}  // namespace certree
