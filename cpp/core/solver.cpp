#include "solver.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.hpp"
#include "run.hpp"
#include "search/path.hpp"

namespace certree {

namespace {

// The tree that needs no memory: one leaf, and the bound that needs no search.
Result single_leaf(const TableView& table, const CountTask& task, const Options& options) {
  std::vector<Cost> counts(static_cast<std::size_t>(task.n_types()), 0);
  for (std::int64_t row = 0; row < table.n_rows; ++row)
    counts[static_cast<std::size_t>(table.row_types[row])] += table.weights != nullptr ? table.weights[row] : 1;
  Result result;
  std::int32_t label = 0;
  result.upper_bound = options.error_scale * task.leaf_cost(counts.data(), &label);
  result.tree.add({-1, -1, -1, label});
  result.status = result.upper_bound == 0 ? Status::optimal : Status::memory_limit;
  return result;
}

DatasetSettings dataset_settings(const TableView& table, const Options& options) {
  const bool unit_weights = table.weights == nullptr ||
                            std::all_of(table.weights, table.weights + table.n_rows, [](auto w) { return w == 1; });
  DatasetSettings settings;
  settings.counts_rows = options.min_leaf > 1 && !unit_weights;
  settings.merges_rows = options.use_row_groups;
  settings.reduces_columns = options.use_column_reduction;
  settings.isa = options.isa;
  return settings;
}

// Everything one solve owns.  Throws MemoryLimitReached if not even the data fit.
struct Session {
  Session(const TableView& table, const CountTask& task, const Options& options, Observer observer)
      : limits(options.time_limit_s, options.work_limit),
        budget(options.memory_limit),
        data(table, task, dataset_settings(table, options), budget),
        statistic(data, task),
        run(data, statistic, worst_total(data, task), options, limits, budget, std::move(observer)) {
    if (kChecksKnownTree && !options.debug_tree.nodes.empty()) {
      known_tree.emplace(data, task, run.scale.objective, options.debug_tree,
                         options.debug_discount * run.scale.factor);
      run.context.known_tree = &*known_tree;
    }
  }

  Limits limits;
  MemoryBudget budget;
  Dataset data;
  CountDepthTwo statistic;
  Run run;
  std::optional<DebugTree> known_tree;
};

std::unique_ptr<Session> open_session(const TableView& table, const CountTask& task, const Options& options,
                                      Observer observer) {
  try {
    return std::make_unique<Session>(table, task, options, std::move(observer));
  } catch (const MemoryLimitReached&) {
    return nullptr;
  }
}

}  // namespace

Result solve(const TableView& table, const CountTask& task, const Options& options, Observer observer) {
  check_options(table.n_rows, options);
  const auto session = open_session(table, task, options, std::move(observer));
  if (session == nullptr) return single_leaf(table, task, options);
  Result result;
  try {
    session->run.search(result.counters);
  } catch (const MemoryLimitReached&) {
    session->limits.stop(StopReason::memory);
  }
  // Threads come to the tie-break with different incumbents.  If it was cut short, one thread decides.
  if (session->limits.reason() == StopReason::effort && options.threads > 1) {
    Options alone = options;
    alone.threads = 1;
    if (options.time_limit_s > 0) alone.time_limit_s = std::max(options.time_limit_s - session->limits.seconds(), 1e-3);
    return solve(table, task, alone, session->run.progress.release_observer());
  }
  if (session->known_tree) session->known_tree->check_root(session->run.progress.interval().lower);
  session->run.progress.observe();
  if (session->run.progress.tree().nodes.empty() && options.known_value < 0) return single_leaf(table, task, options);
  session->run.report(result);
  return result;
}

PathResult solve_path(const TableView& table, const CountTask& task, const Options& options, Observer observer) {
  check_options(table.n_rows, options);
  require(options.max_depth >= 0 || options.max_splits >= 0,
          "the path needs max_depth or max_splits: without either it has one entry per row");
  PathResult result;
  const auto session = open_session(table, task, options, std::move(observer));
  if (session == nullptr) {
    Result leaf = single_leaf(table, task, options);
    result.status = Status::memory_limit;
    result.entries.push_back({0, 0, leaf.upper_bound / options.error_scale, std::move(leaf.tree)});
    return result;
  }
  std::int64_t splits = most_splits(session->data, session->run.depth);
  if (options.max_splits >= 0) splits = std::min(splits, options.max_splits);
  result.entries = PathSearch(session->run.context, session->run.depth, splits).run_whole(result.counters);
  bool is_exact = true;
  for (PathEntry& entry : result.entries) {
    session->run.translate(entry.tree);
    is_exact = is_exact && entry.lower == entry.upper;
  }
  result.status = is_exact ? Status::optimal : status_of(session->limits, {0, 1});
  session->run.count(result.counters);
  result.seconds = session->limits.seconds();
  return result;
}

}  // namespace certree
