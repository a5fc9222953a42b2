#include "multiway_solver.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "entry_point.hpp"
#include "search/multiway/path.hpp"
#include "search/multiway/search.hpp"
#include "search/shared/remaining_depth.hpp"

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
    // Column by column, as they lie in memory.
    std::vector<std::int32_t> held(static_cast<std::size_t>(table.n_rows), 0);
    for (const std::int32_t c : tests[id])
      for (std::int64_t row = 0; row < table.n_rows; ++row) held[static_cast<std::size_t>(row)] += table.holds(row, c);
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      const std::int32_t holding = held[static_cast<std::size_t>(row)];
      require(holding == 1, name + " has " + std::to_string(holding) + " columns that hold in row " +
                                std::to_string(row) + "; the columns of a test must partition the rows");
    }
  }
}

MultiwayResult leaf_of(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                       const Options& options, const Budget& budget) {
  std::int32_t label = 0;
  const Cost cost = checked_leaf(weight_of_types(table, task.n_types()), task, &label);
  MultiwayResult result;
  report_leaf(cost, question.leaf_penalty, options, budget, result);
  result.tree.nodes.push_back({-1, -1, label});
  return result;
}

// A depth that the data impose anyway is dropped from the state.
std::int32_t effective_depth(const Dataset& data, const ColumnTests& tests, const Options& options) {
  const std::int32_t most = deepest(static_cast<std::int64_t>(tests.size()), data);
  return options.max_depth < 0 || options.max_depth >= most ? kUnlimitedDepth : options.max_depth;
}

// What one solve works on.  Throws std::bad_alloc if not even the data fit.
struct MultiwayRun {
  MultiwayRun(const TableView& table, const CountTask& task, const MultiwayQuestion& question, const Options& options,
              Budget& shared_budget, Observer observer)
      : budget(shared_budget),
        memory(options.memory_limit),
        data(table, task, settings_of(table, options), budget, memory),
        depth(effective_depth(data, question.tests, options)),
        inner(inner_options(question, options)),
        prices(prices_of(task, question, data)),
        scale(worst_of(table, task), with_all_penalties(question), data.n_groups()),
        settings{objective_of(question, options), outcomes_of(question, options), inner, prices.get()},
        progress(budget, std::move(observer), scale.factor),
        subproblems(memory, options.memory_limit / 4 * 3, options.threads > 1),
        context{data, task, question.tests, settings, budget, memory, subproblems, progress, depth} {
    inner.gap = scale.from_caller(options.gap);
    if (options.known_value >= 0) progress.assume(known_value(options, scale, inner.smallest));
  }

  // No tree has more splits: each has two outcomes with rows.
  std::int64_t most_splits() const {
    const std::int64_t most = std::max<std::int64_t>(data.n_groups() - 1, 0);
    return inner.max_splits >= 0 ? std::min(inner.max_splits, most) : most;
  }

  Budget& budget;
  MemoryBudget memory;
  Dataset data;
  std::int32_t depth;
  Options inner;
  std::unique_ptr<const MultiwayPrices> prices;
  Scale scale;
  MultiwaySettings settings;
  Progress progress;
  Table subproblems;
  MultiwayContext context;

 private:
  static DatasetSettings settings_of(const TableView& table, const Options& options) {
    DatasetSettings settings = dataset_settings(table, options);
    settings.reduces_columns = false;  // tests refer to all of them
    return settings;
  }
  // As in run.cpp: with nothing to limit its size, the smallest of the best trees is a question that nobody asked.
  static Options inner_options(const MultiwayQuestion& question, const Options& options) {
    Options inner = options;
    const bool is_limited = options.max_depth >= 0 || options.max_splits >= 0;
    if (!is_limited && options.split_penalty == 0 && question.leaf_penalty == 0) inner.smallest = false;
    return inner;
  }
  // Every split has two outcomes with rows, so there are fewer splits than leaves, and no more leaves than groups.  The
  // scale sees both penalties at once, which is the most that a split can add.
  Options with_all_penalties(const MultiwayQuestion& question) const {
    Options both = inner;
    require(!__builtin_add_overflow(inner.split_penalty, question.leaf_penalty, &both.split_penalty),
            "the penalties overflow 64-bit integers; scale them down");
    return both;
  }
  MultiwayObjective objective_of(const MultiwayQuestion& question, const Options& options) const {
    return {options.error_scale * scale.factor, options.split_penalty * scale.factor + (inner.smallest ? 1 : 0),
            question.leaf_penalty * scale.factor};
  }
  static EmptyOutcomes outcomes_of(const MultiwayQuestion& question, const Options& options) {
    const bool only_binary =
        std::all_of(question.tests.begin(), question.tests.end(), [](const auto& t) { return n_outcomes(t) == 2; });
    return {only_binary, question.leaf_penalty, options.min_leaf, question.prices.feature != nullptr};
  }
  static std::unique_ptr<const MultiwayPrices> prices_of(const CountTask& task, const MultiwayQuestion& question,
                                                         const Dataset& data) {
    if (question.prices.feature == nullptr) return nullptr;
    std::vector<Cost> weights(static_cast<std::size_t>(task.n_types()), 1);
    if (question.prices.weights != nullptr)
      std::copy_n(question.prices.weights, static_cast<std::size_t>(task.n_types()), weights.begin());
    return std::make_unique<const MultiwayPrices>(MultiwayPrices{TestCosts(question.prices, data), std::move(weights)});
  }
  // No tree costs more: all rows at their worst, and all tests paid by all.
  Cost worst_of(const TableView& table, const CountTask& task) const {
    Cost worst = worst_total(data, task), paid = 0;
    if (prices == nullptr || worst >= kInfinite) return worst;
    const Cost weight = prices->weight(weight_of_types(table, task.n_types()));
    if (__builtin_mul_overflow(weight, prices->costs.most(-1), &paid) || __builtin_add_overflow(worst, paid, &worst))
      return kInfinite;
    return worst;
  }
};

MultiwayResult solve_checked(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                             const Options& options, Budget& budget, Observer observer) {
  MultiwayRun run(table, task, question, options, budget, std::move(observer));
  MultiwayResult result;
  run_within(run.budget, [&] {
    if (options.max_splits >= 0 && options.max_splits <= run.most_splits()) {
      MultiwayPath path(run.context, options.max_splits);
      path.run(result.counters);
      result.tree = path.tree();
    } else {
      result.tree = run_multiway(run.context, result.counters);
    }
  });
  run.progress.observe();
  // Threads come to the choice among equal trees with different ones.  If it was cut short, one thread decides.
  if (run.budget.reason() == StopReason::effort && options.threads > 1) {
    Options alone = options;
    alone.threads = 1;
    alone.time_limit_s = run.budget.seconds_left();
    Budget rest(alone.time_limit_s, alone.work_limit);
    return solve_checked(table, task, question, alone, rest, run.progress.release_observer());
  }
  if (result.tree.nodes.empty() && options.known_value < 0) {
    const Counters counters = result.counters;
    result = leaf_of(table, task, question, options, budget);
    result.counters = counters;
  } else {
    report_values(run.progress, run.budget, run.scale, options.gap, result);
  }
  report_work(run.budget, run.memory, run.data, result);
  report_table(run.subproblems, result.counters);
  return result;
}

MultiwayPathResult path_checked(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                                const Options& options, Budget& budget, Observer observer) {
  MultiwayRun run(table, task, question, options, budget, std::move(observer));
  MultiwayPathResult result;
  std::int32_t label = 0;
  run.progress.show_leaf(run.settings.objective.leaf(task.leaf_cost(run.data.totals().data(), &label)));
  MultiwayPath path(run.context, run.most_splits());
  result.entries = path.run_whole(result.counters);
  result.status = status_of(run.budget, path.is_whole());
  report_work(run.budget, run.memory, run.data, result);
  return result;
}

}  // namespace

MultiwayResult solve_multiway(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                              const Options& options, Observer observer) {
  check_options(table.n_rows, options);
  require(question.leaf_penalty >= 0, "leaf_penalty must not be negative");
  check_tests(table, question.tests);
  if (question.prices.feature != nullptr) check_test_costs(question.prices, table.n_columns);
  Budget budget(options.time_limit_s, options.work_limit);
  try {
    return solve_checked(table, task, question, options, budget, std::move(observer));
  } catch (const std::bad_alloc&) {
    return leaf_of(table, task, question, options, budget);
  }
}

MultiwayPathResult solve_multiway_path(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                                       const Options& options, Observer observer) {
  check_path_options(table.n_rows, options);
  check_tests(table, question.tests);
  if (question.prices.feature != nullptr) check_test_costs(question.prices, table.n_columns);
  // Costs of leaves, for every number of splits: nothing else counts, and nothing is left to choose.
  Options plain = options;
  plain.error_scale = 1;
  plain.split_penalty = 0;
  plain.smallest = false;
  const MultiwayQuestion asked{question.tests, 0, question.prices};
  MultiwayPathResult result;
  Budget budget(options.time_limit_s, options.work_limit);
  try {
    result = path_checked(table, task, asked, plain, budget, std::move(observer));
  } catch (const std::bad_alloc&) {
    result.status = status_of(budget, false);
  }
  if (result.entries.empty()) {
    MultiwayResult leaf = leaf_of(table, task, asked, plain, budget);
    result.entries.push_back({0, 0, leaf.upper_bound, std::move(leaf.tree)});
  }
  return result;
}

}  // namespace certree
