#include "front_solver.hpp"

#include <optional>

#include "base/check.hpp"
#include "entry_point.hpp"
#include "search/fronts/shared_search.hpp"

namespace certree {

namespace {

FrontSlots slots_for(const Dataset& data, const FrontQuestion& question, const Options& options, std::int32_t depth) {
  std::int64_t most = data.most_splits(depth);
  const bool limits_splits = options.max_splits >= 0 && options.max_splits < most;
  if (limits_splits) most = options.max_splits;
  return {question.per_splits || limits_splits, most};
}

// The front that needs no memory: the two leaves that are wanted, and no bound but zero.
FrontResult leaves_only(const TableView& table, const FrontQuestion& question, const Budget& budget) {
  const std::vector<Cost> weights = weight_of_types(table, 2);
  FrontResult result;
  result.width = 3;
  result.status = status_of(budget, false);
  const auto add = [&](Cost fp, Cost fn, std::int32_t label) {
    for (const FrontPoint& p : question.dominated)
      if (p.fp <= fp && p.fn <= fn) return;
    PointTree leaf{{fp, fn, 0}, {}};
    leaf.tree.add({-1, -1, -1, label});
    result.trees.push_back(std::move(leaf));
  };
  if (weights[0] > 0 || weights[1] == 0) add(0, weights[1], 0);
  if (weights[1] > 0) add(weights[0], 0, 1);
  result.lower.push_back(Point(3, 0));
  return result;
}

// Everything one solve owns.  Throws MemoryLimitReached if not even the data fit.
struct FrontSession {
  FrontSession(const TableView& table, const FrontQuestion& question, const Options& options, Budget& budget,
               PointObserver observer)
      : memory(options.memory_limit),
        data(table, CountTask(2, 2, {0, 1, 1, 0}), dataset_settings(table, options), budget, memory),
        depth(deepest(data, options)),
        search(data, options, slots_for(data, question, options, depth), depth, budget, memory, std::move(observer)) {}

  MemoryBudget memory;
  Dataset data;
  std::int32_t depth;
  SharedFrontSearch search;
};

}  // namespace

FrontResult solve_front(const TableView& table, const FrontQuestion& question, const Options& options,
                        PointObserver observer) {
  check_options(table.n_rows, options);
  require(!question.per_splits || options.max_depth >= 0 || options.max_splits >= 0,
          "a front per number of splits needs max_depth or max_splits");
  check_two_types(table);
  Budget budget(options.time_limit_s, options.work_limit);
  std::optional<FrontSession> session;
  run_within(budget, [&] {
    session.emplace(table, question, options, budget, std::move(observer));
    session->search.run(question.dominated);
  });
  if (!session || !session->search.has_begun()) {
    FrontResult result = leaves_only(table, question, budget);
    result.seconds = budget.seconds();
    return result;
  }
  SharedFrontSearch& search = session->search;
  FrontResult result;
  result.status = status_of(budget, search.is_complete());
  result.width = 3;
  result.trees = search.front(question.per_splits);
  for (PointTree& found : result.trees) name_columns(session->data, found.tree);
  result.lower = search.lower();
  result.history = search.history();
  result.counters = search.counters();
  report_work(budget, session->memory, session->data, result);
  return result;
}

}  // namespace certree
