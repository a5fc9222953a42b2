#include "multiway_solver.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"
#include "search/multiway.hpp"
#include "search/scale.hpp"
#include "search/worker.hpp"

namespace certree {

namespace {

void check_arguments(const TableView& table, const MultiwayQuestion& question, const Options& options) {
  require(table.n_rows >= 1, "the table has no rows");
  require(options.max_depth >= -1, "max_depth must be -1 (no limit) or at least 0");
  require(options.max_splits == -1, "multiway tests and max_splits cannot be combined; use max_depth or a penalty");
  require(options.min_leaf >= 1, "min_leaf must be at least 1");
  require(options.error_scale >= 1, "error_scale must be at least 1");
  require(options.split_penalty >= 0, "split_penalty must not be negative");
  require(question.leaf_penalty >= 0, "leaf_penalty must not be negative");
  require(options.gap >= 0, "gap must not be negative");
}

// The columns of a test with several must hold in turn: exactly one in every row.
void check_tests(const TableView& table, const ColumnTests& tests) {
  for (std::size_t id = 0; id < tests.size(); ++id) {
    const std::string name = "test " + std::to_string(id);
    require(!tests[id].empty(), name + " has no columns");
    for (const std::int32_t c : tests[id])
      require(c >= 0 && c < table.n_columns, name + " has a column outside of the table");
    if (tests[id].size() == 1) continue;
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      int holding = 0;
      for (const std::int32_t c : tests[id])
        holding += table.columns[row * table.row_stride + c * table.column_stride] & 1;
      require(holding == 1, name + " has " + std::to_string(holding) + " columns that hold in row " +
                                std::to_string(row) + "; the columns of a test must partition the rows");
    }
  }
}

// The tree that needs no memory: one leaf, and the bound that needs no search.
MultiwayResult single_leaf(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                           const Options& options) {
  std::vector<Cost> counts(static_cast<std::size_t>(task.n_types()), 0);
  for (std::int64_t row = 0; row < table.n_rows; ++row)
    counts[static_cast<std::size_t>(table.row_types[row])] += table.weights != nullptr ? table.weights[row] : 1;
  MultiwayResult result;
  std::int32_t label = 0;
  const Cost errors = task.leaf_cost(counts.data(), &label);
  result.lower_bound = question.leaf_penalty;
  result.upper_bound = options.error_scale * errors + question.leaf_penalty;
  result.tree.nodes.push_back({-1, -1, label});
  result.status = errors == 0 ? Status::optimal : Status::memory_limit;
  return result;
}

// A test is used once on a path, and every split leaves a group of rows behind.
std::int32_t effective_depth(const Dataset& data, const ColumnTests& tests, const Options& options) {
  const auto most = std::min<std::int64_t>(static_cast<std::int64_t>(tests.size()), data.n_groups() - 1);
  return options.max_depth < 0 || options.max_depth >= most ? kUnlimitedDepth : options.max_depth;
}

void report(const Progress& progress, const Budget& budget, const Scale& scale, Cost gap, MultiwayResult& result) {
  const Interval interval = progress.interval();
  result.upper_bound = scale.to_caller(interval.upper);
  result.lower_bound = interval.is_exact() ? result.upper_bound : scale.to_caller(interval.lower);
  result.status = status_of(budget, {result.lower_bound, result.upper_bound}, gap);
  result.history = progress.history();
  for (ProgressEvent& event : result.history) {
    event.upper = scale.to_caller(event.upper);
    event.lower = scale.to_caller(event.lower);
  }
}

}  // namespace

namespace {

// Throws std::bad_alloc if not even the data fit.
MultiwayResult solve_checked(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                             const Options& options, Observer observer) {
  Budget budget(options.time_limit_s, options.work_limit);
  MemoryBudget memory(options.memory_limit);
  const bool unit_weights = table.weights == nullptr ||
                            std::all_of(table.weights, table.weights + table.n_rows, [](auto w) { return w == 1; });
  DatasetSettings settings;
  settings.counts_rows = options.min_leaf > 1 && !unit_weights;
  settings.merges_rows = options.use_row_groups;
  settings.reduces_columns = false;  // tests refer to all of them
  const Dataset data(table, task, settings, memory);
  const std::int32_t depth = effective_depth(data, question.tests, options);
  Options inner = options;
  // As in solver.cpp: with nothing to limit its size, the smallest of the best trees is a question that nobody asked.
  if (options.max_depth < 0 && options.split_penalty == 0 && question.leaf_penalty == 0) inner.smallest = false;
  // Every split has two outcomes with rows, so there are fewer splits than leaves, and no more leaves than groups.  The
  // scale sees both penalties at once, which is the most that a split can add.
  Options both = inner;
  require(!__builtin_add_overflow(options.split_penalty, question.leaf_penalty, &both.split_penalty),
          "the penalties overflow 64-bit integers; scale them down");
  const Scale scale(worst_total(data, task), both, data.n_groups());
  const MultiwayObjective objective{options.error_scale * scale.factor,
                                    options.split_penalty * scale.factor + (inner.smallest ? 1 : 0),
                                    question.leaf_penalty * scale.factor};
  inner.gap = options.gap > kInfinite / scale.factor ? kInfinite : options.gap * scale.factor;
  const bool only_binary =
      std::all_of(question.tests.begin(), question.tests.end(), [](const auto& t) { return n_outcomes(t) == 2; });
  const MultiwaySettings search_settings{objective, {only_binary, question.leaf_penalty, options.min_leaf}, inner};
  Progress progress(budget, std::move(observer), scale.factor);
  Table subproblems(memory, options.memory_limit > 0 ? options.memory_limit / 2 : 0, false);

  MultiwayResult result;
  try {
    MultiwaySearch search({data, task, question.tests, search_settings, budget, memory, subproblems, progress, depth});
    search.run(result.counters);
    result.tree = search.tree();
  } catch (const std::bad_alloc&) {
    budget.stop(StopReason::memory);
  }
  progress.observe();
  if (result.tree.nodes.empty()) {
    const Counters counters = result.counters;
    result = single_leaf(table, task, question, options);
    result.counters = counters;
  } else {
    report(progress, budget, scale, options.gap, result);
  }
  Counters& counters = result.counters;
  counters.depth_two_evaluations = budget.work();
  counters.table_entries = subproblems.n_entries();
  counters.table_evictions += subproblems.n_evictions();
  counters.peak_bytes = memory.peak();
  counters.row_groups = data.n_groups();
  counters.columns = data.n_columns();
  result.seconds = budget.seconds();
  return result;
}

}  // namespace

MultiwayResult solve_multiway(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                              const Options& options, Observer observer) {
  check_arguments(table, question, options);
  check_tests(table, question.tests);
  try {
    return solve_checked(table, task, question, options, std::move(observer));
  } catch (const std::bad_alloc&) {
    return single_leaf(table, task, question, options);
  }
}

}  // namespace certree
