// The error-versus-splits curve of the whole problem in one search: for every k the least leaf cost of a tree with at most
// k splits.
//
// A subproblem's value is an array over the number of splits; two children combine by (min,+) convolution.  A child is
// searched once with an array of ceilings, not once per way of dividing the splits between the children, and the depth-two
// pass fills the entries 0 to 3.  The curve answers every limit on the number of splits and, by its lower convex hull,
// every complexity.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/columns/worker.hpp"
#include "search/shared/curve_table.hpp"
#include "search/shared/path_entry.hpp"
#include "search/shared/sized_trees.hpp"

namespace certree {

class Improver;

class PathSearch {
 public:
  // At most `max_splits` splits and `depth` levels.
  PathSearch(const Context& context, std::int32_t depth, std::int64_t max_splits);

  // The best tree for the context's objective: raises context.progress.
  void run(Counters& counters);
  // Every entry of the curve, exact unless stopped.  Entries may be missing if the budget ended: `is_whole` tells.
  std::vector<PathEntry> run_whole(Counters& counters);
  bool is_whole() const { return is_whole_; }

 private:
  using Needs = std::vector<Cost>;

  struct Level {
    Curve curve, child[2], found;
    Needs need, child_need;
    RowSet rows[2];
    std::vector<Cost> lower;  // [split][k]
    std::vector<std::int32_t> order;
    AlignedArray<Cost> common;
    explicit Level(MemoryBudget& memory) : rows{RowSet(memory), RowSet(memory)}, common(memory) {}
  };

  Level& level_at(std::size_t level);
  std::size_t capacity(std::int32_t depth) const;
  bool is_closed(const Curve& curve, const Needs& need) const;
  // The curve of the whole problem, with turns of the improver before it and in between; `need` is asked for per turn.
  template <class NeedNow>
  void solve_in_turns(Improver& improver, Curve& curve, NeedNow need);
  // Narrows the curve of the node in frame(level); `need` per entry.
  void solve(std::size_t level, std::int32_t depth, const Needs& need, Curve& curve);
  void search_splits(std::size_t level, std::int32_t depth, const Needs& need, Curve& curve);
  void start_curve(const Frame& frame, Curve& curve) const;
  void start_child(const Frame& frame, const Curve& parent, std::int32_t split, bool holds, Curve& child) const;
  void try_split(std::size_t level, std::int32_t split, std::int32_t depth, const Needs& bound, Curve& curve);
  void solve_child(std::size_t level, std::int32_t split, int holds, std::int32_t depth, const Needs& bound);
  // `test`: what the test of the root costs.
  void combine(const Curve& yes, const Curve& no, Cost test, Curve& out) const;
  Cost test_cost(const Frame& frame, std::int32_t split) const;
  // Whether a tree made for some rows bounds one for others.  Where tests cost, the other rows pay for its tests too
  // (docs/theory/test-costs.md).
  bool has_free_tests() const { return context_.tests == nullptr; }
  bool can_improve(const Cost* lower, const Needs& bound) const;
  void spread(const Frame& frame, Level& l, std::int32_t split, std::size_t width, const Cost* lower);
  void recall(const Fingerprint& key, std::int32_t depth, Curve& curve);
  void remember(const Fingerprint& key, std::int32_t depth, const Curve& curve);
  Cost value_of(const Curve& curve, std::size_t k) const;
  Needs needs_for_objective(const Curve& curve) const;
  void publish(const Curve& curve);
  Cost add_tree(std::size_t level, std::int32_t depth, std::size_t splits, const Curve* given, Tree& tree,
                std::int32_t* root);
  bool add_canonical_tree(std::size_t level, std::int32_t depth, std::size_t splits, Cost cost, Tree& tree,
                          std::int32_t* root);
  void make_canonical(const Curve& curve);
  void solve_whole(Curve& curve, SizedTrees& grown);
  // Gives an entry its tree: the canonical one, the one found, or, where the budget ends before these are rebuilt, the best one
  // grown, whose cost may be higher.  False: there is none.
  bool add_entry_tree(const Curve& curve, const SizedTrees& grown, PathEntry& entry);
  bool is_done() const;

  const Context& context_;
  std::int32_t depth_;
  std::size_t max_splits_;
  bool is_whole_ = true;
  bool follows_objective_ = false;  // at the root only what can beat the incumbent is needed
  Worker worker_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::unique_ptr<CurveTable> own_table_;  // where the context has none
  CurveTable& known_;
};

}  // namespace certree
