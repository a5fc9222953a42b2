#include "front_solver.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/check.hpp"

namespace certree {

namespace {

void check_arguments(const TableView& table, const FrontQuestion& question, const Options& options) {
  require(table.n_rows >= 1, "the table has no rows");
  require(options.max_depth >= -1, "max_depth must be -1 (no limit) or at least 0");
  require(options.max_splits >= -1, "max_splits must be -1 (no limit) or at least 0");
  require(options.min_leaf >= 1, "min_leaf must be at least 1");
  require(!question.per_splits || options.max_depth >= 0 || options.max_splits >= 0,
          "a front per number of splits needs max_depth or max_splits");
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::int32_t type = table.row_types[row];
    require(type == 0 || type == 1, "row_types must be 0 (negative) or 1 (positive), got " + std::to_string(type) +
                                        " in row " + std::to_string(row));
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

std::int32_t effective_depth(const Dataset& data, const Options& options) {
  std::int64_t depth = std::min<std::int64_t>(data.n_columns(), data.n_groups() - 1);
  if (options.max_depth >= 0) depth = std::min<std::int64_t>(depth, options.max_depth);
  if (options.max_splits >= 0) depth = std::min(depth, options.max_splits);
  return static_cast<std::int32_t>(std::max<std::int64_t>(depth, 0));
}

FrontSlots slots_for(const Dataset& data, const FrontQuestion& question, const Options& options, std::int32_t depth) {
  std::int64_t most = data.n_groups() - 1;
  if (depth < 40) most = std::min(most, (std::int64_t{1} << depth) - 1);
  const bool limits_splits = options.max_splits >= 0 && options.max_splits < most;
  if (limits_splits) most = options.max_splits;
  return {question.per_splits || limits_splits, most};
}

// The front that needs no memory: the two leaves that are wanted, and no bound but zero.
FrontResult leaves_only(const TableView& table, const FrontQuestion& question) {
  Cost counts[2] = {};
  for (std::int64_t row = 0; row < table.n_rows; ++row)
    counts[table.row_types[row]] += table.weights != nullptr ? table.weights[row] : 1;
  FrontResult result;
  result.status = Status::memory_limit;
  const auto add = [&](Cost fp, Cost fn, std::int32_t label) {
    for (const FrontPoint& p : question.dominated)
      if (p.fp <= fp && p.fn <= fn) return;
    FrontEntry entry{fp, fn, 0, {}};
    entry.tree.add({-1, -1, -1, label});
    result.entries.push_back(std::move(entry));
  };
  if (counts[0] > 0 || counts[1] == 0) add(0, counts[1], 0);
  if (counts[1] > 0) add(counts[0], 0, 1);
  result.lower.push_back({});
  return result;
}

// Everything one solve owns.  Throws MemoryLimitReached if not even the data fit.
struct FrontSession {
  FrontSession(const TableView& table, const FrontQuestion& question, const Options& options, Budget& budget,
               FrontObserver observer)
      : memory(options.memory_limit),
        data(table, CountTask(2, 2, {0, 1, 1, 0}), dataset_settings(table, options), memory),
        depth(effective_depth(data, options)),
        search(data, options, slots_for(data, question, options, depth), depth, budget, memory, std::move(observer)) {}

  MemoryBudget memory;
  Dataset data;
  std::int32_t depth;
  FrontSearch search;
};

}  // namespace

FrontResult solve_front(const TableView& table, const FrontQuestion& question, const Options& options,
                        FrontObserver observer) {
  check_arguments(table, question, options);
  Budget budget(options.time_limit_s, options.work_limit);
  std::optional<FrontSession> session;
  try {
    session.emplace(table, question, options, budget, std::move(observer));
  } catch (const std::bad_alloc&) {
    return leaves_only(table, question);
  }
  try {
    session->search.run(question.dominated);
  } catch (const std::bad_alloc&) {
    budget.stop(StopReason::memory);
  }
  FrontSearch& search = session->search;
  FrontResult result;
  if (!search.has_begun()) {
    result = leaves_only(table, question);
    result.seconds = budget.seconds();
    return result;
  }
  result.status = search.is_complete() ? Status::optimal : status_of(budget, {0, 1});
  result.entries = search.front(question.per_splits);
  for (FrontEntry& entry : result.entries)
    for (TreeNode& node : entry.tree.nodes)
      if (node.column >= 0) node.column = session->data.original_column(node.column);
  result.lower = search.lower();
  result.history = search.history();
  result.counters = search.counters();
  result.counters.depth_two_evaluations = budget.work();
  result.counters.table_entries = search.n_table_entries();
  result.counters.peak_bytes = session->memory.peak();
  result.counters.row_groups = session->data.n_groups();
  result.counters.columns = session->data.n_columns();
  result.seconds = budget.seconds();
  return result;
}

}  // namespace certree
