#include "solver.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.hpp"
#include "search/alternating.hpp"
#include "search/best_first.hpp"
#include "search/depth_first.hpp"
#include "search/path.hpp"
#include "search/scale.hpp"

namespace certree {

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
  const bool may_go_best_first = options.search != SearchKind::depth_first;
  if (limits_splits && depth > 1) {
    PathSearch(context, depth, options.max_splits).run(counters);
  } else if (depth == kUnlimitedDepth && may_go_best_first) {
    run_best_first(context, counters);
  } else if (depth > 4 && depth != kUnlimitedDepth && options.split_penalty > 0 && may_go_best_first) {
    run_alternating(context, depth, counters);
  } else {
    run_depth_first(context, depth, counters);
  }
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

// The options as the search sees them.
Options inner_options(const Options& options, std::int32_t depth) {
  Options inner = options;
  // With nothing to limit its size the best tree is any tree that separates what can be separated; the smallest of these
  // is a far harder question, which the caller did not ask.
  if (depth == kUnlimitedDepth && options.split_penalty == 0) inner.smallest = false;
  return inner;
}

// Everything one solve owns.  Throws MemoryLimitReached if not even the data fit.
struct Session {
  Session(const TableView& table, const CountTask& task, const Options& options, Observer observer)
      : caller_gap(options.gap),
        limits(options.time_limit_s, options.work_limit),
        budget(options.memory_limit),
        data(table, task, dataset_settings(table, options), budget),
        depth(effective_depth(data, options)),
        inner(inner_options(options, depth)),
        scale(data, task, inner, most_splits(data, depth)),
        progress(limits, std::move(observer), scale.factor),
        subproblems(budget, options.memory_limit > 0 ? options.memory_limit / 2 : 0, options.threads > 1),
        context{data, task, inner, scale.objective, limits, budget, subproblems, progress} {
    context.options.gap = options.gap > kInfinite / scale.factor ? kInfinite : options.gap * scale.factor;
    if (options.known_value >= 0)
      progress.assume(options.known_value * scale.factor + (inner.smallest ? options.known_splits : 0));
    if (kChecksKnownTree && !options.debug_tree.nodes.empty()) {
      known_tree.emplace(data, task, scale.objective, options.debug_tree, options.debug_discount * scale.factor);
      context.known_tree = &*known_tree;
    }
  }

  void translate(Tree& tree) const {
    for (TreeNode& node : tree.nodes)
      if (node.column >= 0) node.column = data.original_column(node.column);
  }
  void count(Counters& counters) const {
    counters.depth_two_evaluations = limits.work();
    counters.table_entries = subproblems.n_entries();
    counters.table_evictions += subproblems.n_evictions();
    counters.peak_bytes = budget.peak();
    counters.row_groups = data.n_groups();
    counters.columns = data.n_columns();
  }
  void report(Result& result) const {
    const Interval interval = progress.interval();
    result.upper_bound = scale.to_caller(interval.upper);
    result.lower_bound = interval.is_exact() ? result.upper_bound : scale.to_caller(interval.lower);
    result.status = status_of(limits, {result.lower_bound, result.upper_bound}, caller_gap);
    result.tree = progress.tree();
    translate(result.tree);
    result.history = progress.history();
    for (ProgressEvent& event : result.history) {
      event.upper = scale.to_caller(event.upper);
      event.lower = scale.to_caller(event.lower);
    }
    count(result.counters);
    result.seconds = limits.seconds();
  }

  Cost caller_gap;
  Limits limits;
  MemoryBudget budget;
  Dataset data;
  std::int32_t depth;
  Options inner;
  Scale scale;
  Progress progress;
  Table subproblems;
  Context context;
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
  check_options(table, options);
  const auto session = open_session(table, task, options, std::move(observer));
  if (session == nullptr) return single_leaf(table, task, options);
  Result result;
  try {
    search(session->context, options, session->depth, result.counters);
  } catch (const MemoryLimitReached&) {
    session->limits.stop(StopReason::memory);
  }
  // Threads come to the tie-break with different incumbents.  If it was cut short, one thread decides.
  if (session->limits.reason() == StopReason::effort && options.threads > 1) {
    Options alone = options;
    alone.threads = 1;
    if (options.time_limit_s > 0) alone.time_limit_s = std::max(options.time_limit_s - session->limits.seconds(), 1e-3);
    return solve(table, task, alone, session->progress.release_observer());
  }
  if (session->known_tree) session->known_tree->check_root(session->progress.interval().lower);
  session->progress.observe();
  if (session->progress.tree().nodes.empty() && options.known_value < 0) return single_leaf(table, task, options);
  session->report(result);
  return result;
}

PathResult solve_path(const TableView& table, const CountTask& task, const Options& options, Observer observer) {
  check_options(table, options);
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
  std::int64_t splits = most_splits(session->data, session->depth);
  if (options.max_splits >= 0) splits = std::min(splits, options.max_splits);
  result.entries = PathSearch(session->context, session->depth, splits).run_whole(result.counters);
  bool is_exact = true;
  for (PathEntry& entry : result.entries) {
    session->translate(entry.tree);
    is_exact = is_exact && entry.lower == entry.upper;
  }
  result.status = is_exact ? Status::optimal : status_of(session->limits, {0, 1});
  session->count(result.counters);
  result.seconds = session->limits.seconds();
  return result;
}

}  // namespace certree
