// The Pareto front of (fp, fn) over all trees within a depth, a number of splits and a least leaf size, by depth-first
// branch and bound over splits.
//
// A subproblem is a row set, a remaining depth and an excluded set of points: what its caller has or cannot use.  `solve`
// adds to the excluded set the points of trees until every tree of the subproblem is in it; then the set is at once the
// wanted part of the front and a lower bound.  A split is left out when the bounds of its children leave nothing
// outside of the excluded set, and a child is asked only for what its sibling's bounds leave it (reverse-front
// subtraction).  With one set per number of splits the same search answers limits on splits and the front in three
// objectives.  docs/theory/front.md
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "data/node.hpp"
#include "search/front.hpp"
#include "search/front_depth_two.hpp"
#include "search/front_directions.hpp"
#include "search/options.hpp"
#include "search/plans.hpp"
#include "search/points.hpp"

namespace certree {

class FrontSearch {
 public:
  FrontSearch(const Dataset& data, const Options& options, const FrontSlots& slots, std::int32_t depth, Budget& budget,
              MemoryBudget& memory, PointObserver observer);

  // Finds the front of everything that is not at or above one of these points.  May throw MemoryLimitReached; whatever
  // happens, the results below are valid.
  void run(const FrontPoints& dominated);
  bool is_complete() const { return is_complete_; }
  // Whether there is a front yet, if only that of the leaves.
  bool has_begun() const { return !levels_.empty() && !levels_.front()->excluded.empty(); }
  // Points (fp, fn, splits): nondominated in (fp, fn) with at most `slots.max_splits` splits, or in all three.
  std::vector<PointTree> front(bool by_splits) const;
  // Every wanted tree is at or above one of these.
  std::vector<Point> lower() const;
  const std::vector<PointEvent>& history() const { return watch_.history(); }
  Counters& counters() { return counters_; }
  std::int64_t n_table_entries() const { return static_cast<std::int64_t>(known_.size()); }

 private:
  // A node under search.
  struct Level {
    explicit Level(MemoryBudget& memory)
        : node(memory),
          expansion(memory),
          rows{RowSet(memory), RowSet(memory)},
          child_lower{AlignedArray<Cost>(memory), AlignedArray<Cost>(memory)},
          negatives(memory),
          positives(memory),
          unavoidable(memory) {}
    Node node;
    FrontExpansion expansion;
    RowSet rows[2];      // children of the split under search, [holds]
    Cost total[2] = {};  // negatives, positives
    Cost total_unavoidable = 0;
    std::vector<Stairs> excluded;       // [slot]
    std::vector<Wanted> wanted;         // [slot]: outside of it
    bool is_stale = true;               // `wanted` is older than `excluded`
    std::vector<FrontPoints> result;    // [slot]: minimal points of `excluded` at the end
    std::vector<FrontPoints> found[2];  // [holds][slot]: results or bounds of the children of the split under search
    std::vector<Cost> lower[2];         // [holds][slot][direction] of those children
    std::vector<Cost> known;            // [slot][direction] of this node, from its parent
    std::vector<Cost> merged;           // [slot][direction] of the split under search
    AlignedArray<Cost> child_lower[2];  // [holds], [slot][direction][split]
    AlignedArray<Cost> negatives, positives, unavoidable;  // where a split's column holds
    std::vector<std::int32_t> order;
    std::vector<std::uint8_t> closed;  // per split: everything it has is in `excluded`
    bool is_open = false;
  };
  // Two children and where their sum goes.
  struct Division {
    std::size_t yes, no, sum;
  };
  struct Record {
    std::size_t begin = 0;             // in pool_
    std::vector<std::uint32_t> sizes;  // per slot
  };

  Level& level_at(std::size_t level);
  std::size_t n_directions() const { return directions_.size(); }
  const std::vector<Division>& divisions(std::int32_t depth);
  bool poll();
  void record_root();
  bool solve(std::size_t level, std::int32_t depth, std::int32_t split, bool holds);
  bool close(std::size_t level, std::int32_t depth, const Fingerprint& key);
  bool open(std::size_t level, std::int32_t depth, std::int32_t split, bool holds);
  bool add_depth_two_front(std::size_t level, std::int32_t depth);
  bool search_splits(std::size_t level, std::int32_t depth);
  void start_children(Level& l, std::int32_t depth);
  void order_splits(Level& l);
  bool try_terminal(std::size_t level, std::int32_t split, std::int32_t depth);
  bool try_deep(std::size_t level, std::int32_t split, std::int32_t depth);
  bool combine(Level& l, std::int32_t split, std::int32_t depth);
  void spread(Level& l, std::int32_t split, std::int32_t depth);
  void merge_lower(Level& l, std::int32_t depth);
  bool is_wanted(Level& l, std::int32_t depth);
  void refresh(Level& l);
  void bound_by_directions(Level& l, std::int32_t split, std::int32_t depth, int holds);
  bool subtract(Level& l, std::int32_t split, std::int32_t depth, int holds, std::vector<Stairs>& out);
  void raise_lower(Level& l, int holds);
  Cost child_total(const Level& l, std::int32_t split, int holds, int type) const;
  std::int32_t plan_of(const Origin& origin);
  std::int32_t plan_of_side(std::int32_t side);
  std::int32_t plan_of_depth_two(const Origin& origin);
  void extract(const std::vector<Stairs>& stairs, bool is_depth_two, std::vector<FrontPoints>& out);
  bool recall(const Fingerprint& key, std::int32_t depth, Level& l);
  bool raise_by_table(const Fingerprint& key, std::int32_t depth, Level& l, int holds);
  void remember(const Fingerprint& key, std::int32_t depth, std::size_t level);
  void forget(std::size_t level);
  std::int64_t table_bytes() const;

  const Dataset& data_;
  Options options_;
  FrontSlots slots_;
  std::int32_t depth_;
  std::int32_t searched_depth_ = 0;  // of the search at the root, at most depth_
  Budget& budget_;
  MemoryBudget& memory_;
  PointWatch watch_;
  NodeFactory factory_;
  std::unique_ptr<FrontDepthTwo> depth_two_;
  Directions directions_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::vector<std::vector<Division>> divisions_;  // per depth
  Plans plans_{2};
  std::unordered_map<Fingerprint, Record, FingerprintHash> known_;
  std::vector<FrontPoint> pool_;
  std::int64_t charged_ = 0;
  // Scratch.
  std::vector<Stairs> scratch_;
  std::vector<Wanted> scratch_wanted_;
  std::vector<Corners> candidates_;
  std::vector<Cost> room_;
  AlignedArray<Cost> common_[2];
  Counters counters_;
  bool is_complete_ = false;
};

}  // namespace certree
