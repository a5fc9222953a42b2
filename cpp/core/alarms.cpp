#include "alarms.hpp"

#include <mutex>
#include <utility>

#include "base/budget.hpp"
#include "base/lock.hpp"
#include "base/memory.hpp"
#include "data/row_set_audit.hpp"
#include "result.hpp"
#include "search/shared/points.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/table.hpp"

namespace certree {

namespace {

void raise_above_a_tree() {
  Budget budget(0, 0);
  Progress progress(budget, {}, 1);
  progress.improve(5, {});
  progress.raise(6);
}

void find_below_a_bound() {
  Budget budget(0, 0);
  Progress progress(budget, {}, 1);
  progress.improve(9, {});
  progress.raise(6);
  progress.improve(5, {});
}

void report_crossed_values() {
  const Budget budget(0, 0);
  status_of(budget, Interval{6, 5}, 0);
}

void store_crossed_bounds() {
  MemoryBudget memory;
  Table table(memory, 0, false);
  table.store({1, 2}, {{6, kInfinite}, kNoTree}, 1);
  table.store({1, 2}, {{0, 5}, kLeafTree}, 1);
}

void call_back_under_a_lock() {
  Budget budget(0, 0);
  std::mutex mutex;
  Progress progress(budget, [](const ProgressEvent&) { return false; }, 1);
  progress.improve(5, {});
  const SharedLock lock(mutex, budget);
  progress.observe();
}

void call_back_about_points_under_a_lock() {
  Budget budget(0, 0);
  std::mutex mutex;
  PointWatch watch(budget, [](const PointEvent&) { return false; });
  watch.record(1);
  const SharedLock lock(mutex, budget);
  watch.observe();
}

void confuse_row_sets() {
  RowSetAudit audit;
  const Word one[] = {1}, other[] = {2};
  audit.see({1, 2}, one, 1);
  audit.see({1, 2}, other, 1);
}

constexpr std::pair<const char*, void (*)()> kFaults[] = {
    {"bound above a tree", raise_above_a_tree},
    {"tree below a bound", find_below_a_bound},
    {"crossed values of an answer", report_crossed_values},
    {"crossed bounds in the table", store_crossed_bounds},
    {"callback under a lock", call_back_under_a_lock},
    {"callback about points under a lock", call_back_about_points_under_a_lock},
    {"one key for two row sets", confuse_row_sets},
};

}  // namespace

std::vector<std::string> faults() {
  std::vector<std::string> names;
  for (const auto& [name, plant] : kFaults) names.emplace_back(name);
  return names;
}

void plant_fault(const std::string& name) {
  for (const auto& [known, plant] : kFaults)
    if (name == known) return plant();
  throw std::invalid_argument("there is no fault '" + name + "'");
}

}  // namespace certree
