// Best-first search over tests with any number of outcomes (search/shared/best_first.hpp).
//
// What is known is kept per part, the rows of one outcome, which tests share; the bound of a test is the sum over its parts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "search/multiway/node.hpp"
#include "search/multiway/tree.hpp"
#include "search/shared/best_first.hpp"
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

  // What the best-first search asks of a node and its tests.
  Fingerprint key(std::size_t level) { return frame(level).node.rows.key; }
  Record recall(const Fingerprint& key, std::int32_t depth);
  bool open_ways(std::size_t level, std::int32_t depth, Record& record);
  Ways ways(std::size_t level);
  Cost least_lower(std::size_t level);
  void visit(std::size_t level, std::int32_t depth, const NextWay& way, Cost bound, Record& record);
  void remember_node(std::size_t level, std::int32_t depth, const Record& record, std::int64_t effort) {
    remember(key(level), depth, record, effort);
  }
  bool may_leave_early() const;
  Cost overestimate() const { return context_.settings.objective.split_penalty; }
  WayChooser& chooser() { return chooser_; }
  bool poll();
  std::int64_t work() const { return context_.budget.work(); }
  Counters& counters() { return counters_; }

  // And of the root.
  bool is_done() const;
  void join(MultiwaySearch& search, Record& record);
  void publish(MultiwaySearch& search, const Record& record);
  void raise(MultiwaySearch& search, const Record& record);

 private:
  MultiwayFrame& frame(std::size_t level);
  void remember(const Fingerprint& key, std::int32_t depth, const Record& record, std::int64_t effort);

  bool expand(MultiwayFrame& frame);
  void bound_tests(MultiwayFrame& frame);
  void inherit_bounds(std::size_t level);
  void improve_part(std::size_t level, std::int32_t depth, const NodeTest& test, Cost until);
  std::int32_t widest_part(const MultiwayFrame& frame, const NodeTest& test) const;
  void look_up(std::size_t level, std::int32_t depth, const NodeTest& test);
  void spread_bounds(MultiwayFrame& frame, std::int32_t part);
  void refresh_tests(MultiwayFrame& frame, Record& record);
  Cost sum(const MultiwayFrame& frame, const NodeTest& test, const std::vector<Cost>& values) const;
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

  MultiwayContext context_;
  MultiwayShared& shared_;
  WayChooser chooser_;
  MultiwayNodes nodes_;
  std::unique_ptr<MultiwayPass> pass_;
  std::vector<std::unique_ptr<MultiwayFrame>> frames_;
  RowSet rows_;
  std::vector<std::uint8_t> is_part_;  // per test: its column is an outcome of another one
  bool has_parts_ = false;
  Record root_;
  Counters counters_;
};

// The search of all threads, and the best tree that they found; no nodes if not even the root was reached.
MultiwayTree run_multiway(const MultiwayContext& context, Counters& counters);

}  // namespace certree
