// One thread's depth-first branch and bound over splits.
//
// A subproblem is a row set and a remaining depth.  What is known of it is an interval [lower, upper]; `solve` narrows it
// until it is exact or its lower end reaches a ceiling (in docs/theory/failed-budgets.md the budget of the node).  At a
// node the depth-two pass gives the optimum up to depth two and first bounds for every split; then splits are
// tried in the order of their lower bounds, each by solving its two children within what the incumbent leaves them, and
// every split tried bounds the others by similarity.
//
// Frames are the recursion's memory: one per level, reused, so that the search allocates nothing once it is warm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "bounds/priced_similarity.hpp"
#include "data/dataset.hpp"
#include "data/node.hpp"
#include "data/test_costs.hpp"
#include "search/columns/debug_tree.hpp"
#include "search/columns/depth_two.hpp"
#include "search/columns/earlier_solves.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/remaining_depth.hpp"
#include "search/shared/shared_root.hpp"
#include "search/shared/table.hpp"
#include "search/shared/tree.hpp"

namespace certree {

struct ImproverState;

// What the threads of one solve share.
struct Context {
  const Dataset& data;
  const DepthTwoMaker& statistic;
  Options options;
  Objective objective;
  Budget& budget;
  MemoryBudget& memory;
  Table& table;
  Progress& progress;
  // Bounds without a depth limit are in the table too (search/columns/alternating.hpp).
  bool uses_unlimited_bounds = false;
  const DebugTree* known_tree = nullptr;
  // Bounds of earlier solves, and the curves of this one where they are to outlive it; null: none.
  const EarlierSolves* earlier = nullptr;
  const EarlierCurves* earlier_curves = nullptr;
  CurveTable* curves = nullptr;
  // What tests cost; null: nothing.
  const TestCosts* tests = nullptr;
  // Where the splits of the node of a part are reported; null: this is no part.
  std::vector<SplitBound>* splits = nullptr;
  // Where good trees are looked for over several runs of a search; null: it is this run's own.
  ImproverState* improver = nullptr;
  // Best-first: the ways that other threads have taken; null: there are none.
  TakenWays* taken_ways = nullptr;
};

// A node under search.
struct Frame {
  explicit Frame(MemoryBudget& memory)
      : node(memory),
        expansion(memory),
        lower(memory),
        guess(memory),
        closed(memory),
        child_lower{AlignedArray<Cost>(memory), AlignedArray<Cost>(memory)},
        child_upper{AlignedArray<Cost>(memory), AlignedArray<Cost>(memory)},
        looked_up(memory) {}
  Node node;
  Paid paid;  // where tests have prices
  PathPrices path_prices;
  Expansion expansion;
  AlignedArray<Cost> lower;                           // per split: lower bound of the value of a tree with that root
  AlignedArray<Cost> guess;                           // per split: value of its best tree of depth two
  AlignedArray<std::uint8_t> closed;                  // per split: nothing more to find
  AlignedArray<Cost> child_lower[2], child_upper[2];  // [holds], per split: what is known of the children
  AlignedArray<std::uint8_t> looked_up;               // best-first, per split: the table was asked
  bool is_expanded = false;                           // the expansion is this node's
  bool is_open = false;                               // and so are the arrays above
  std::int32_t depth = 0;                             // which bound trees of this depth
  std::int32_t parent_split = -1;                     // the split of the frame above that led here, and its side
  bool parent_holds = false;
  Cost unavoidable = 0;
  Cost shallow_lower = 0;  // lower bound of the node's optimum with one level less
};

// The node's index of a column of the data set, -1: not there.  Every node keeps the first of equal columns.
std::int32_t local_column(const Node& node, std::int32_t column);

class Worker {
 public:
  // `number`: among the threads that search best-first.
  Worker(const Context& context, bool is_main, int number = 0);
  // Makes level 0 the root, as the main worker has it.
  void start_at_root();

  Frame& frame(std::size_t level) {
    if (level == 0 && root_ != nullptr) return *root_;
    return level < frames_.size() ? *frames_[level] : add_frames(level);
  }
  // Makes level 0 another worker's frame, which this one only reads.
  void share_root(Frame& root) { root_ = &root; }

  // Narrows the interval of the node in frame(level) until it is exact, or its lower end reaches `ceiling`, or the
  // budget of the call is used up; the interval is valid in every case.
  // `known_lower`: a lower bound that the caller has.
  Interval solve(std::size_t level, std::int32_t depth, Cost ceiling, Cost known_lower = 0);

  // The same without a depth limit, best-first (search/shared/best_first.hpp): `threshold` is where the caller has something
  // better to do.
  Interval improve(std::size_t level, Cost threshold, Cost known_lower = 0);
  // What the best-first search asks of a node and its splits.
  Fingerprint key(std::size_t level) { return frame(level).node.rows.key; }
  bool open_ways(std::size_t level, std::int32_t depth, Record& record);
  Ways ways(std::size_t level);
  Cost least_lower(std::size_t level) { return least_lower(frame(level)); }
  void visit(std::size_t level, std::int32_t depth, const NextWay& way, Cost bound, Record& record);
  void remember_node(std::size_t level, std::int32_t depth, const Record& record, std::int64_t effort);
  bool may_leave_early() const;
  Cost overestimate() const;
  WayChooser& chooser() { return chooser_; }
  std::int64_t work() const { return context_.budget.work(); }

  // The pieces of `solve`, for a caller that chooses the splits of a node itself (the root, with several threads).
  // `shallow_lower`: a lower bound of the node's optimum with one level less.
  bool open(std::size_t level, std::int32_t depth, Record& record, Cost shallow_lower = 0);
  std::int32_t next_split(const Frame& frame) const;
  Interval try_split(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound);
  // The two halves of try_split: what the frame knows, which under several threads needs their lock; and the search.
  void start_split(std::size_t level, std::int32_t split);
  Interval finish_split(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound);
  void close_split(Frame& frame, std::int32_t split, const Interval& found, Record& record);
  // The two halves of close_split.
  void offer_split(Frame& frame, std::int32_t split, const Interval& found, Record& record);
  void spread_bounds(Frame& frame, std::int32_t split);
  // What the table knows of the children of all splits goes to the frame, and from each to the others.
  void look_all_children_up(std::size_t level, std::int32_t depth);
  // After try_split: what was found of the children goes to the frame.
  void keep_children(std::size_t level, std::int32_t split);
  static Cost least_lower(const Frame& frame);
  // One more split above subtrees of this total value, the price of its test included.
  Cost value_of_split(const Frame& frame, std::size_t split, Cost subtrees) const {
    return context_.objective.split(subtrees) + test_value(frame, split);
  }
  // What the rows of a node pay for a test.
  Cost test_value(const Frame& frame, std::size_t split) const {
    return frame.expansion.has_tests ? context_.objective.leaf(frame.expansion.tests[split]) : 0;
  }

  // Value of the best tree of depth at most `depth` <= 2.
  Cost shallow_value(const SplitErrors& errors, std::int32_t depth) const;
  // Adds the best tree of depth at most two; the frame must be expanded.
  std::int32_t add_depth_two_tree(std::size_t level, std::int32_t depth, Tree& tree);
  // Adds the first tree of depth at most two with this many splits and this cost; -1: there is none.
  std::int32_t add_shallow_tree(std::size_t level, std::size_t splits, Cost errors, Tree& tree);
  // Adds a tree of value at most `target`, known to exist, from the table.  False: stopped before it was rebuilt.
  bool add_known_tree(std::size_t level, std::int32_t depth, Cost target, Tree& tree, std::int32_t* root);
  // Adds the canonical tree of the proven optimum `value` (search/columns/build_tree.cpp).  False: stopped.
  bool add_canonical_tree(std::size_t level, std::int32_t depth, Cost value, Tree& tree, std::int32_t* root);

  // Makes frame(level + 1) the child of `split` on one side.
  void descend(std::size_t level, std::int32_t split, bool holds);
  bool poll();
  // Gives back the memory of all levels but the first.
  void release() {
    frames_.resize(std::min<std::size_t>(frames_.size(), 1));
    scratch_.clear();
  }
  Counters& counters() { return counters_; }
  // The last try_split's children at this level.
  const Record& child(std::size_t level, bool holds) { return scratch(level).child[holds ? 1 : 0]; }
  DepthTwo& depth_two() { return *depth_two_; }
  const Context& context() const { return context_; }
  Record recall(const Fingerprint& key, std::int32_t depth, Cost* shallow_lower = nullptr);
  void remember(const Fingerprint& key, std::int32_t depth, const Record& record, std::int64_t effort);
  bool expand(Frame& frame);
  // Debug builds: the final bounds of a node and of its splits against the known tree.
  void check_known_tree(const Frame& frame, std::int32_t depth, const Record& record) const;

  // Makes level 0 the node that the tests lead to.
  void start_below(const std::vector<Assignment::Step>& path);

 private:
  // Per level and worker, never shared.
  struct Scratch {
    explicit Scratch(MemoryBudget& memory) : rows{RowSet(memory), RowSet(memory)} {}
    RowSet rows[2];  // [holds]
    Record child[2];
  };
  Scratch& scratch(std::size_t level);
  Frame& add_frames(std::size_t level);
  // The rows of a child, keyed with what is left to pay there.
  void child_rows(const Frame& parent, std::int32_t split, bool holds, RowSet& out);
  void use_earlier_solves(const Fingerprint& key, std::int32_t depth, Cost& lower);
  bool known_children(std::size_t level, std::int32_t split, std::int32_t depth, Cost target, Cost values[2]);
  std::int32_t add_stump(std::size_t level, bool splits, Tree& tree);

  void price_paths(Frame& frame, std::int32_t depth) const;
  void bound_children(Frame& frame, int holds, std::int32_t depth) const;
  void inherit_bounds(std::size_t level, std::int32_t depth);
  void look_children_up(std::size_t level, std::int32_t split);
  void look_ahead(std::size_t level, std::int32_t split, Cost bound, Scratch& s);
  void try_terminal(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound, Scratch& s);
  bool evaluate_sides(Frame& frame, std::int32_t split, std::int32_t depth, bool want_yes, bool want_no, Scratch& s);
  void try_deep(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound, Scratch& s);

  Context context_;
  bool is_main_;
  NodeFactory factory_;
  std::unique_ptr<DepthTwo> depth_two_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  AlignedArray<Cost> common_;  // for close_split
  Paid after_;                 // for child_rows
  Frame* root_ = nullptr;
  WayChooser chooser_;
  Counters counters_;
};

}  // namespace certree
