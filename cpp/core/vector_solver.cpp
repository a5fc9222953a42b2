#include "vector_solver.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "run.hpp"
#include "search/depth_two_vector.hpp"

namespace certree {

namespace {

// Only bounds whose laws the task has (docs/theory/vector-statistics.md).
Options lawful_options(const VectorTask& task, bool has_prices, bool is_path, const Options& options) {
  Options out = options;
  if (!task.superadditive) out.use_equivalent_points = out.use_split_similarity = false;
  if (!task.has_worst) out.use_nested_sets = out.use_split_similarity = out.use_leaf_support = false;
  // Rows outside of the set for which a tree was made would pay for its tests too (docs/theory/test-costs.md).
  if (has_prices) out.use_leaf_support = false;
  if (has_prices && is_path) out.use_nested_sets = out.use_split_similarity = false;
  // The interpreter runs one thread at a time, and threads would wait for it and for each other.
  if (task.kind == VectorKind::callback) out.threads = 1;
  return out;
}

DatasetSettings dataset_settings(const VectorTable& table, const Options& options) {
  DatasetSettings settings;
  const std::int64_t* weights = table.table.weights;
  settings.counts_rows = table.n_types > 0 && options.min_leaf > 1 && weights != nullptr &&
                         std::any_of(weights, weights + table.table.n_rows, [](auto w) { return w != 1; });
  settings.merges_rows = options.use_row_groups;
  settings.reduces_columns = options.use_column_reduction;
  settings.isa = options.isa;
  settings.column_class = table.tests.feature;
  return settings;
}

// No tree costs more, its tests included.
Cost most_cost(const VectorData& data, const Options& options) {
  if (data.tests() == nullptr) return data.worst_total();
  Cost tests = 0, total = 0;
  if (__builtin_mul_overflow(data.tests()->most(options.max_depth), data.weight(), &tests) ||
      __builtin_add_overflow(tests, data.worst_total(), &total))
    return kInfinite;
  return total;
}

// Everything one solve owns.  Throws MemoryLimitReached if not even the data fit.
struct Session {
  Session(const VectorTable& table, const VectorTask& task, const Options& options, Observer observer)
      : limits(options.time_limit_s, options.work_limit),
        budget(options.memory_limit),
        data(table, task, dataset_settings(table, options), limits, budget),
        statistic(data),
        run(data.groups(), statistic, most_cost(data, options), options, limits, budget, std::move(observer)) {
    run.context.tests = data.tests();
  }

  Limits limits;
  MemoryBudget budget;
  VectorData data;
  VectorDepthTwo statistic;
  Run run;
};

std::unique_ptr<Session> open_session(const VectorTable& table, const VectorTask& task, const Options& options,
                                      Observer observer) {
  try {
    return std::make_unique<Session>(table, task, options, std::move(observer));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void check(const VectorTable& table, const VectorTask& task, const Options& options) {
  task.check();
  if (table.tests.feature != nullptr) {
    require(task.kind == VectorKind::least, "test costs need a task of kind 'min_label'");
    check_test_costs(table.tests, table.table.n_columns);
  }
  check_options(table.table.n_rows, options);
  for (std::int64_t row = 0; table.n_types > 0 && row < table.table.n_rows; ++row)
    if (table.table.row_types[row] < 0 || table.table.row_types[row] >= table.n_types)
      throw std::invalid_argument("row_types has a value outside 0 .. n_types - 1");
}

// The tree that needs no memory: one leaf, and the bound that needs no search.
Result single_leaf(const VectorTable& table, const VectorTask& task, const Options& options) {
  const auto n = static_cast<std::size_t>(task.n_statistics);
  std::vector<Cost> sums(n, 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.table.n_rows); ++row) {
    const bool has_type = table.n_types > 0;
    const std::size_t vector = has_type ? static_cast<std::size_t>(table.table.row_types[row]) : row;
    const Cost weight = has_type && table.table.weights != nullptr ? table.table.weights[row] : 1;
    for (std::size_t s = 0; s < n; ++s) sums[s] += weight * table.statistics[vector * n + s];
  }
  Result result;
  std::int32_t label = 0;
  result.upper_bound = options.error_scale * task.leaf_cost(sums.data(), &label);
  result.tree.add({-1, -1, -1, label});
  result.status = result.upper_bound == 0 ? Status::optimal : Status::memory_limit;
  return result;
}

}  // namespace

Result solve_vector(const VectorTable& table, const VectorTask& task, const Options& given, Observer observer) {
  check(table, task, given);
  const Options options = lawful_options(task, table.tests.feature != nullptr, false, given);
  const auto session = open_session(table, task, options, std::move(observer));
  if (session == nullptr) return single_leaf(table, task, options);
  Result result;
  try {
    session->run.search(result.counters);
  } catch (const std::bad_alloc&) {
    session->limits.stop(StopReason::memory);
  }
  // Threads come to the tie-break with different incumbents.  If it was cut short, one thread decides.
  if (session->limits.reason() == StopReason::effort && options.threads > 1) {
    Options alone = options;
    alone.threads = 1;
    if (options.time_limit_s > 0) alone.time_limit_s = std::max(options.time_limit_s - session->limits.seconds(), 1e-3);
    return solve_vector(table, task, alone, session->run.progress.release_observer());
  }
  session->run.progress.observe();
  if (session->run.progress.tree().nodes.empty() && options.known_value < 0) return single_leaf(table, task, options);
  session->run.report(result);
  return result;
}

PathResult solve_vector_path(const VectorTable& table, const VectorTask& task, const Options& given,
                             Observer observer) {
  check(table, task, given);
  require(given.max_depth >= 0 || given.max_splits >= 0,
          "the path needs max_depth or max_splits: without either it has one entry per row");
  const Options options = lawful_options(task, table.tests.feature != nullptr, true, given);
  PathResult result;
  const auto session = open_session(table, task, options, std::move(observer));
  try {
    if (session != nullptr) session->run.find_path(result);
  } catch (const std::bad_alloc&) {
    session->limits.stop(StopReason::memory);
  }
  if (result.entries.empty()) result = path_of_leaf(single_leaf(table, task, options), options);
  if (session != nullptr) result.seconds = session->limits.seconds();
  return result;
}

}  // namespace certree
