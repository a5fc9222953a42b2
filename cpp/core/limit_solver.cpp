#include "limit_solver.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.hpp"

namespace certree {

namespace {

void check_arguments(const LimitTable& table, const LimitTask& task, const Options& options) {
  task.check();
  require(table.table.n_rows >= 1, "the table has no rows");
  require(options.max_depth >= 0, "max_depth must be at least 0");
  require(options.min_leaf >= 1, "min_leaf must be at least 1");
  require(task.label_min.empty() == (table.label_counts == nullptr), "label_counts and label_min go together");
}

DatasetSettings dataset_settings(const Options& options) {
  DatasetSettings settings;
  settings.merges_rows = options.use_row_groups;
  settings.reduces_columns = options.use_column_reduction;
  settings.isa = options.isa;
  return settings;
}

// Where splits cost nothing or something, one that leaves a side empty does no harm; where they are wanted, it would.
bool counts_rows(const LimitTask& task, const Options& options) {
  for (std::size_t e = 0; e < task.n_planes; ++e)
    if (task.planes[e * task.width() + task.n_quantities] < 0) return true;
  return options.min_leaf > 1;
}

// Everything one solve owns.  Throws MemoryLimitReached if not even the data fit.
struct LimitSession {
  LimitSession(const LimitTable& table, const LimitTask& task, const Options& options, Budget& budget,
               LimitObserver observer)
      : memory(options.memory_limit),
        data(table, task, dataset_settings(options), counts_rows(task, options), options.max_depth, memory),
        search(data, options, budget, memory, std::move(observer)) {}

  MemoryBudget memory;
  LimitData data;
  LimitSearch search;
};

void report(const LimitSession& session, LimitResult& result) {
  for (const LimitEntry& entry : session.search.root().entries()) {
    LimitTree found{entry.point, session.search.tree(entry.plan)};
    found.point.back() = found.tree.n_splits();
    for (TreeNode& node : found.tree.nodes)
      if (node.column >= 0) node.column = session.data.groups().original_column(node.column);
    result.trees.push_back(std::move(found));
  }
  const auto objective = [&](const LimitTree& t) {
    Cost value = 0;
    const LimitTask& task = session.data.task();
    for (std::size_t q = 0; q < task.width(); ++q) value += task.planes[q] * t.point[q];
    return value;
  };
  std::stable_sort(result.trees.begin(), result.trees.end(),
                   [&](const LimitTree& a, const LimitTree& b) { return objective(a) < objective(b); });
  result.history = session.search.history();
}

}  // namespace

LimitResult solve_limited(const LimitTable& table, const LimitTask& given, const Options& options,
                          LimitObserver observer) {
  check_arguments(table, given, options);
  LimitTask task = given;
  if (!options.use_limit_planes) task.multipliers.clear();
  Budget budget(options.time_limit_s, options.work_limit);
  LimitResult result;
  std::optional<LimitSession> session;
  try {
    session.emplace(table, task, options, budget, std::move(observer));
    session->search.run();
  } catch (const std::bad_alloc&) {
    budget.stop(StopReason::memory);
  }
  result.status = session && session->search.is_complete() ? Status::optimal : status_of(budget, {0, 1});
  result.seconds = budget.seconds();
  if (!session) return result;
  report(*session, result);
  result.counters = session->search.counters();
  result.counters.depth_two_evaluations = budget.work();
  result.counters.table_entries = session->search.n_table_entries();
  result.counters.peak_bytes = session->memory.peak();
  result.counters.row_groups = session->data.groups().n_groups();
  result.counters.columns = session->data.groups().n_columns();
  return result;
}

}  // namespace certree
