// Threads that share a search within limits: the splits of the root, one after the other.
//
// The least objective does not depend on who finds it first, but the tree does.  So in the end the first split, by what two
// levels below it save, that has a tree with the least objective is searched again by itself, and the tree is the same for
// any number of threads.  Fronts, which have many trees, are searched by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "search/limits/search.hpp"

namespace certree {

class SharedLimitSearch {
 public:
  SharedLimitSearch(const LimitData& data, const Options& options, Budget& budget, MemoryBudget& memory,
                    PointObserver observer);

  // Finds what is wanted.  May throw MemoryLimitReached; whatever happens, what was found is valid.
  void run();
  bool is_complete() const { return is_complete_; }
  // What was found, with quantities and splits as the caller counts them.
  std::vector<PointTree> trees() const;
  const std::vector<PointEvent>& history() const { return watch_.history(); }
  Counters counters() const;

 private:
  bool is_shared() const { return !data_.task().is_front() && data_.depth() > 2; }
  // Calls task(search, number) for the numbers up to n by the threads.  False: stopped.
  template <class Task>
  bool share(std::size_t n, const Task& task);
  bool search_splits();
  bool settle(Cost best);
  bool settle_split(LimitSearch& search, std::int32_t column, Cost best, std::optional<PointTree>& out);

  const LimitData& data_;
  Options options_;
  Budget& budget_;
  MemoryBudget& memory_;
  PointWatch watch_;
  LimitShared shared_;
  ThreadPool threads_;
  std::vector<std::unique_ptr<LimitSearch>> searches_;  // one per thread
  std::vector<std::int32_t> order_;                     // the columns of the root, as they are settled
  std::vector<LimitSplit> splits_;                      // of each column
  std::optional<PointTree> settled_;
  bool is_complete_ = false;
};

}  // namespace certree
