#include "run.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "search/alternating.hpp"
#include "search/best_first.hpp"
#include "search/depth_first.hpp"
#include "search/path.hpp"

namespace certree {

namespace {

// The depth that the data leave: no path has more splits than distinct columns, or than groups less one.
std::int32_t effective_depth(const Dataset& data, const Options& options) {
  const std::int64_t most = std::min<std::int64_t>(data.n_columns(), data.n_groups() - 1);
  std::int64_t depth = options.max_depth < 0 ? kUnlimitedDepth : options.max_depth;
  if (options.max_splits >= 0) depth = std::min(depth, options.max_splits);
  // Beyond a few levels a limit that the data alone impose is better dropped from the state.
  return depth == kUnlimitedDepth && most > 8 ? kUnlimitedDepth : static_cast<std::int32_t>(std::min(depth, most));
}

Options inner_options(const Options& options, std::int32_t depth) {
  Options inner = options;
  // With nothing to limit its size the best tree is any tree that separates what can be separated; the smallest of these
  // is a far harder question, which the caller did not ask.
  if (depth == kUnlimitedDepth && options.split_penalty == 0) inner.smallest = false;
  return inner;
}

}  // namespace

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

std::int64_t most_splits(const Dataset& data, std::int32_t depth) {
  const std::int64_t by_groups = data.n_groups() - 1;
  return depth < 40 ? std::min<std::int64_t>(by_groups, (std::int64_t{1} << depth) - 1) : by_groups;
}

Run::Run(const Dataset& set, const DepthTwoMaker& statistic, Cost worst, const Options& options, Budget& shared_budget,
         MemoryBudget& shared_memory, Observer observer)
    : data(set),
      budget(shared_budget),
      memory(shared_memory),
      caller_gap(options.gap),
      depth(effective_depth(data, options)),
      inner(inner_options(options, depth)),
      scale(worst, inner, most_splits(data, depth)),
      progress(budget, std::move(observer), scale.factor),
      subproblems(memory, options.memory_limit > 0 ? options.memory_limit / 2 : 0, options.threads > 1),
      context{data, statistic, inner, scale.objective, budget, memory, subproblems, progress} {
  context.options.gap = options.gap > kInfinite / scale.factor ? kInfinite : options.gap * scale.factor;
  if (options.known_value >= 0)
    progress.assume(options.known_value * scale.factor + (inner.smallest ? options.known_splits : 0));
}

void Run::search(Counters& counters) {
  const Options& options = context.options;
  // A limit on splits that the depth does not imply anyway is answered by the error-versus-splits curve.
  const bool limits_splits = options.max_splits >= 0 && options.max_splits < most_splits(data, depth);
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

void Run::find_path(PathResult& result) {
  std::int64_t splits = most_splits(data, depth);
  if (inner.max_splits >= 0) splits = std::min(splits, inner.max_splits);
  PathSearch path(context, depth, splits);
  result.entries = path.run_whole(result.counters);
  for (PathEntry& entry : result.entries) translate(entry.tree);
  result.status = path.is_whole() ? Status::optimal : status_of(budget, {0, 1}, 0);
  count(result.counters);
}

void Run::translate(Tree& tree) const {
  for (TreeNode& node : tree.nodes)
    if (node.column >= 0) node.column = data.original_column(node.column);
}

void Run::count(Counters& counters) const {
  counters.depth_two_evaluations = budget.work();
  counters.table_entries = subproblems.n_entries();
  counters.table_evictions += subproblems.n_evictions();
  counters.peak_bytes = memory.peak();
  counters.row_groups = data.n_groups();
  counters.columns = data.n_columns();
}

void Run::report(Result& result) const {
  const Interval interval = progress.interval();
  result.upper_bound = scale.to_caller(interval.upper);
  result.lower_bound = interval.is_exact() ? result.upper_bound : scale.to_caller(interval.lower);
  result.status = status_of(budget, {result.lower_bound, result.upper_bound}, caller_gap);
  result.tree = progress.tree();
  translate(result.tree);
  result.history = progress.history();
  for (ProgressEvent& event : result.history) {
    event.upper = scale.to_caller(event.upper);
    event.lower = scale.to_caller(event.lower);
  }
  count(result.counters);
  result.seconds = budget.seconds();
}

}  // namespace certree
