// What searches for many trees share: the points of trees, and what the outside sees of a running search.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/tree.hpp"

namespace certree {

using Point = std::vector<Cost>;  // what the tree adds up to, quantity by quantity; the last one is its splits

struct PointTree {
  Point point;
  Tree tree;
};

struct PointEvent {
  double seconds = 0;
  std::int64_t work = 0;
  std::int64_t n_points = 0;
};
// Called from the thread that searches: after changes and every 50 ms.  True: stop.
using PointObserver = std::function<bool(const PointEvent&)>;

class PointWatch {
 public:
  PointWatch(Budget& budget, PointObserver observer) : budget_(budget), observer_(std::move(observer)) {}

  // Any thread may record.
  void record(std::int64_t n_points) {
    const std::lock_guard lock(mutex_);
    history_.push_back({budget_.seconds(), budget_.work(), n_points});
  }
  // To be called often from the main thread, and never under a lock.  An observer that asked to stop is not called again.
  void observe() {
    if (!observer_ || budget_.reason() == StopReason::interrupted) return;
    const double seconds = budget_.seconds();
    std::int64_t n_points = 0;
    {
      const std::lock_guard lock(mutex_);
      if (!pulse_.is_due(seconds, history_.size())) return;
      if (!history_.empty()) n_points = history_.back().n_points;
    }
    budget_.check_no_lock();
    if (observer_({seconds, budget_.work(), n_points})) budget_.stop(StopReason::interrupted);
  }
  // Once all threads are back.
  const std::vector<PointEvent>& history() const { return history_; }

 private:
  Budget& budget_;
  PointObserver observer_;
  std::mutex mutex_;
  Pulse pulse_;
  std::vector<PointEvent> history_;
};

}  // namespace certree
