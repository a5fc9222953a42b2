// Best-first AND/OR search over tests with any number of outcomes.
//
// The same search as search/columns/best_first.cpp: a subproblem is a row set (and the depth that is left, if limited), a
// node's tests are taken in the order of their lower bounds, and a child is improved until another test looks better.  The
// recursion keeps no graph; what it learns is in the table, so that a memory limit only costs search.  Several threads share
// the table and the root (search/shared/shared_root.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "search/multiway/node.hpp"
#include "search/multiway/tree.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/shared_root.hpp"
#include "search/shared/table.hpp"

namespace certree {

struct MultiwayContext {
  const Dataset& data;
  const CountTask& task;
  const ColumnTests& tests;
  const MultiwaySettings& settings;  // its options' gap is in the search's units
  Budget& budget;
  MemoryBudget& memory;
  Table& table;
  Progress& progress;  // values and bounds; trees are kept here
  std::int32_t depth;  // kUnlimitedDepth: no limit
};

// What its threads know together.
struct MultiwayShared {
  explicit MultiwayShared(int threads) : root(threads) {}

  SharedRoot root;
  // Under its lock.
  SharedBounds lower, upper, test_lower;  // of the root's parts, and of its tests
  MultiwayTree best;
  std::atomic<bool> is_proven{false};
};

// One thread's search.
class MultiwaySearch {
 public:
  MultiwaySearch(const MultiwayContext& context, MultiwayShared& shared, int number);

  // The first trees, by the first thread.  False: there is nothing to search, or the budget ended.
  bool start();
  // Searches until the proof is there or the budget ends.
  void drive();
  // What all have found of the root.
  void finish();
  // Replaces the best tree by the first of the same value.
  void make_canonical();
  Counters& counters() { return counters_; }

 private:
  MultiwayFrame& frame(std::size_t level);
  bool poll();
  bool is_done() const;
  bool may_leave_early() const;
  Record recall(const Fingerprint& key, std::int32_t depth);
  void remember(const Fingerprint& key, std::int32_t depth, const Record& record, std::int64_t effort);

  bool expand(MultiwayFrame& frame);
  bool open(std::size_t level, std::int32_t depth, Record& record);
  void bound_tests(MultiwayFrame& frame);
  void inherit_bounds(std::size_t level);
  Interval improve(std::size_t level, std::int32_t depth, Cost threshold, Cost known_lower);
  bool improve_best_test(std::size_t level, std::int32_t depth, Cost threshold, Record& record);
  void improve_part(std::size_t level, std::int32_t depth, const NodeTest& test, Cost until);
  std::int32_t widest_part(const MultiwayFrame& frame, const NodeTest& test) const;
  void join();
  void raise();
  void look_up(std::size_t level, std::int32_t depth, const NodeTest& test);
  void spread_bounds(MultiwayFrame& frame, std::int32_t part);
  void refresh_tests(MultiwayFrame& frame, Record& record);
  Cost sum(const MultiwayFrame& frame, const NodeTest& test, const std::vector<Cost>& values) const;
  static Cost least_lower(const MultiwayFrame& frame);
  void find_parts();

  // Trees (search/multiway/build.cpp): each fills node `slot`.
  enum class Greedy { all_tests, whole_tests };  // whole: without outcomes of a test as tests of their own
  void add_greedy_tree(std::size_t level, std::int32_t depth, Greedy kind, MultiwayTree& tree, std::int32_t slot,
                       Cost* value);
  void add_leaf(std::size_t level, MultiwayTree& tree, std::int32_t slot, Cost* value);
  std::int32_t best_guess(const MultiwayFrame& frame, Greedy kind) const;
  bool add_known_tree(std::size_t level, std::int32_t depth, Cost target, MultiwayTree& tree, std::int32_t slot);
  bool add_canonical_tree(std::size_t level, std::int32_t depth, Cost value, MultiwayTree& tree, std::int32_t slot);
  bool add_shallow_tree(std::size_t level, std::int32_t depth, Cost target, MultiwayTree& tree, std::int32_t slot);
  std::int32_t split(const MultiwayFrame& frame, const NodeTest& test, MultiwayTree& tree, std::int32_t slot) const;
  void keep(Cost value, MultiwayTree tree);
  void publish();

  MultiwayContext context_;
  MultiwayShared& shared_;
  int number_;
  MultiwayNodes nodes_;
  std::unique_ptr<MultiwayPass> pass_;
  std::vector<std::unique_ptr<MultiwayFrame>> frames_;
  RowSet rows_;
  std::vector<std::uint8_t> is_part_;  // per test: its column is an outcome of another one
  bool has_parts_ = false;
  std::vector<std::int32_t> taken_;  // for improve_best_test
  Record root_;
  Counters counters_;
};

// The search of all threads, and the best tree that they found; no nodes if not even the root was reached.
MultiwayTree run_multiway(const MultiwayContext& context, Counters& counters);

}  // namespace certree
