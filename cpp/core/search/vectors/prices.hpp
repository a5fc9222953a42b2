// Prices of the tests at a node and below each of them, in the width of the kernels (data/test_costs.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/memory.hpp"
#include "data/node.hpp"
#include "data/test_costs.hpp"

namespace certree {

template <class V>
class TestPrices {
 public:
  explicit TestPrices(MemoryBudget& memory)
      : price_(memory),
        reduced_(memory),
        feature_(memory),
        group_(memory),
        after_(memory),
        before_(memory),
        next_(memory) {}

  // The columns of `node`, after what has been `paid`.
  void set(const TestCosts& costs, const Node& node, const Paid& paid) {
    n_ = node.n_columns;
    row_feature_ = -1;
    const auto room = static_cast<std::size_t>(n_) + 16;
    for (AlignedArray<V>* array : {&price_, &reduced_, &feature_, &group_, &after_, &before_}) array->ensure(room);
    next_.ensure(room);
    for (std::size_t j = 0; j < static_cast<std::size_t>(n_); ++j) {
      const std::int32_t feature = costs.feature(node.column[j]), group = costs.group(feature);
      const Cost price = paid.price[static_cast<std::size_t>(feature)];
      price_[j] = static_cast<V>(price);
      reduced_[j] = static_cast<V>(std::min(price, costs.discounted(feature)));
      feature_[j] = feature;
      group_[j] = group >= 0 ? group : -1 - feature;  // alone in its group
      join_ring(j);
    }
  }

  // What column j costs once i was tested, and what i costs once j was tested.  Only columns of the group of i differ from
  // the prices at the node.
  void set_row(std::int32_t i) {
    const auto mine = static_cast<std::size_t>(i), n = static_cast<std::size_t>(n_);
    const V feature = feature_[mine], reduced = reduced_[mine];
    if (feature == row_feature_) return;  // all columns of a feature have the same
    row_feature_ = feature;
    std::copy_n(price_.data(), n, after_.data());
    std::fill_n(before_.data(), n, price_[mine]);
    std::size_t j = mine;
    do {
      const bool same = feature_[j] == feature;
      after_[j] = same ? V{0} : reduced_[j];
      before_[j] = same ? V{0} : reduced;
      j = static_cast<std::size_t>(next_[j]);
    } while (j != mine);
  }

  V price(std::size_t column) const { return price_[column]; }
  const V* after() const { return after_.data(); }
  const V* before() const { return before_.data(); }

 private:
  // The columns of a group are a ring; the columns before j are in theirs.
  void join_ring(std::size_t j) {
    std::size_t other = j;
    while (other > 0 && group_[other - 1] != group_[j]) --other;
    next_[j] = static_cast<std::int32_t>(j);
    if (other > 0) std::swap(next_[j], next_[other - 1]);
  }

  std::int32_t n_ = 0;
  V row_feature_ = -1;  // the feature of the column of set_row
  AlignedArray<V> price_, reduced_, feature_, group_, after_, before_;
  AlignedArray<std::int32_t> next_;  // [column]: another of its group, the last one's is the first
};

}  // namespace certree
