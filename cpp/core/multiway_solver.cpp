#include "multiway_solver.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"
#include "door.hpp"
#include "search/multiway.hpp"
#include "search/worker.hpp"

namespace certree {

namespace {

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
      for (const std::int32_t c : tests[id]) holding += table.holds(row, c);
      require(holding == 1, name + " has " + std::to_string(holding) + " columns that hold in row " +
                                std::to_string(row) + "; the columns of a test must partition the rows");
    }
  }
}

MultiwayResult leaf_of(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                       const Options& options) {
  std::int32_t label = 0;
  const Cost cost = task.leaf_cost(weight_of_types(table, task.n_types()).data(), &label);
  MultiwayResult result;
  report_leaf(cost, question.leaf_penalty, options, result);
  result.tree.nodes.push_back({-1, -1, label});
  return result;
}

// A depth that the data impose anyway is dropped from the state.
std::int32_t effective_depth(const Dataset& data, const ColumnTests& tests, const Options& options) {
  const std::int32_t most = deepest(static_cast<std::int64_t>(tests.size()), data);
  return options.max_depth < 0 || options.max_depth >= most ? kUnlimitedDepth : options.max_depth;
}

// Throws std::bad_alloc if not even the data fit.
MultiwayResult solve_checked(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                             const Options& options, Observer observer) {
  Budget budget(options.time_limit_s, options.work_limit);
  MemoryBudget memory(options.memory_limit);
  DatasetSettings settings = dataset_settings(table, options);
  settings.reduces_columns = false;  // tests refer to all of them
  const Dataset data(table, task, settings, memory);
  const std::int32_t depth = effective_depth(data, question.tests, options);
  Options inner = options;
  // As in run.cpp: with nothing to limit its size, the smallest of the best trees is a question that nobody asked.
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
  inner.gap = scale.from_caller(options.gap);
  const bool only_binary =
      std::all_of(question.tests.begin(), question.tests.end(), [](const auto& t) { return n_outcomes(t) == 2; });
  const MultiwaySettings search_settings{objective, {only_binary, question.leaf_penalty, options.min_leaf}, inner};
  Progress progress(budget, std::move(observer), scale.factor);
  Table subproblems(memory, options.memory_limit > 0 ? options.memory_limit / 2 : 0, false);

  MultiwayResult result;
  run_within(budget, [&] {
    MultiwaySearch search({data, task, question.tests, search_settings, budget, memory, subproblems, progress, depth});
    search.run(result.counters);
    result.tree = search.tree();
  });
  progress.observe();
  if (result.tree.nodes.empty()) {
    const Counters counters = result.counters;
    result = leaf_of(table, task, question, options);
    result.counters = counters;
  } else {
    report_values(progress, budget, scale, options.gap, result);
  }
  report_work(budget, memory, data, result);
  report_table(subproblems, result.counters);
  return result;
}

}  // namespace

MultiwayResult solve_multiway(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                              const Options& options, Observer observer) {
  check_options(table.n_rows, options);
  require(options.max_splits == -1, "multiway tests and max_splits cannot be combined; use max_depth or a penalty");
  require(question.leaf_penalty >= 0, "leaf_penalty must not be negative");
  check_tests(table, question.tests);
  try {
    return solve_checked(table, task, question, options, std::move(observer));
  } catch (const std::bad_alloc&) {
    return leaf_of(table, task, question, options);
  }
}

}  // namespace certree
