// Threads that search best-first from one root, each with frames of its own (search/shared/best_first.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/lock.hpp"
#include "base/thread_pool.hpp"

namespace certree {

// The way that each worker has taken at each level, so that others take another one: a hint, never a lock.
class TakenWays {
 public:
  explicit TakenWays(int workers) : ways_(static_cast<std::size_t>(workers) * kLevels) {}

  void enter(int worker, std::size_t level, std::uint64_t node, std::int32_t way) {
    if (ways_.size() > kLevels && level < kLevels) at(worker, level).store(tag(node, way), std::memory_order_relaxed);
  }
  // Those of the other workers at this node.
  void taken(int worker, std::size_t level, std::uint64_t node, std::vector<std::int32_t>& out) const {
    out.clear();
    for (std::size_t w = level; level < kLevels && ways_.size() > kLevels && w < ways_.size(); w += kLevels) {
      if (w / kLevels == static_cast<std::size_t>(worker)) continue;
      const std::uint64_t seen = ways_[w].load(std::memory_order_relaxed);
      if (((seen ^ node) & ~kWay) == 0) out.push_back(static_cast<std::int32_t>(seen & kWay) - 1);
    }
  }

 private:
  static constexpr std::size_t kLevels = 32;
  static constexpr std::uint64_t kWay = 0xffff;

  static std::uint64_t tag(std::uint64_t node, std::int32_t way) {
    return (node & ~kWay) | (static_cast<std::uint64_t>(way + 1) & kWay);
  }
  std::atomic<std::uint64_t>& at(int worker, std::size_t level) {
    return ways_[static_cast<std::size_t>(worker) * kLevels + level];
  }

  std::vector<std::atomic<std::uint64_t>> ways_;
};

// The way with the least lower bound, of equal ones the best guess, and the next best bound.
struct NextWay {
  std::int32_t best = -1;
  Cost second = kInfinite;
};

// The ways at a node.
struct Ways {
  std::uint64_t node;  // part of its key
  std::int32_t n;
  const Cost* lower;
  const Cost* guess;  // what the best tree may cost
  const std::uint8_t* closed;
};

// Ways that are taken count only if no other is open below `bound`.  -1: none is open below it.
inline NextWay next_way(const Ways& ways, Cost bound, const std::vector<std::int32_t>& taken) {
  const auto& [node, n, lower, guess, closed] = ways;
  NextWay out;
  for (std::int32_t k = 0; k < n; ++k) {
    if (closed[k] || (!taken.empty() && std::find(taken.begin(), taken.end(), k) != taken.end())) continue;
    if (out.best < 0 || lower[k] < lower[out.best] || (lower[k] == lower[out.best] && guess[k] < guess[out.best])) {
      if (out.best >= 0) out.second = lower[out.best];
      out.best = k;
    } else {
      out.second = std::min(out.second, lower[k]);
    }
  }
  if (out.best >= 0 && lower[out.best] < bound) return out;
  return taken.empty() ? NextWay{} : next_way(ways, bound, {});
}

// Chooses the ways of one worker.
class WayChooser {
 public:
  // `ways`: null, if there are no other threads.
  WayChooser(TakenWays* ways, int worker) : taken_ways_(ways), worker_(worker) {}

  int worker() const { return worker_; }
  // The way to take next below `bound`; -1: there is none.
  NextWay choose(std::size_t level, const Ways& ways, Cost bound) {
    if (taken_ways_ != nullptr) taken_ways_->taken(worker_, level, ways.node, taken_);
    const NextWay next = next_way(ways, bound, taken_);
    if (taken_ways_ != nullptr && next.best >= 0) taken_ways_->enter(worker_, level, ways.node, next.best);
    return next;
  }

 private:
  TakenWays* taken_ways_;
  int worker_;
  std::vector<std::int32_t> taken_;
};

class SharedRoot {
 public:
  explicit SharedRoot(int threads) : threads_(threads), taken_ways_(threads_.size()) {}

  int size() const { return threads_.size(); }
  TakenWays& taken_ways() { return taken_ways_; }
  std::mutex& mutex() { return mutex_; }

  // Calls drive(worker) in all threads until the first of them returns, or so much work is done.  A thread that finds no
  // memory leaves the search to the others; the first is the caller.
  void run(Budget& budget, std::int64_t more_work, const std::function<void(int worker)>& drive,
           const std::function<void()>& idle) {
    Turn turn(budget, more_work);
    const auto task = [&](int worker, std::int64_t) {
      try {
        drive(worker);
      } catch (const std::bad_alloc&) {
        if (worker > 0) return;
        budget.stop(StopReason::memory);
      } catch (...) {
        budget.stop(StopReason::interrupted);
        throw;
      }
      turn.end();
    };
    threads_.run(threads_.size(), task, idle);
  }

 private:
  ThreadPool threads_;
  TakenWays taken_ways_;
  std::mutex mutex_;
};

// Bounds that threads share: afterwards both know the better ones.
class SharedBounds {
 public:
  void join_lower(Cost* own, std::size_t n) {
    start(own, n);
    for (std::size_t k = 0; k < n; ++k) own[k] = bounds_[k] = std::max(bounds_[k], own[k]);
  }
  void join_upper(Cost* own, std::size_t n) {
    start(own, n);
    for (std::size_t k = 0; k < n; ++k) own[k] = bounds_[k] = std::min(bounds_[k], own[k]);
  }

 private:
  void start(const Cost* own, std::size_t n) {
    if (bounds_.empty()) bounds_.assign(own, own + n);
  }

  std::vector<Cost> bounds_;
};

}  // namespace certree
