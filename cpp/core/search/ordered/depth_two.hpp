// The best tree of depth two over ordered features.
//
// Pairs of features are counted by bins.  Where every rank is a bin of its own that is the whole answer; where bins hold
// several ranks, the thresholds inside of them are bounded by dropped rows (bounds/dropped_rows.hpp), and those bins that
// stay open are bisected (bounds/threshold_interval.hpp), with exact second splits.
#pragma once

#include <cstdint>
#include <memory>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "search/ordered/node.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"

namespace certree {

// What is known of the best tree of a row set.
struct OrderedFound {
  Cost lower = 0;
  Cost loose = 0;  // a lower bound for leaves of any size: these alone say something of fewer or more rows
  Cost upper = kInfinite;
};

// A root test; feature -1: none, the tree is a leaf.
struct OrderedSplit {
  std::int32_t feature = -1;
  std::int32_t rank = -1;  // the test holds up to this rank
};

struct OrderedCounters {
  std::int64_t pair_tables = 0;
  std::int64_t bit_pairs = 0;
  std::int64_t thresholds = 0;  // evaluated one by one
  void add(const OrderedCounters& more) {
    pair_tables += more.pair_tables;
    bit_pairs += more.bit_pairs;
    thresholds += more.thresholds;
  }
};

class OrderedDepthTwo {
 public:
  virtual ~OrderedDepthTwo() = default;
  // Narrows what is known until it is exact, or `lower` reaches `ceiling`.  `splits`: 3, or 2 at most.
  // `by_root`: for every feature a lower bound, for leaves of any size, of the trees with it at the root; raised here.
  virtual OrderedFound solve(const OrderedRows& rows, std::int64_t splits, Cost ceiling, Cost* by_root,
                             OrderedSplit* split) = 0;
  // The same for the same rows as the last call, with fewer splits: what was counted then bounds this, too.  It ends before
  // pairs are counted that did not matter then.
  virtual OrderedFound solve_again(std::int64_t splits, Cost ceiling, Cost* by_root, OrderedSplit* split) = 0;
  // The best tree of depth one; a lower bound of 0: the budget ended before all was looked at.
  virtual OrderedFound best_split(const OrderedRows& rows, OrderedSplit* split) = 0;
  virtual Cost leaf_value(const OrderedRows& rows, std::int32_t* label) = 0;
  OrderedCounters counters;
};

std::unique_ptr<OrderedDepthTwo> make_ordered_depth_two(const OrderedData& data, const Options& options,
                                                        const Objective& objective, Budget& budget,
                                                        MemoryBudget& memory, Progress& progress);

}  // namespace certree
