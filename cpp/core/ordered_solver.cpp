#include "ordered_solver.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "door.hpp"
#include "search/ordered_search.hpp"

namespace certree {

namespace {

std::int32_t effective_depth(const OrderedData& data, const Options& options) {
  const auto by_data = std::min<std::int64_t>(data.n_tests(), data.n_rows() - 1);
  return static_cast<std::int32_t>(std::min<std::int64_t>(by_data, options.max_depth));
}

std::int64_t most_splits(const OrderedData& data, std::int32_t depth) {
  const std::int64_t by_rows = data.n_rows() - 1;
  return depth < 40 ? std::min(by_rows, (std::int64_t{1} << depth) - 1) : by_rows;
}

Result leaf_of(const OrderedView& view, const CountTask& task, const Options& options) {
  std::vector<Cost> counts(static_cast<std::size_t>(task.n_types()), 0);
  for (std::int64_t row = 0; row < view.n_rows; ++row)
    counts[static_cast<std::size_t>(view.row_types[row])] += view.weight(row);
  std::int32_t label = 0;
  const Cost cost = task.leaf_cost(counts.data(), &label);
  return single_leaf(cost, label, options);
}

Result leaf_of(const OrderedView& view, const VectorTask& task, const Options& options) {
  const auto n = static_cast<std::size_t>(task.n_statistics);
  std::vector<Cost> sums(n, 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(view.n_rows); ++row)
    for (std::size_t s = 0; s < n; ++s) sums[s] += view.statistics[row * n + s];
  std::int32_t label = 0;
  const Cost cost = task.leaf_cost(sums.data(), &label);
  return single_leaf(cost, label, options);
}

template <class Task>
Result run(const OrderedView& view, const Task& task, const Options& options, Observer observer) {
  check_options(view.n_rows, options);
  require(options.max_depth >= 0, "ordered features need max_depth");
  require(options.max_splits < 0, "ordered features have no limit on splits");
  check_ranks(view);
  Budget budget(options.time_limit_s, options.work_limit);
  MemoryBudget memory(options.memory_limit);
  Result result;
  bool has_tree = false;
  run_within(budget, [&] {
    const OrderedData data(view, task, memory);
    const std::int32_t depth = effective_depth(data, options);
    const Scale scale(data.worst_total(), options, most_splits(data, depth));
    Options inner = options;
    inner.gap = scale.from_caller(options.gap);
    Progress progress(budget, std::move(observer), scale.factor);
    if (options.known_value >= 0)
      progress.assume(options.known_value * scale.factor + (inner.smallest ? options.known_splits : 0));
    Table table(memory, options.memory_limit > 0 ? options.memory_limit / 2 : 0, false);
    run_within(budget, [&] {
      OrderedSearch(data, inner, scale.objective, budget, memory, table, progress).run(depth, result.counters);
    });
    progress.observe();
    if (progress.tree().nodes.empty() && options.known_value < 0) return;
    has_tree = true;
    report_values(progress, budget, scale, options.gap, result);
    result.tree = progress.tree();
    report_table(table, result.counters);
  });
  if (!has_tree) result = leaf_of(view, task, options);
  result.counters.depth_two_evaluations = budget.work();
  result.counters.peak_bytes = memory.peak();
  result.counters.row_groups = view.n_rows;
  result.seconds = budget.seconds();
  return result;
}

}  // namespace

Result solve_ordered(const OrderedView& view, const CountTask& task, const Options& options, Observer observer) {
  return run(view, task, options, std::move(observer));
}

Result solve_ordered(const OrderedView& view, const VectorTask& task, const Options& options, Observer observer) {
  task.check();
  return run(view, task, options, std::move(observer));
}

}  // namespace certree
