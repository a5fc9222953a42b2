#include "session.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "entry_point.hpp"
#include "run.hpp"
#include "search/columns/path.hpp"

namespace certree {

namespace {

// A share of the memory is for the tables of earlier solves; the table of the solve at hand has the rest.
constexpr std::int64_t kEarlierShare = 8;

}  // namespace

// One solve, its statistic and, in builds that check themselves, the tree that it must not cut off.
struct Session::Solve {
  Solve(Session& session, const CountTask& task, const Options& options, Budget& budget, Observer observer)
      : statistic(*session.data_, task),
        run(*session.data_, statistic, worst_total(*session.data_, task), options, budget, session.memory_,
            std::move(observer)),
        pricing(*session.data_, task, run.inner, run.scale) {
    if (options.memory_limit > 0)
      run.subproblems.limit(options.memory_limit / 4 * 3 - session.earlier_.bytes() - session.earlier_curves_.bytes());
    if (options.use_weight_reuse && options.use_table) {
      use(session.earlier_);
      use(session.earlier_curves_);
    }
    if (curves == nullptr) curves = std::make_unique<CurveTable>(session.memory_);
    run.context.curves = curves.get();
    if (kChecksKnownTree && !options.debug_tree.nodes.empty()) {
      known_tree.emplace(*session.data_, task, run.scale.objective, options.debug_tree,
                         options.debug_discount * run.scale.factor);
      run.context.known_tree = &*known_tree;
    }
  }

  void use(EarlierSolves& earlier) {
    if (const std::unique_ptr<Table> table = earlier.take(pricing)) run.subproblems.swap(*table);
    earlier.prepare(pricing);
    if (earlier.is_useful()) run.context.earlier = &earlier;
  }
  void use(EarlierCurves& earlier) {
    const Pricing leaves = pricing.of_leaves();
    curves = earlier.take(leaves);
    earlier.prepare(leaves);
    if (earlier.is_useful()) run.context.earlier_curves = &earlier;
  }
  void keep(EarlierSolves& earlier, EarlierCurves& earlier_curves) {
    auto table = std::make_unique<Table>(run.memory, 0, false);
    table->swap(run.subproblems);
    earlier.add(pricing, std::move(table));
    earlier_curves.add(pricing.of_leaves(), std::move(curves));
  }

  CountDepthTwo statistic;
  Run run;
  Pricing pricing;
  std::unique_ptr<CurveTable> curves;
  std::optional<DebugTree> known_tree;
};

Session::Session(const TableView& table) : table_(table) {}

std::unique_lock<std::mutex> Session::begin() {
  std::unique_lock lock(busy_, std::try_to_lock);
  require(lock.owns_lock(), "the session is in the middle of a solve; use one session per thread");
  return lock;
}

// Puts the data with these costs in place.  False: they do not fit into the memory.
bool Session::open(const CountTask& task, const Options& options, Budget& budget) {
  const DatasetSettings settings = dataset_settings(table_, options);
  // Keys stand for sets of row groups, records for columns.
  if (settings.merges_rows != settings_.merges_rows || settings.reduces_columns != settings_.reduces_columns ||
      settings.seed != settings_.seed) {
    earlier_.clear();
    earlier_curves_.clear();
  }
  // The table of a part is that of the part before it.
  if (options.memory_limit > 0 && options.assignment.factor == 0) {
    earlier_.shrink(options.memory_limit / kEarlierShare);
    earlier_curves_.shrink(options.memory_limit / kEarlierShare);
  }
  memory_.restart(options.memory_limit);
  const bool is_packed = data_ != nullptr && settings == settings_ && task.n_types() == n_types_;
  std::unique_ptr<Dataset> data = std::move(data_);
  try {
    if (is_packed) {
      data->price(task, memory_);
    } else {
      data.reset();
      data = std::make_unique<Dataset>(table_, task, settings, budget, memory_);
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  settings_ = settings;
  n_types_ = task.n_types();
  data_ = std::move(data);
  return true;
}

Result Session::solve(const CountTask& task, const Options& options, Observer observer) {
  const auto lock = begin();
  check_options(table_.n_rows, options);
  Budget budget(options.time_limit_s, options.work_limit, most_work_);
  try {
    return run(task, options, budget, std::move(observer));
  } catch (const std::bad_alloc&) {  // before there was anything to report
    return single_leaf(table_, task, options, budget);
  }
}

Result Session::run(const CountTask& task, const Options& options, Budget& budget, Observer observer) {
  if (!open(task, options, budget)) return single_leaf(table_, task, options, budget);
  auto solve = std::make_unique<Solve>(*this, task, options, budget, std::move(observer));
  Result result;
  solve->run.search(result.counters);
  if (solve->run.must_go_alone()) {
    const Options alone = solve->run.alone();
    observer = solve->run.progress.release_observer();
    solve.reset();
    Budget rest(alone.time_limit_s, alone.work_limit, most_work_);
    return run(task, alone, rest, std::move(observer));
  }
  if (solve->known_tree) solve->known_tree->check_root(solve->run.progress.interval().lower);
  if (!solve->run.report(result)) return single_leaf(table_, task, options, budget);
  most_work_ = std::max(most_work_, budget.work());
  solve->keep(earlier_, earlier_curves_);
  return result;
}

PathResult Session::solve_path(const CountTask& task, const Options& options, Observer observer) {
  const auto lock = begin();
  check_path_options(table_.n_rows, options);
  PathResult result;
  Budget budget(options.time_limit_s, options.work_limit);
  run_within(budget, [&] {
    if (!open(task, options, budget)) return;
    Solve solve(*this, task, options, budget, std::move(observer));
    solve.run.find_path(result);
    solve.keep(earlier_, earlier_curves_);
  });
  if (result.entries.empty()) result = path_of_leaf(single_leaf(table_, task, options, budget), options, budget);
  result.seconds = budget.seconds();
  return result;
}

}  // namespace certree
