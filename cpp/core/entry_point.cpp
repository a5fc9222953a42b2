#include "entry_point.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/seed.hpp"

namespace certree {

void check_options(std::int64_t n_rows, const Options& options) {
  require(n_rows >= 1, "the table has no rows");
  require(options.max_depth >= -1, "max_depth must be -1 (no limit) or at least 0");
  require(options.max_splits >= -1, "max_splits must be -1 (no limit) or at least 0");
  require(options.min_leaf >= 1, "min_leaf must be at least 1");
  require(options.error_scale >= 1, "error_scale must be at least 1");
  require(options.split_penalty >= 0, "split_penalty must not be negative");
  require(options.gap >= 0, "gap must not be negative");
  require(options.threads >= 1, "threads must be at least 1");
}

void check_path_options(std::int64_t n_rows, const Options& options) {
  check_options(n_rows, options);
  require(options.max_depth >= 0 || options.max_splits >= 0,
          "the path needs max_depth or max_splits: without either it has one entry per row");
}

void check_two_types(const TableView& table) {
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::int32_t type = table.row_types[row];
    require(type == 0 || type == 1, "row_types must be 0 (negative) or 1 (positive), got " + std::to_string(type) +
                                        " in row " + std::to_string(row));
  }
}

DatasetSettings dataset_settings(const Options& options) {
  DatasetSettings settings;
  settings.merges_rows = options.use_row_groups;
  settings.reduces_columns = options.use_column_reduction;
  settings.isa = options.isa;
  settings.seed = options.assignment.has_seed ? options.assignment.seed : process_seed();
  return settings;
}

DatasetSettings dataset_settings(const TableView& table, const Options& options) {
  DatasetSettings settings = dataset_settings(options);
  const bool unit_weights = table.weights == nullptr ||
                            std::all_of(table.weights, table.weights + table.n_rows, [](auto w) { return w == 1; });
  settings.counts_rows = options.min_leaf > 1 && (!unit_weights || !options.row_counts.empty());
  if (settings.counts_rows && !options.row_counts.empty()) {
    require(static_cast<std::int64_t>(options.row_counts.size()) == table.n_rows,
            "row_counts and columns differ in length");
    settings.row_counts = options.row_counts.data();
  }
  return settings;
}

std::int32_t deepest(std::int64_t n_tests, const Dataset& data) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(n_tests, data.n_groups() - 1));
}

std::int32_t deepest(const Dataset& data, const Options& options) {
  std::int64_t depth = deepest(data.n_columns(), data);
  if (options.max_depth >= 0) depth = std::min<std::int64_t>(depth, options.max_depth);
  if (options.max_splits >= 0) depth = std::min(depth, options.max_splits);
  return static_cast<std::int32_t>(depth);
}

std::vector<Cost> weight_of_types(const TableView& table, std::int32_t n_types) {
  std::vector<Cost> weights(static_cast<std::size_t>(n_types), 0);
  for (std::int64_t row = 0; row < table.n_rows; ++row)
    add_checked(weights[static_cast<std::size_t>(table.row_types[row])], table.weight(row));
  return weights;
}

void add_checked(Cost& sum, Cost term) {
  require(!__builtin_add_overflow(sum, term, &sum) && sum < kInfinite && sum > -kInfinite,
          "the sum of weights or statistics overflows 64-bit integers; scale them down");
}

Cost checked_product(Cost a, Cost b) {
  Cost product = 0;
  require(!__builtin_mul_overflow(a, b, &product) && product < kInfinite && product > -kInfinite,
          "the total cost overflows 64-bit integers; scale weights or costs down");
  return product;
}

void report_leaf(Cost cost, Cost leaf_penalty, const Options& options, const Budget& budget, ValueReport& result) {
  result.lower_bound = leaf_penalty;
  result.upper_bound = checked_product(options.error_scale, cost);
  add_checked(result.upper_bound, leaf_penalty);
  result.status = status_of(budget, cost == 0);
}

Result single_leaf(Cost cost, std::int32_t label, const Options& options, const Budget& budget) {
  Result result;
  if (options.assignment.factor > 0) {  // of some of the rows, of which nothing is known then
    result.status = status_of(budget, false);
    result.factor = options.assignment.factor;
    return result;
  }
  report_leaf(cost, 0, options, budget, result);
  result.tree.add({-1, -1, -1, label});
  return result;
}

Cost checked_leaf(const std::vector<Cost>& weights, const CountTask& task, std::int32_t* label) {
  Cost worst = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) add_checked(worst, checked_product(task.worst()[t], weights[t]));
  return task.leaf_cost(weights.data(), label);
}

Result single_leaf(const TableView& table, const CountTask& task, const Options& options, const Budget& budget) {
  std::int32_t label = 0;
  const Cost cost = checked_leaf(weight_of_types(table, task.n_types()), task, &label);
  return single_leaf(cost, label, options, budget);
}

PathResult path_of_leaf(Result leaf, const Options& options, const Budget& budget) {
  PathResult path;
  path.status = status_of(budget, false);
  path.entries.push_back({0, 0, leaf.upper_bound / options.error_scale, std::move(leaf.tree)});
  return path;
}

Cost known_value(const Options& options, const Scale& scale, bool is_smallest) {
  require(options.known_splits >= 0, "known_splits must not be negative");
  Cost value = 0;
  require(!__builtin_mul_overflow(options.known_value, scale.factor, &value) &&
              !__builtin_add_overflow(value, is_smallest ? options.known_splits : 0, &value),
          "known_value overflows 64-bit integers; scale weights, costs or the penalty down");
  return std::min(value, kInfinite);  // every tree costs less
}

void report_values(const Progress& progress, const Budget& budget, const Scale& scale, Cost gap, ValueReport& result) {
  const Interval interval = progress.interval();
  result.upper_bound = scale.to_caller(interval.upper);
  result.lower_bound = interval.is_exact() ? result.upper_bound : scale.to_caller(interval.lower);
  result.status = status_of(budget, {result.lower_bound, result.upper_bound}, gap);
  result.inner_lower = interval.lower;
  result.inner_upper = interval.upper;
  result.factor = scale.factor;
  result.history = progress.history();
  for (ProgressEvent& event : result.history) {
    event.upper = scale.to_caller(event.upper);
    event.lower = scale.to_caller(event.lower);
  }
}

void report_work(const Budget& budget, const MemoryBudget& memory, const Dataset& data, Report& result) {
  result.counters.depth_two_evaluations = budget.work();
  result.counters.peak_bytes = memory.peak();
  result.counters.row_groups = data.n_groups();
  result.counters.columns = data.n_columns();
  result.seconds = budget.seconds();
}

void report_table(const Table& table, Counters& counters) {
  counters.table_entries = table.n_entries();
  counters.table_evictions += table.n_evictions();
}

}  // namespace certree
