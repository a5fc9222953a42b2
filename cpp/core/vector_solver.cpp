#include "vector_solver.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "entry_point.hpp"
#include "run.hpp"
#include "search/vectors/depth_two.hpp"

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

Result leaf_of(const VectorTable& table, const VectorTask& task, const Options& options, const Budget& budget) {
  if (task.kind == VectorKind::quantile)
    return single_leaf(quantile_loss(table.statistics, table.table.n_rows, task), 0, options, budget);
  const auto n = static_cast<std::size_t>(task.n_statistics);
  std::vector<Cost> sums(n, 0);
  for (std::int64_t row = 0; row < table.table.n_rows; ++row) {
    const bool has_type = table.n_types > 0;
    const auto vector = static_cast<std::size_t>(has_type ? table.table.row_types[row] : row);
    const Cost weight = has_type ? table.table.weight(row) : 1;
    for (std::size_t s = 0; s < n; ++s) add_checked(sums[s], checked_product(weight, table.statistics[vector * n + s]));
  }
  std::int32_t label = 0;
  const Cost cost = task.leaf_cost(sums.data(), &label);
  return single_leaf(cost, label, options, budget);
}

}  // namespace

VectorSession::VectorSession(const VectorTable& table, const VectorTask& task) : table_(table), task_(task) {
  check(table, task);
}

VectorSession::~VectorSession() = default;

// Puts the data in place.  False: they do not fit into the memory.
bool VectorSession::open(const Options& options, Budget& budget) {
  const DatasetSettings settings = settings_for(table_, options);
  memory_.restart(options.memory_limit);
  if (data_ != nullptr && settings == settings_) return true;
  known_.reset();
  data_.reset();
  try {
    data_ = std::make_unique<VectorData>(table_, task_, settings, budget, memory_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  settings_ = settings;
  return true;
}

Result VectorSession::solve(const Options& given, Observer observer) {
  check_options(table_.table.n_rows, given);
  const Options options = lawful_options(task_, table_.tests.feature != nullptr, given);
  Budget budget(options.time_limit_s, options.work_limit);
  try {
    return run(options, budget, std::move(observer));
  } catch (const std::bad_alloc&) {  // before there was anything to report
    return leaf_of(table_, task_, options, budget);
  }
}

Result VectorSession::run(const Options& options, Budget& budget, Observer observer) {
  if (!open(options, budget)) return leaf_of(table_, task_, options, budget);
  const VectorDepthTwo statistic(*data_);
  auto run = std::make_unique<Run>(data_->groups(), statistic, most_cost(*data_, options), options, budget, memory_,
                                   std::move(observer));
  run->context.tests = data_->tests();
  // Parts of one search have the same costs, so what was proven for one serves the next.
  const Terms terms{options.assignment.factor, options.error_scale, options.split_penalty, options.min_leaf};
  const bool is_part = terms.factor > 0;
  if (is_part && known_ != nullptr && terms == terms_) run->subproblems.swap(*known_);
  known_.reset();
  Result result;
  run->search(result.counters);
  if (run->must_go_alone()) {
    const Options alone = run->alone();
    observer = run->progress.release_observer();
    run.reset();
    Budget rest(alone.time_limit_s, alone.work_limit);
    return this->run(alone, rest, std::move(observer));
  }
  if (!run->report(result)) return leaf_of(table_, task_, options, budget);
  if (is_part) {
    terms_ = terms;
    known_ = std::make_unique<Table>(memory_, 0, false);
    known_->swap(run->subproblems);
  }
  return result;
}

PathResult VectorSession::solve_path(const Options& given, Observer observer) {
  check_path_options(table_.table.n_rows, given);
  const Options options = lawful_options(task_, table_.tests.feature != nullptr, given);
  PathResult result;
  Budget budget(options.time_limit_s, options.work_limit);
  run_within(budget, [&] {
    if (!open(options, budget)) return;
    const VectorDepthTwo statistic(*data_);
    Run run(data_->groups(), statistic, most_cost(*data_, options), options, budget, memory_, std::move(observer));
    run.context.tests = data_->tests();
    run.find_path(result);
  });
  if (result.entries.empty()) result = path_of_leaf(leaf_of(table_, task_, options, budget), options, budget);
  result.seconds = budget.seconds();
  return result;
}

}  // namespace certree
