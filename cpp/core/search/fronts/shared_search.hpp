// The threads of a search for a front: rounds of growing depth, in each of them the splits of the root one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/thread_pool.hpp"
#include "search/fronts/search.hpp"

namespace certree {

class SharedFrontSearch {
 public:
  SharedFrontSearch(const Dataset& data, const Options& options, const FrontSlots& slots, std::int32_t depth,
                    Budget& budget, MemoryBudget& memory, PointObserver observer);

  // Finds the front of everything that is not at or above one of these points.  May throw MemoryLimitReached; whatever
  // happens, the results below are valid.
  void run(const FrontPoints& dominated);
  bool is_complete() const { return is_complete_; }
  // Whether there is a front yet, if only that of the leaves.
  bool has_begun() const { return !root_.excluded.empty(); }
  // Points (fp, fn, splits): nondominated in (fp, fn) with at most `slots.max_splits` splits, or in all three.
  std::vector<PointTree> front(bool by_splits) const;
  // Every wanted tree is at or above one of these.
  std::vector<Point> lower();
  const std::vector<PointEvent>& history() const { return root_.watch.history(); }
  Counters counters() const;

 private:
  void start_round(std::int32_t depth, const FrontPoints& dominated);
  bool search(std::int32_t depth);

  const Dataset& data_;
  const Options& options_;
  FrontSlots slots_;
  std::int32_t depth_;
  Budget& budget_;
  FrontRoot root_;
  ThreadPool threads_;
  std::vector<std::unique_ptr<FrontSearch>> searches_;  // one per thread
  bool is_last_open_ = false;                           // the root, for trees of the whole depth
  bool is_complete_ = false;
};

}  // namespace certree
