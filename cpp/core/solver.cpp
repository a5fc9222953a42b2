#include "solver.hpp"

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "search/best_first.hpp"
#include "search/depth_first.hpp"
#include "search/path.hpp"

namespace certree {

const char* status_name(Status status) {
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::gap:
      return "gap";
    case Status::time_limit:
      return "time_limit";
    case Status::memory_limit:
      return "memory_limit";
    case Status::work_limit:
      return "work_limit";
    case Status::interrupted:
      return "interrupted";
  }
  return "";
}

namespace {

void check_options(const TableView& table, const Options& options) {
  require(table.n_rows >= 1, "the table has no rows");
  require(options.max_depth >= -1, "max_depth must be -1 (no limit) or at least 0");
  require(options.max_splits >= -1, "max_splits must be -1 (no limit) or at least 0");
  require(options.min_leaf >= 1, "min_leaf must be at least 1");
  require(options.error_scale >= 1, "error_scale must be at least 1");
  require(options.split_penalty >= 0, "split_penalty must not be negative");
  require(options.gap >= 0, "gap must not be negative");
  require(options.threads >= 1, "threads must be at least 1");
}

// The depth that the data leave: no path has more splits than distinct columns, or than groups less one.
std::int32_t effective_depth(const Dataset& data, const Options& options) {
  const std::int64_t most = std::min<std::int64_t>(data.n_columns(), data.n_groups() - 1);
  std::int64_t depth = options.max_depth < 0 ? kUnlimitedDepth : options.max_depth;
  if (options.max_splits >= 0) depth = std::min(depth, options.max_splits);
  // Beyond a few levels a limit that the data alone impose is better dropped from the state.
  return depth == kUnlimitedDepth && most > 8 ? kUnlimitedDepth : static_cast<std::int32_t>(std::min(depth, most));
}

std::int64_t most_splits(const Dataset& data, std::int32_t depth) {
  const std::int64_t by_groups = data.n_groups() - 1;
  return depth < 40 ? std::min<std::int64_t>(by_groups, (std::int64_t{1} << depth) - 1) : by_groups;
}

// The caller's coefficients, made lexicographic with the number of splits if asked for (base/cost.hpp).
struct Scale {
  Objective objective;
  Cost factor = 1;

  Scale(const Dataset& data, const CountTask& task, const Options& options, std::int64_t splits) {
    factor = options.smallest ? splits + 1 : 1;
    Cost worst = 0, total = 0;
    bool overflows = false;
    for (std::int32_t t = 0; t < task.n_types(); ++t) {
      Cost term = 0;
      overflows |= __builtin_mul_overflow(task.worst()[static_cast<std::size_t>(t)],
                                          data.totals()[static_cast<std::size_t>(t)], &term) ||
                   __builtin_add_overflow(worst, term, &worst);
    }
    Cost penalties = 0;
    overflows |= __builtin_mul_overflow(options.error_scale, worst, &worst) ||
                 __builtin_mul_overflow(options.split_penalty, splits + 1, &penalties) ||
                 __builtin_add_overflow(worst, penalties, &total) || __builtin_add_overflow(total, 1, &total) ||
                 __builtin_mul_overflow(total, factor, &total);
    require(!overflows && total < kInfinite,
            "the objective overflows 64-bit integers; scale weights, costs or the penalty down");
    objective = {options.error_scale * factor, options.split_penalty * factor + (options.smallest ? 1 : 0)};
  }
  // A value or bound in the caller's units.  The remainder is a number of splits, smaller than the factor, so rounding
  // down recovers a value exactly and keeps a bound valid.
  Cost to_caller(Cost value) const { return value >= kInfinite ? value : value / factor; }
};

Status status_of(const Limits& limits, const Interval& interval) {
  if (interval.is_exact()) return Status::optimal;
  switch (limits.reason()) {
    case StopReason::time:
      return Status::time_limit;
    case StopReason::work:
      return Status::work_limit;
    case StopReason::memory:
      return Status::memory_limit;
    case StopReason::interrupted:
      return Status::interrupted;
    case StopReason::effort:
    case StopReason::none:
      break;
  }
  return Status::gap;
}

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

// Runs the search that fits the limits; what it finds is in context.progress.
void search(const Context& context, const Options& options, std::int32_t depth, Counters& counters) {
  // A limit on splits that the depth does not imply anyway is answered by the error-versus-splits curve.
  const bool limits_splits = options.max_splits >= 0 && options.max_splits < most_splits(context.data, depth);
  if (limits_splits && depth > 1) {
    PathSearch(context, depth, options.max_splits).run(counters);
  } else if (depth == kUnlimitedDepth && options.search != SearchKind::depth_first) {
    run_best_first(context, counters);
  } else {
    run_depth_first(context, depth, counters);
  }
}

void report(const Progress& progress, const Limits& limits, const Scale& scale, Result& result) {
  const Interval interval = progress.interval();
  result.upper_bound = scale.to_caller(interval.upper);
  result.lower_bound = interval.is_exact() ? result.upper_bound : scale.to_caller(interval.lower);
  result.status = status_of(limits, {result.lower_bound, result.upper_bound});
  result.tree = progress.tree();
  result.history = progress.history();
  for (ProgressEvent& event : result.history) {
    event.upper = scale.to_caller(event.upper);
    event.lower = scale.to_caller(event.lower);
  }
}

}  // namespace

Result solve(const TableView& table, const CountTask& task, const Options& options, Observer observer) {
  check_options(table, options);
  Limits limits(options.time_limit_s, options.work_limit);
  MemoryBudget budget(options.memory_limit);
  const bool unit_weights = table.weights == nullptr ||
                            std::all_of(table.weights, table.weights + table.n_rows, [](auto w) { return w == 1; });
  DatasetSettings settings;
  settings.counts_rows = options.min_leaf > 1 && !unit_weights;
  settings.merges_rows = options.use_row_groups;
  settings.reduces_columns = options.use_column_reduction;
  std::optional<Dataset> built;
  try {
    built.emplace(table, task, settings, budget);
  } catch (const MemoryLimitReached&) {
    return single_leaf(table, task, options);
  }
  const Dataset& data = *built;
  const std::int32_t depth = effective_depth(data, options);
  Options inner = options;
  // With nothing to limit its size the best tree is any tree that separates what can be separated; the smallest of these
  // is a far harder question, which the caller did not ask.
  if (depth == kUnlimitedDepth && options.split_penalty == 0) inner.smallest = false;
  const Scale scale(data, task, inner, most_splits(data, depth));
  inner.gap = options.gap > kInfinite / scale.factor ? kInfinite : options.gap * scale.factor;
  Progress progress(limits, std::move(observer), scale.factor);
  Table subproblems(budget, options.memory_limit > 0 ? options.memory_limit / 2 : 0, options.threads > 1);
  std::optional<DebugTree> known_tree;
  if (kChecksKnownTree && !options.debug_tree.nodes.empty())
    known_tree.emplace(data, task, scale.objective, options.debug_tree, options.debug_discount * scale.factor);
  const Context context{data,   task,        inner,    scale.objective, limits,
                        budget, subproblems, progress, known_tree ? &*known_tree : nullptr};

  Result result;
  try {
    search(context, options, depth, result.counters);
  } catch (const MemoryLimitReached&) {
    limits.stop(StopReason::memory);
  }
  // Threads come to the tie-break with different incumbents.  If it was cut short, one thread decides.
  if (limits.reason() == StopReason::effort && options.threads > 1) {
    Options alone = options;
    alone.threads = 1;
    if (options.time_limit_s > 0) alone.time_limit_s = std::max(options.time_limit_s - limits.seconds(), 1e-3);
    return solve(table, task, alone, progress.release_observer());
  }
  if (known_tree) known_tree->check_root(progress.interval().lower);
  progress.observe();
  if (progress.tree().nodes.empty()) {
    result = single_leaf(table, task, options);
  } else {
    report(progress, limits, scale, result);
  }
  for (TreeNode& node : result.tree.nodes)
    if (node.column >= 0) node.column = data.original_column(node.column);
  Counters& counters = result.counters;
  counters.depth_two_evaluations = limits.work();
  counters.table_entries = subproblems.n_entries();
  counters.table_evictions += subproblems.n_evictions();
  counters.peak_bytes = budget.peak();
  counters.row_groups = data.n_groups();
  counters.columns = data.n_columns();
  result.seconds = limits.seconds();
  return result;
}

}  // namespace certree
