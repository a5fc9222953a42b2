#include "search/columns/grower.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "bounds/split_count.hpp"

namespace certree {

Cost ColumnGrower::leaf(std::size_t level, std::int32_t* label) {
  return worker_.context().objective.leaf(worker_.depth_two().leaf_cost(worker_.frame(level).node, label));
}

std::int32_t ColumnGrower::test_of(std::size_t level, std::int32_t split) {
  return split < 0 ? -1 : worker_.frame(level).node.column[static_cast<std::size_t>(split)];
}

// Prices are part of what a split costs; impurity knows nothing of them.
bool ColumnGrower::has_impurities() const {
  return worker_.context().tests == nullptr && worker_.depth_two().has_impurities();
}

std::int32_t ColumnGrower::purest_test(std::size_t level, Impurity impurity) {
  if (!has_impurities()) return cheapest_test(level);
  return test_of(level, worker_.depth_two().purest_split(worker_.frame(level).node, impurity));
}

std::int32_t ColumnGrower::cheapest_test(std::size_t level) {
  std::int32_t column = -1;
  Cost price = 0;
  worker_.depth_two().best_split(worker_.frame(level).node, &column, &price);
  if (cheapest_.size() <= level) cheapest_.resize(level + 1);
  cheapest_[level] = {test_of(level, column), price, worker_.frame(level).node.rows.key};
  return cheapest_[level].test;
}

Cost ColumnGrower::split_value(std::size_t level, std::int32_t test) {
  const Context& context = worker_.context();
  if (context.tests == nullptr) return context.objective.split(0);
  Frame& frame = worker_.frame(level);
  const bool is_priced =
      level < cheapest_.size() && cheapest_[level].test == test && cheapest_[level].rows == frame.node.rows.key;
  if (is_priced) return context.objective.split(context.objective.leaf(cheapest_[level].price));
  if (!frame.is_expanded && !worker_.expand(frame)) return kInfinite;
  return worker_.value_of_split(frame, static_cast<std::size_t>(local_column(frame.node, test)), 0);
}

// By the value of the best tree of depth two with that root.
void ColumnGrower::candidates(std::size_t level, std::size_t most, std::vector<std::int32_t>& out) {
  out.clear();
  Record record;
  if (!worker_.open(level, 3, record)) return;
  const Frame& frame = worker_.frame(level);
  std::vector<std::int32_t> splits(static_cast<std::size_t>(frame.node.n_columns));
  std::iota(splits.begin(), splits.end(), 0);
  std::erase_if(splits, [&](std::int32_t s) { return frame.expansion.yes0[static_cast<std::size_t>(s)] >= kInfinite; });
  std::stable_sort(splits.begin(), splits.end(), [&](std::int32_t a, std::int32_t b) {
    return frame.guess[static_cast<std::size_t>(a)] < frame.guess[static_cast<std::size_t>(b)];
  });
  for (std::size_t k = 0; k < std::min(most, splits.size()); ++k) out.push_back(test_of(level, splits[k]));
}

void ColumnGrower::descend(std::size_t level, std::int32_t test, bool holds) {
  const std::int32_t split = local_column(worker_.frame(level).node, test);
  CERTREE_DCHECK(split >= 0);
  worker_.descend(level, split, holds);
}

Cost ColumnGrower::solve(std::size_t level, std::int32_t depth, Tree& tree, Cost* floor) {
  Frame& frame = worker_.frame(level);
  if (depth <= 2) {
    if (!worker_.expand(frame)) return kInfinite;
    const Cost value = worker_.shallow_value(frame.expansion.errors, depth);
    *floor = split_count_bound(worker_.context().objective, value, frame.unavoidable, depth);
    worker_.add_depth_two_tree(level, depth, tree);
    return value;
  }
  const Interval found = worker_.solve(level, depth, kInfinite);
  std::int32_t root = -1;
  if (!found.is_exact() || !worker_.add_known_tree(level, depth, found.upper, tree, &root)) return kInfinite;
  *floor = split_count_bound(worker_.context().objective, found.upper, frame.unavoidable, depth);
  return found.upper;
}

}  // namespace certree
