#include "vector_solver.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "door.hpp"
#include "run.hpp"
#include "search/depth_two_vector.hpp"

namespace certree {

namespace {

// Only bounds whose laws the task has (docs/theory/vector-statistics.md).
Options lawful_options(const VectorTask& task, bool has_prices, const Options& options) {
  Options out = options;
  if (!task.has_floor()) out.use_equivalent_points = false;
  if (!task.superadditive) out.use_split_similarity = false;
  if (!task.has_worst) out.use_nested_sets = out.use_split_similarity = out.use_leaf_support = false;
  // Rows outside of the set for which a tree was made would pay for its tests too (docs/theory/test-costs.md).
  if (has_prices) out.use_leaf_support = false;
  // The interpreter runs one thread at a time, and threads would wait for it and for each other.
  if (task.kind == VectorKind::callback) out.threads = 1;
  return out;
}

DatasetSettings settings_for(const VectorTable& table, const Options& options) {
  DatasetSettings settings = table.n_types > 0 ? dataset_settings(table.table, options) : dataset_settings(options);
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
      : budget(options.time_limit_s, options.work_limit),
        memory(options.memory_limit),
        data(table, task, settings_for(table, options), budget, memory),
        statistic(data),
        run(data.groups(), statistic, most_cost(data, options), options, budget, memory, std::move(observer)) {
    run.context.tests = data.tests();
  }

  Budget budget;
  MemoryBudget memory;
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

void check(const VectorTable& table, const VectorTask& task) {
  task.check();
  if (table.tests.feature != nullptr) {
    require(task.kind == VectorKind::least && task.outputs.empty(),
            "test costs need a task of kind 'min_label' with one output");
    check_test_costs(table.tests, table.table.n_columns);
  }
  for (std::int64_t row = 0; table.n_types > 0 && row < table.table.n_rows; ++row)
    if (table.table.row_types[row] < 0 || table.table.row_types[row] >= table.n_types)
      throw std::invalid_argument("row_types has a value outside 0 .. n_types - 1");
}

Result leaf_of(const VectorTable& table, const VectorTask& task, const Options& options) {
  if (task.kind == VectorKind::quantile)
    return single_leaf(quantile_loss(table.statistics, table.table.n_rows, task), 0, options);
  const auto n = static_cast<std::size_t>(task.n_statistics);
  std::vector<Cost> sums(n, 0);
  for (std::int64_t row = 0; row < table.table.n_rows; ++row) {
    const bool has_type = table.n_types > 0;
    const auto vector = static_cast<std::size_t>(has_type ? table.table.row_types[row] : row);
    const Cost weight = has_type ? table.table.weight(row) : 1;
    for (std::size_t s = 0; s < n; ++s) sums[s] += weight * table.statistics[vector * n + s];
  }
  std::int32_t label = 0;
  const Cost cost = task.leaf_cost(sums.data(), &label);
  return single_leaf(cost, label, options);
}

}  // namespace

Result solve_vector(const VectorTable& table, const VectorTask& task, const Options& given, Observer observer) {
  check(table, task);
  check_options(table.table.n_rows, given);
  const Options options = lawful_options(task, table.tests.feature != nullptr, given);
  const auto session = open_session(table, task, options, std::move(observer));
  if (session == nullptr) return leaf_of(table, task, options);
  Run& run = session->run;
  Result result;
  run.search(result.counters);
  if (run.must_go_alone()) return solve_vector(table, task, run.alone(), run.progress.release_observer());
  return run.report(result) ? result : leaf_of(table, task, options);
}

PathResult solve_vector_path(const VectorTable& table, const VectorTask& task, const Options& given,
                             Observer observer) {
  check(table, task);
  check_path_options(table.table.n_rows, given);
  const Options options = lawful_options(task, table.tests.feature != nullptr, given);
  PathResult result;
  const auto session = open_session(table, task, options, std::move(observer));
  if (session != nullptr) run_within(session->budget, [&] { session->run.find_path(result); });
  if (result.entries.empty()) result = path_of_leaf(leaf_of(table, task, options), options);
  if (session != nullptr) result.seconds = session->budget.seconds();
  return result;
}

}  // namespace certree
