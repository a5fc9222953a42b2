// The best tree within limits on the whole tree, or the front of an objective and a gap, by depth-first search for the
// wanted points of every subproblem.
//
// A subproblem is a row set, a remaining depth and budgets for all planes, which are what the parent has left after the
// sibling's least values.  Bounds come first: `bound` finds the least values of the planes over the trees that can be
// wanted.  Then `search` lists the points themselves, which the tight budgets keep few.  docs/theory/limits.md
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/budget.hpp"
#include "base/lock.hpp"
#include "base/memory.hpp"
#include "data/limit_data.hpp"
#include "data/node.hpp"
#include "search/limits/bounds.hpp"
#include "search/limits/collector.hpp"
#include "search/limits/depth_two.hpp"
#include "search/limits/join.hpp"
#include "search/limits/points.hpp"
#include "search/limits/region.hpp"
#include "search/limits/root.hpp"
#include "search/limits/sums.hpp"
#include "search/shared/options.hpp"
#include "search/shared/plans.hpp"
#include "search/shared/points.hpp"

namespace certree {

// What the threads of a search share.
struct LimitShared {
  LimitShared(const LimitData& data, PointWatch& its_watch) : root(data), watch(its_watch) {}
  struct KnownBound {
    LimitRegion region;
    std::vector<Cost> lower;
  };
  std::mutex mutex;
  LimitRoot root;
  PointWatch& watch;
  std::unordered_map<Fingerprint, KnownBound, FingerprintHash> bounds;
};

// A split of the root.  Objectives are less what label 0 adds.
struct LimitSplit {
  bool is_open = false;        // bounds leave something that can be wanted
  std::vector<Cost> lower[2];  // [holds][plane]: bounds of its sides
  Cost least = 0;              // of the first plane
  Cost searched = -kInfinite;  // a tree with this objective or less was found, or is not there
  Cost found = kInfinite;      // the least that its search found
};

// One thread's part.
class LimitSearch {
 public:
  // `worker`: 0 is the thread that called.
  LimitSearch(const LimitData& data, const Options& options, Budget& budget, MemoryBudget& memory, LimitShared& shared,
              int worker);

  // Finds what is wanted.  False: stopped.  May throw MemoryLimitReached; whatever happens, what was found is valid.
  bool run();
  // The same in parts, for depth three and more: first the root, whose leaves are trees, too.
  bool open_root(bool takes_leaves);
  // Takes over what is wanted of the root now.
  void refresh();
  bool bound_root_split(std::int32_t column, LimitSplit& split);
  bool is_root_split_wanted(std::int32_t column, const LimitSplit& split);
  bool search_root_split(std::int32_t column, LimitSplit& split);
  // The splits of the root by what two levels below it save, the best first.
  std::vector<std::int32_t> root_order();
  // Begins again for another question, knowing nothing.
  void ask(LimitShared& shared);
  Tree tree(std::int32_t plan) const;
  const Counters& counters() const { return counters_; }
  std::int64_t n_table_entries() const { return static_cast<std::int64_t>(lists_.size()); }

 private:
  // A node under search.
  struct Level {
    Level(const LimitData& data, const Options& options, MemoryBudget& memory)
        : node(memory),
          sums(memory),
          children{LimitSums(memory), LimitSums(memory)},
          bounds{LimitBounds(data, options.min_leaf, options.isa, memory),
                 LimitBounds(data, options.min_leaf, options.isa, memory)},
          rows{RowSet(memory), RowSet(memory)},
          prices(memory),
          prices_below(memory),
          collector(data, options.use_limit_dominance),
          split_lower{AlignedArray<Cost>(memory), AlignedArray<Cost>(memory)} {}
    Node node;
    LimitSums sums;
    LimitSums children[2];  // [holds], of the split under search: depth two
    LimitBounds bounds[2];
    RowSet rows[2];
    Paid paid, paid_below;  // where tests have prices: here, and after the split under search
    TestPrices<Cost> prices, prices_below;
    LimitRegion region;
    std::vector<std::uint8_t> active;
    LimitPoints points;
    LimitCollector collector;  // into `points`
    LimitPoints found[2];
    std::vector<Cost> split;            // [plane]: what the split under search adds
    std::vector<Cost> lower[2];         // [holds][plane] of the split under search
    std::vector<Cost> most[2];          // [holds][plane]: no tree of this child adds more
    AlignedArray<Cost> split_lower[2];  // [holds], [split][plane]
    std::vector<std::int32_t> open;     // splits that bounds leave open, best first
  };
  struct Known {
    LimitRegion region;
    std::vector<std::uint8_t> active;
    LimitPoints points;
  };
  Level& level_at(std::size_t level);
  void make_root();
  void take_leaves();
  bool poll();
  bool open(std::size_t level, std::int32_t depth, std::int32_t split, bool holds);
  Fingerprint enter(std::size_t level, std::int32_t depth, std::int32_t split, bool holds);
  // What all rows of a node pay for a split, and what that and the split add to a plane.
  Cost paid_at(const Level& l, std::int32_t split) const {
    if (data_.tests() == nullptr) return 0;
    return l.prices.price(static_cast<std::size_t>(split)) * l.sums.view.totals[data_.paying_value()];
  }
  Cost split_value(const Level& l, std::int32_t split, std::size_t plane) const {
    return split_weights_[plane] + data_.price_weight(plane) * paid_at(l, split);
  }
  bool solve_shallow(std::size_t level, std::int32_t depth);
  bool bound(std::size_t level, std::int32_t depth, std::int32_t split, bool holds, std::vector<Cost>& lower);
  bool bound_splits(std::size_t level, std::int32_t depth, std::size_t n_planes);
  bool bound_split(std::size_t level, std::int32_t depth, std::int32_t split, std::size_t n_planes, bool* is_open);
  bool bound_terminal(Level& l, std::int32_t split, std::size_t n_planes, bool* is_open);
  bool bound_deep(std::size_t level, std::int32_t depth, std::int32_t split, bool* is_open);
  bool search(std::size_t level, std::int32_t depth, std::int32_t split, bool holds);
  bool search_splits(std::size_t level, std::int32_t depth);
  bool try_terminal(std::size_t level, std::int32_t split);
  bool try_deep(std::size_t level, std::int32_t depth, std::int32_t split);
  bool combine(std::size_t level, std::int32_t split);
  void take(const Cost* point, const Cost* values, std::int32_t plan);
  void start_split(Level& l, std::int32_t depth, std::int32_t split);
  bool is_wanted(const Level& l, std::size_t n_planes);
  bool is_wanted(const Level& l) { return is_wanted(l, data_.n_bounded()); }
  void set_active(Level& l, std::int32_t depth);
  void set_child_active(const LimitRegion& region, const Cost* most, std::vector<std::uint8_t>& active) const;
  bool recall(const Fingerprint& key, Level& l);
  void remember(const Fingerprint& key, const Level& l);
  void charge();
  std::int32_t smaller_child(const Level& l, std::int32_t split) const;
  std::int32_t add_tree(std::int32_t plan, const std::vector<Word>& rows, Tree& tree) const;

  const LimitData& data_;
  Options options_;
  Budget& budget_;
  MemoryBudget& memory_;
  PointWatch& watch_;
  LimitShared* first_;   // the first question
  LimitShared* shared_;  // the question at hand
  int worker_;
  NodeFactory factory_;
  LimitAdder adder_;
  LimitDepthTwo depth_two_;
  LimitJoin join_;
  std::vector<std::unique_ptr<Level>> levels_;
  Plans plans_;
  std::unordered_map<Fingerprint, Known, FingerprintHash> lists_;
  std::int64_t list_bytes_ = 0, bound_bytes_ = 0;
  std::int64_t first_bytes_ = 0;  // of the bounds for the first question
  std::int64_t charged_ = 0;
  std::vector<Cost> split_weights_;
  // Scratch.
  std::vector<Cost> values_, point_;
  std::vector<std::uint8_t> child_active_;
  LimitRegion left_;
  Counters counters_;
  // Of the root split under search: the least objective found, and the most that was wanted from its start on, finds of its
  // own apart.
  Cost found_ = kInfinite, wanted_ = kInfinite;
};

}  // namespace certree
