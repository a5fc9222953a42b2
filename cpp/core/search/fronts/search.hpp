// The Pareto front of (fp, fn) over all trees within a depth, a number of splits and a least leaf size, by depth-first
// branch and bound over splits.
//
// A subproblem is a row set, a remaining depth and an excluded set of points: what its caller has or cannot use.  `solve`
// adds to the excluded set the points of trees until every tree of the subproblem is in it; then the set is at once the
// wanted part of the front and a lower bound.  A split is left out when the bounds of its children leave nothing
// outside of the excluded set, and a child is asked only for what its sibling's bounds leave it (reverse-front
// subtraction).  With one set per number of splits the same search answers limits on splits and the front in three
// objectives.  docs/theory/front.md
//
// Threads take the splits of the root in their order, each against what was found before it began
// (search/fronts/shared_search.hpp).  A point that several trees have goes to the first split that has it, whichever thread
// comes first, and the tree of a point below a split does not depend on what is excluded: so the front is the same for any
// number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/budget.hpp"
#include "base/lock.hpp"
#include "base/memory.hpp"
#include "data/node.hpp"
#include "search/fronts/depth_two.hpp"
#include "search/fronts/directions.hpp"
#include "search/fronts/front.hpp"
#include "search/shared/options.hpp"
#include "search/shared/plans.hpp"
#include "search/shared/points.hpp"
#include "search/shared/shared_root.hpp"

namespace certree {

// What the threads of one search know of the root.
struct FrontRoot {
  FrontRoot(Budget& budget, PointObserver observer) : watch(budget, std::move(observer)) {}

  std::mutex mutex;
  // [slot]; an origin is (place of the split in the order of the root, counted from 1, or 0 for what was there before; tree).
  std::vector<Stairs> excluded;
  std::vector<Tree> trees;
  std::int64_t version = 0;        // of `excluded`
  std::size_t next = 0;            // place of the next split; who takes it reads `excluded` at once
  SharedBounds child_lower[2];     // [holds], [slot][direction][split]
  std::vector<std::uint8_t> done;  // per split: everything it has is in `excluded`
  PointWatch watch;
};

class FrontSearch {
 public:
  // `number`: of the thread; the first one tells the outside.
  FrontSearch(const Dataset& data, const Options& options, const FrontSlots& slots, Budget& budget,
              MemoryBudget& memory, FrontRoot& root, int number);

  // Opens the root for trees of some depth: its depth-two front is then known here.  False: stopped.
  bool open_root(std::int32_t depth);
  std::size_t n_root_splits() const { return levels_.front()->order.size(); }
  // Gives others the trees that were found since the root was read; `place` as above.
  void share_root(std::int32_t place);
  // Searches the next split of the root, and shares what it has.  False: stopped.
  bool search_next_split(std::int32_t depth);
  // Every wanted tree of this depth is at or above one of these, or a point that was found.
  void add_open_bounds(std::int32_t depth, std::vector<Point>& out);
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
  void read_root();
  void join_bounds(Level& l);
  bool solve(std::size_t level, std::int32_t depth, std::int32_t split, bool holds);
  bool close(std::size_t level, std::int32_t depth, const Fingerprint& key);
  bool open(std::size_t level, std::int32_t depth, std::int32_t split, bool holds);
  bool add_depth_two_front(std::size_t level, std::int32_t depth);
  void prepare_splits(Level& l, std::int32_t depth);
  bool search_splits(std::size_t level, std::int32_t depth);
  bool search_split(std::size_t level, std::int32_t split, std::int32_t depth);
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
  Budget& budget_;
  MemoryBudget& memory_;
  FrontRoot& root_;
  int number_;
  std::int32_t root_depth_ = 0;
  std::int64_t seen_ = -1;  // version of what is excluded at the root
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
};

}  // namespace certree
