#include "ordered_solver.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "entry_point.hpp"
#include "search/ordered/rounds.hpp"
#include "search/ordered/shape.hpp"
#include "tasks/quantile_loss.hpp"

namespace certree {

namespace {

// The trees that data and options leave.
Shape shape_of(const OrderedData& data, const Options& options) {
  std::int64_t depth = std::min<std::int64_t>(data.n_tests(), data.n_rows() - 1), splits = data.n_rows() - 1;
  if (options.max_depth >= 0) depth = std::min<std::int64_t>(depth, options.max_depth);
  if (options.max_splits >= 0) splits = std::min(splits, options.max_splits);
  // More splits cost more than any leaf.
  Cost worth = 0;
  if (options.split_penalty > 0 &&
      !__builtin_mul_overflow(data.worst_total() / options.split_penalty + 1, options.error_scale, &worth))
    splits = std::min(splits, worth);
  // A limit that only the number of rows sets changes nothing.
  const auto levels = static_cast<std::int32_t>(std::min(depth, splits));
  return options.max_splits >= 0 ? Shape::of(levels, splits) : Shape::full(levels);
}

std::int64_t most_splits(const OrderedData& data, const Shape& shape) {
  return std::min<std::int64_t>(data.n_rows() - 1, shape.splits);
}

Result leaf_of(const OrderedView& view, const CountTask& task, const Options& options, const Budget& budget) {
  std::vector<Cost> counts(static_cast<std::size_t>(task.n_types()), 0);
  for (std::int64_t row = 0; row < view.n_rows; ++row)
    add_checked(counts[static_cast<std::size_t>(view.row_types[row])], view.weight(row));
  std::int32_t label = 0;
  const Cost cost = checked_leaf(counts, task, &label);
  return single_leaf(cost, label, options, budget);
}

Result leaf_of(const OrderedView& view, const VectorTask& task, const Options& options, const Budget& budget) {
  const auto n = static_cast<std::size_t>(task.n_statistics);
  if (task.kind == VectorKind::quantile)
    return single_leaf(quantile_loss(view.statistics, view.n_rows, task), 0, options, budget);
  std::vector<Cost> sums(n, 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(view.n_rows); ++row)
    for (std::size_t s = 0; s < n; ++s) add_checked(sums[s], view.statistics[row * n + s]);
  std::int32_t label = 0;
  const Cost cost = task.leaf_cost(sums.data(), &label);
  return single_leaf(cost, label, options, budget);
}

// One solve: what lives from the ranks to the report.
struct Solve {
  template <class Task>
  Solve(const OrderedView& view, const Task& task, const Options& options, Budget& shared_budget,
        MemoryBudget& shared_memory, Observer observer)
      : budget(shared_budget),
        memory(shared_memory),
        data(view, task, budget, memory),
        shape(shape_of(data, options)),
        scale(data.worst_total(), options, most_splits(data, shape)),
        inner(options),
        progress(budget, std::move(observer), scale.factor),
        table(memory, options.memory_limit > 0 ? options.memory_limit / 2 : 0, false) {
    inner.gap = scale.from_caller(options.gap);
  }

  OrderedContext context(bool has_sizes) {
    return {data, inner, scale.objective, budget, memory, table, progress, has_sizes};
  }

  Budget& budget;
  MemoryBudget& memory;
  const OrderedData data;
  const Shape shape;
  const Scale scale;
  Options inner;
  Progress progress;
  Table table;
};

void report_work(const Budget& budget, const MemoryBudget& memory, const OrderedView& view, Report& result) {
  result.counters.depth_two_evaluations = budget.work();
  result.counters.peak_bytes = memory.peak();
  result.counters.row_groups = view.n_rows;
  result.seconds = budget.seconds();
}

template <class Task>
Result run(const OrderedView& view, const Task& task, const Options& options, Observer observer) {
  check_options(view.n_rows, options);
  require(options.max_depth >= 0 || options.max_splits >= 0 || options.split_penalty > 0,
          "ordered features need max_depth, max_splits or split_penalty");
  Budget budget(options.time_limit_s, options.work_limit);
  MemoryBudget memory(options.memory_limit);
  Result result;
  bool has_tree = false;
  run_within(budget, [&] {
    check_ranks(view, budget);
    Solve solve(view, task, options, budget, memory, std::move(observer));
    if (options.known_value >= 0) solve.progress.assume(known_value(options, solve.scale, options.smallest));
    run_within(budget, [&] { run_ordered(solve.context(false), solve.shape, result.counters); });
    solve.progress.observe();
    if (solve.progress.tree().nodes.empty() && options.known_value < 0) return;
    has_tree = true;
    report_values(solve.progress, budget, solve.scale, options.gap, result);
    result.tree = solve.progress.tree();
    report_table(solve.table, result.counters);
  });
  if (!has_tree) result = leaf_of(view, task, options, budget);
  report_work(budget, memory, view, result);
  return result;
}

template <class Task>
PathResult run_path(const OrderedView& view, const Task& task, const Options& options, Observer observer) {
  check_path_options(view.n_rows, options);
  Options leaves = options;  // a path prices no split and leaves no gap
  leaves.error_scale = 1;
  leaves.split_penalty = leaves.gap = 0;
  Budget budget(options.time_limit_s, options.work_limit);
  MemoryBudget memory(options.memory_limit);
  PathResult result;
  run_within(budget, [&] {
    check_ranks(view, budget);
    Solve solve(view, task, leaves, budget, memory, std::move(observer));
    bool is_whole = false;
    const Shape shape = Shape::of(solve.shape.depth, most_splits(solve.data, solve.shape));
    result.entries = run_ordered_path(solve.context(true), shape, result.counters, &is_whole);
    result.status = status_of(budget, is_whole);
    report_table(solve.table, result.counters);
  });
  if (result.entries.empty()) result = path_of_leaf(leaf_of(view, task, options, budget), options, budget);
  report_work(budget, memory, view, result);
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

PathResult solve_ordered_path(const OrderedView& view, const CountTask& task, const Options& options,
                              Observer observer) {
  return run_path(view, task, options, std::move(observer));
}

PathResult solve_ordered_path(const OrderedView& view, const VectorTask& task, const Options& options,
                              Observer observer) {
  task.check();
  return run_path(view, task, options, std::move(observer));
}

}  // namespace certree
