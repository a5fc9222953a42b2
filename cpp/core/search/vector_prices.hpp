// Prices of the tests at a node and below each of them, in the width of the kernels (data/test_costs.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/memory.hpp"
#include "data/node.hpp"
#include "data/test_costs.hpp"

namespace certree {

template <class V>
class TestPrices {
 public:
  explicit TestPrices(MemoryBudget& budget)
      : price_(budget), reduced_(budget), feature_(budget), group_(budget), after_(budget), before_(budget) {}

  // The columns of `node`, after what has been `paid`.
  void set(const TestCosts& costs, const Node& node, const Paid& paid) {
    n_ = node.n_columns;
    const auto room = static_cast<std::size_t>(n_) + 16;
    for (AlignedArray<V>* array : {&price_, &reduced_, &feature_, &group_, &after_, &before_}) array->ensure(room);
    for (std::size_t j = 0; j < static_cast<std::size_t>(n_); ++j) {
      const std::int32_t feature = costs.feature(node.column[j]), group = costs.group(feature);
      const Cost price = paid.price[static_cast<std::size_t>(feature)];
      price_[j] = static_cast<V>(price);
      reduced_[j] = static_cast<V>(std::min(price, costs.discounted(feature)));
      feature_[j] = feature;
      group_[j] = group >= 0 ? group : -1 - feature;  // alone in its group
    }
  }

  // What column j costs once i was tested, and what i costs once j was tested.
  void set_row(std::int32_t i) {
    const auto mine = static_cast<std::size_t>(i);
    const V feature = feature_[mine], group = group_[mine], price = price_[mine], reduced = reduced_[mine];
    for (std::size_t j = 0; j < static_cast<std::size_t>(n_); ++j) {
      const bool same = feature_[j] == feature, related = group_[j] == group;
      after_[j] = same ? V{0} : related ? reduced_[j] : price_[j];
      before_[j] = same ? V{0} : related ? reduced : price;
    }
  }

  V price(std::size_t column) const { return price_[column]; }
  const V* after() const { return after_.data(); }
  const V* before() const { return before_.data(); }

 private:
  std::int32_t n_ = 0;
  AlignedArray<V> price_, reduced_, feature_, group_, after_, before_;
};

}  // namespace certree
