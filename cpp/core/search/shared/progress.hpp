// What the outside sees of a running solve: incumbent, bound, history; and its way to stop it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/check.hpp"
#include "base/cost.hpp"
#include "search/shared/tree.hpp"

namespace certree {

struct ProgressEvent {
  double seconds = 0;
  std::int64_t work = 0;
  Cost upper = kInfinite;
  Cost lower = 0;
};

// Called from the thread that called solve: after every change, and every 50 ms.  True: stop.
using Observer = std::function<bool(const ProgressEvent&)>;

// When an observer is to be called.
class Pulse {
 public:
  bool is_due(double seconds, std::size_t n_changes) {
    if (seconds < next_s_ && n_changes == n_seen_) return false;
    next_s_ = seconds + 0.05;
    n_seen_ = n_changes;
    return true;
  }

 private:
  double next_s_ = 0.05;
  std::size_t n_seen_ = 0;
};

class Progress {
 public:
  // `unit`: what one unit of the caller's values is here (base/cost.hpp); 0: this is a part of another search, which has no
  // ties to break.
  Progress(Budget& budget, Observer observer, Cost unit)
      : budget_(budget), observer_(std::move(observer)), unit_(unit) {}

  // A better tree, or one of the same value and less depth.  Keeps it, so that stopping at any time has something to return.
  void improve(Cost value, Tree tree) {
    const std::lock_guard lock(mutex_);
    if (value < now_.lower) report_crossing("a tree", value, "a lower bound", now_.lower);
    if (value == now_.upper && !tree_.nodes.empty() && tree.depth() < tree_.depth()) tree_ = std::move(tree);
    if (value >= now_.upper) return;
    now_.upper = value;
    is_assumed_ = false;
    tree_ = std::move(tree);
    record();
  }
  // Only trees that cost less than this are looked for: the caller has one of this value, or does not need one.
  void assume(Cost value) {
    const std::lock_guard lock(mutex_);
    if (value < now_.upper) {
      now_.upper = value;
      is_assumed_ = true;
    }
    record();
  }
  // What one leaf costs, which is a tree, too: what the outside sees until there is a better one.
  void show_leaf(Cost value) {
    const std::lock_guard lock(mutex_);
    leaf_ = std::min(leaf_, value);
  }
  // A better lower bound for the whole problem.  No bound is above the value of a tree that was found; it can be above a
  // value that the caller asked to beat, which is then all that is told.
  void raise(Cost lower) {
    const std::lock_guard lock(mutex_);
    if (lower <= now_.lower) return;
    if (lower > now_.upper && !is_assumed_) report_crossing("a lower bound", lower, "a tree", now_.upper);
    now_.lower = std::min(lower, now_.upper);
    record();
  }
  Interval interval() const {
    const std::lock_guard lock(mutex_);
    return {now_.lower, now_.upper};
  }
  // No tree is better by more than the gap, or only a choice is left among trees that cost the caller the same.
  bool is_closed(Cost gap) const {
    const std::lock_guard lock(mutex_);
    return now_.upper - now_.lower <= gap || (unit_ > 0 && now_.upper / unit_ == now_.lower / unit_);
  }
  void replace_tree(Tree tree) {
    const std::lock_guard lock(mutex_);
    tree_ = std::move(tree);
  }
  Cost unit() const { return unit_; }
  Observer release_observer() { return std::move(observer_); }
  const Tree& tree() const { return tree_; }
  const std::vector<ProgressEvent>& history() const { return history_; }

  // To be called often from the main thread.  An observer that asked to stop is not called again, and it only sees values that
  // some tree has: before the first leaf it is not called.
  void observe() {
    if (!observer_ || budget_.reason() == StopReason::interrupted) return;
    const double seconds = budget_.seconds();
    ProgressEvent event;
    {
      const std::lock_guard lock(mutex_);
      if (std::min(now_.upper, leaf_) >= kInfinite || !pulse_.is_due(seconds, history_.size())) return;
      event = now_;
      event.upper = std::min(event.upper, leaf_);
    }
    event.seconds = seconds;
    event.work = budget_.work();
    event.upper /= unit_;
    event.lower /= unit_;
    budget_.check_no_lock();
    if (observer_(event)) budget_.stop(StopReason::interrupted);
  }

 private:
  [[noreturn]] static void report_crossing(const char* one, Cost value, const char* other, Cost than) {
    alarm(std::string(one) + " of " + std::to_string(value) + " contradicts " + other + " of " + std::to_string(than));
  }
  void record() {
    // Only a choice is left among trees that cost the caller the same: worth a limited effort.
    if (unit_ > 0 && now_.upper / unit_ == now_.lower / unit_) budget_.grant_effort();
    now_.seconds = budget_.seconds();
    now_.work = budget_.work();
    if (now_.upper < kInfinite) history_.push_back(now_);
  }

  Budget& budget_;
  Observer observer_;
  mutable std::mutex mutex_;
  ProgressEvent now_;
  bool is_assumed_ = false;  // no tree of value now_.upper was found here
  Cost leaf_ = kInfinite;
  Tree tree_;
  std::vector<ProgressEvent> history_;
  Pulse pulse_;
  Cost unit_;
};

}  // namespace certree
