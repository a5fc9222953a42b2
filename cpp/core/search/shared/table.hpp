// The transposition table: what is known of subproblems seen before, keyed by the fingerprint of the row set and the
// remaining depth.  Memory is bounded: the table doubles until its share is used, then replaces the entry that took the
// least effort in its bucket.  Forgetting an entry only costs time: every entry is a proven interval, none is needed.
// Threads lock the stripe that a key is of, all stripes to grow.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "search/shared/assignment.hpp"

namespace certree {

// Where the tree of value `upper` comes from.
enum : std::int32_t {
  kLeafTree = -1,      // a leaf
  kDepthTwoTree = -2,  // the depth-two optimum of the node
  kShallowTree = -3,   // the tree stored for one level less
  kNoTree = -4,        // nothing is stored but the bound
};

struct Record {
  Interval interval;
  std::int32_t column = kNoTree;  // the data set's column of the root, or one of the above
};

class Table {
 public:
  // `shared`: several threads use it.
  Table(MemoryBudget& memory, std::int64_t max_bytes, bool shared);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  bool find(const Fingerprint& key, Record& out) const;
  // A hint that `find` will be called soon.  Not for shared tables, which may move.
  void prefetch(const Fingerprint& key) const {
    if (!stripes_ && n_buckets_ > 0) __builtin_prefetch(bucket(key));
  }
  // Merges with what is stored: the interval only shrinks.  `effort`: evaluations spent, decides what is replaced.
  void store(const Fingerprint& key, const Record& record, std::uint32_t effort);

  // Exchanges the entries, not how large they may get; both tables are of one solve's memory.
  void swap(Table& other);
  // From now on, what takes at least so much effort is written to the journal, too.
  void keep_journal(std::vector<SharedEntry>* journal, std::int64_t least_effort) {
    journal_ = journal;
    least_effort_ = least_effort;
  }
  void limit(std::int64_t max_bytes) {
    max_bytes_ = std::max<std::int64_t>(max_bytes, 1);
    is_full_ = false;
  }

  std::int64_t n_entries() const { return used_.load(std::memory_order_relaxed); }
  std::int64_t n_evictions() const { return evictions_.load(std::memory_order_relaxed); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(n_buckets_ * kBucket * sizeof(Entry)); }

 private:
  struct Entry {
    Fingerprint key;
    Cost lower = 0;
    Cost upper = 0;
    std::int32_t column = 0;
    std::uint32_t effort = 0;  // 0: empty
  };
  static constexpr std::size_t kBucket = 4;
  struct alignas(64) Stripe {
    std::mutex mutex;
  };
  // No more than the least number of buckets, which is a power of two, too: a bucket is of one stripe.
  static constexpr std::size_t kStripes = 64;
  using Stripes = std::array<Stripe, kStripes>;

  std::unique_lock<std::mutex> lock(const Fingerprint& key) const {
    if (!stripes_) return {};
    return std::unique_lock((*stripes_)[key.low % kStripes].mutex);
  }
  Entry* bucket(const Fingerprint& key) const { return entries_ + (key.low & (n_buckets_ - 1)) * kBucket; }
  void put(const Entry& entry);
  bool is_crowded() const {
    return static_cast<std::size_t>(n_entries()) * 5 > n_buckets_.load(std::memory_order_relaxed) * kBucket * 3;
  }
  void grow_if_crowded();
  bool grow();

  MemoryBudget& memory_;
  std::int64_t max_bytes_;
  std::unique_ptr<Stripes> stripes_;  // null: one thread uses the table
  Entry* entries_ = nullptr;
  std::atomic<std::size_t> n_buckets_{0};
  std::atomic<bool> is_full_{false};
  std::atomic<std::int64_t> used_{0}, evictions_{0};
  std::mutex journal_mutex_;
  std::vector<SharedEntry>* journal_ = nullptr;
  std::int64_t least_effort_ = 0;
};

}  // namespace certree
