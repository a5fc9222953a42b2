#include "limit_solver.hpp"

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "entry_point.hpp"
#include "search/limits/shared_search.hpp"

namespace certree {

namespace {

// Where splits cost nothing or something, one that leaves a side empty does no harm; where they are wanted, it would.
bool counts_rows(const LimitTable& table, const LimitTask& task, const Options& options) {
  if (table.tests.feature != nullptr) return true;  // a test of no use could give discounts
  for (std::size_t e = 0; e < task.n_planes; ++e)
    if (task.planes[e * task.width() + task.n_quantities] < 0) return true;
  return options.min_leaf > 1;
}

DatasetSettings settings_for(const LimitTable& table, const Options& options) {
  DatasetSettings settings = dataset_settings(options);
  settings.column_class = table.tests.feature;
  return settings;
}

// Everything one solve owns.  Throws MemoryLimitReached if not even the data fit.
struct LimitSession {
  LimitSession(const LimitTable& table, const LimitTask& task, const Options& options, Budget& budget,
               PointObserver observer)
      : memory(options.memory_limit),
        data(table, task, settings_for(table, options), counts_rows(table, task, options), options.max_depth, budget,
             memory),
        search(data, options, budget, memory, std::move(observer)) {}

  MemoryBudget memory;
  LimitData data;
  SharedLimitSearch search;
};

std::vector<PointTree> trees_of(const LimitSession& session) {
  std::vector<PointTree> out;
  for (PointTree& found : session.search.trees()) {
    found.point.back() = found.tree.n_splits();
    name_columns(session.data.groups(), found.tree);
    out.push_back(std::move(found));
  }
  const auto objective = [&](const PointTree& t) {
    Cost value = 0;
    const LimitTask& task = session.data.task();
    for (std::size_t q = 0; q < task.width(); ++q) value += task.planes[q] * t.point[q];
    return value;
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const PointTree& a, const PointTree& b) { return objective(a) < objective(b); });
  return out;
}

}  // namespace

PointsResult solve_limited(const LimitTable& table, const LimitTask& given, const Options& options,
                           PointObserver observer) {
  given.check();
  check_options(table.table.n_rows, options);
  require(options.max_depth >= 0, "max_depth must be at least 0");
  require(given.label_min.empty() == (table.label_counts == nullptr), "label_counts and label_min go together");
  if (table.tests.feature != nullptr) check_test_costs(table.tests, table.table.n_columns);
  LimitTask task = given;
  if (!options.use_limit_planes) task.multipliers.clear();
  Budget budget(options.time_limit_s, options.work_limit);
  std::optional<LimitSession> session;
  run_within(budget, [&] {
    session.emplace(table, task, options, budget, std::move(observer));
    session->search.run();
  });
  PointsResult result;
  result.width = task.width();
  result.status = status_of(budget, session && session->search.is_complete());
  result.seconds = budget.seconds();
  if (!session) return result;
  result.trees = trees_of(*session);
  result.history = session->search.history();
  result.counters = session->search.counters();
  report_work(budget, session->memory, session->data.groups(), result);
  return result;
}

}  // namespace certree
