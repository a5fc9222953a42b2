#include "run.hpp"

#include <algorithm>

#include "entry_point.hpp"
#include "search/columns/alternating.hpp"
#include "search/columns/best_first.hpp"
#include "search/columns/depth_first.hpp"
#include "search/columns/path.hpp"

namespace certree {

namespace {

std::int32_t effective_depth(const Dataset& data, const Options& options) {
  const std::int32_t depth = deepest(data, options);
  // Beyond a few levels a depth that the data alone impose is better dropped from the state.
  const bool is_asked_for = options.max_depth >= 0 || options.max_splits >= 0;
  return !is_asked_for && depth > 8 ? kUnlimitedDepth : depth;
}

Options inner_options(const Options& options, std::int32_t depth) {
  Options inner = options;
  // With nothing to limit its size the best tree is any tree that separates what can be separated; the smallest of these
  // is a far harder question, which the caller did not ask.
  if (depth == kUnlimitedDepth && options.split_penalty == 0) inner.smallest = false;
  return inner;
}

}  // namespace

Run::Run(const Dataset& set, const DepthTwoMaker& statistic, Cost worst, const Options& options, Budget& shared_budget,
         MemoryBudget& shared_memory, Observer observer)
    : data(set),
      budget(shared_budget),
      memory(shared_memory),
      asked(options),
      depth(effective_depth(data, options)),
      inner(inner_options(options, depth)),
      scale(worst, inner, options.assignment.factor > 0 ? options.assignment.factor - 1 : data.most_splits(depth)),
      progress(budget, std::move(observer), scale.factor),
      subproblems(memory, options.memory_limit / 4 * 3, options.threads > 1),
      context{data, statistic, inner, scale.objective, budget, memory, subproblems, progress} {
  context.options.gap = scale.from_caller(options.gap);
  if (options.known_value >= 0) progress.assume(known_value(options, scale, inner.smallest));
  if (options.assignment.factor > 0) {
    budget.grant_any_effort();
    context.splits = &split_bounds;
  }
}

void Run::search(Counters& counters) {
  const Options& options = context.options;
  // A limit on splits that the depth does not imply anyway is answered by the error-versus-splits curve.
  const bool limits_splits = options.max_splits >= 0 && options.max_splits < data.most_splits(depth);
  const bool may_go_best_first = options.search != SearchKind::depth_first;
  run_within(budget, [&] {
    for (const SharedEntry& known : asked.assignment.entries)
      subproblems.store(known.key, {{known.lower, known.upper}, static_cast<std::int32_t>(known.column)},
                        static_cast<std::uint32_t>(known.effort));
    if (asked.assignment.least_effort > 0) subproblems.keep_journal(&entries, asked.assignment.least_effort);
    if (asked.assignment.factor > 0) {
      run_depth_first(context, depth, counters);
    } else if (limits_splits && depth > 1) {
      PathSearch(context, depth, options.max_splits).run(counters);
    } else if (depth == kUnlimitedDepth && may_go_best_first) {
      run_best_first(context, counters);
    } else if (depth > 4 && depth != kUnlimitedDepth && options.split_penalty > 0 && may_go_best_first) {
      run_alternating(context, depth, counters);
    } else {
      run_depth_first(context, depth, counters);
    }
  });
  subproblems.keep_journal(nullptr, 0);
}

bool Run::must_go_alone() const { return budget.reason() == StopReason::effort && asked.threads > 1; }

Options Run::alone() const {
  Options options = asked;
  options.threads = 1;
  options.time_limit_s = budget.seconds_left();
  return options;
}

bool Run::report(Result& result) {
  progress.observe();
  if (progress.tree().nodes.empty() && asked.known_value < 0) return false;
  report_values(progress, budget, scale, asked.gap, result);
  result.tree = progress.tree();
  name_columns(data, result.tree);
  result.splits = std::move(split_bounds);
  result.entries = std::move(entries);
  report_work(budget, memory, data, result);
  report_table(subproblems, result.counters);
  return true;
}

void Run::find_path(PathResult& result) {
  std::int64_t splits = data.most_splits(depth);
  if (inner.max_splits >= 0) splits = std::min(splits, inner.max_splits);
  PathSearch path(context, depth, splits);
  result.entries = path.run_whole(result.counters);
  for (PathEntry& entry : result.entries) name_columns(data, entry.tree);
  result.status = status_of(budget, path.is_whole());
  report_work(budget, memory, data, result);
  report_table(subproblems, result.counters);
}

}  // namespace certree
