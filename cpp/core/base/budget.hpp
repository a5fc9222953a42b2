// What a solve may take: time and work, until somebody cancels it; its memory is in base/memory.hpp.  Polled once per
// depth-two evaluation or per block of counting, so that it is kept to within one such step; reading a clock costs 1/300 of
// a typical evaluation.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <new>
#include <thread>

#include "base/check.hpp"

namespace certree {

// `effort`: the value is proven, and what was granted to choose among the trees that have it is used up.
enum class StopReason { none, time, work, memory, interrupted, effort };

// Thrown where time ends before there is anything to search.  An entry point then returns one leaf, as where memory ends.
struct TimeIsUp : std::bad_alloc {
  const char* what() const noexcept override { return "certree: the time limit is reached"; }
};

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  // `earlier_work`: what was done before and need not be done again.
  Budget(double time_limit_s, std::int64_t work_limit, std::int64_t earlier_work = 0)
      : start_(Clock::now()), time_limit_s_(time_limit_s), work_limit_(work_limit), earlier_work_(earlier_work) {}

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // True when the search should unwind.  Never un-stops.
  bool poll() {
    if (stopped()) return true;
    if (time_limit_s_ > 0 && seconds() > time_limit_s_) stop(StopReason::time);
    return stopped();
  }
  // The same for the clock and whoever cancels alone: turns and limits on work do not end a pass that has begun, so looking
  // this way never changes what a search without a time limit does.
  bool is_out_of_time() {
    if (time_limit_s_ > 0 && seconds() > time_limit_s_) {
      stop(StopReason::time);
      return true;
    }
    return reason() == StopReason::interrupted || reason() == StopReason::memory;
  }
  // After the end, the tree at hand is completed: that takes steps, too, and there are only so many in all.
  bool is_past_grace(std::int64_t more_steps) {
    constexpr std::int64_t kGrace = std::int64_t{1} << 26;  // about a tenth of a second
    if (reason() == StopReason::none) return false;
    return late_steps_.fetch_add(more_steps, std::memory_order_relaxed) > kGrace;
  }
  bool stopped() const { return reason() != StopReason::none || is_paused(); }
  bool is_paused() const { return work() >= pause_at_.load(std::memory_order_relaxed); }
  StopReason reason() const { return reason_.load(std::memory_order_relaxed); }
  // The first reason counts, but for one: whoever asks to stop is told so, also where a limit ended the search while the
  // question was put.  Nothing comes after that, so what is read once all threads are back is final.
  void stop(StopReason reason) {
    if (reason == StopReason::interrupted) return reason_.store(reason, std::memory_order_relaxed);
    auto none = StopReason::none;
    reason_.compare_exchange_strong(none, reason, std::memory_order_relaxed);
  }

  // One unit of work is one depth-two evaluation: deterministic, unlike seconds.
  void add_work() {
    const auto done = work_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (work_limit_ > 0 && done >= work_limit_) stop(StopReason::work);
    const auto effort_limit = effort_limit_.load(std::memory_order_relaxed);
    if (effort_limit > 0 && done >= effort_limit) stop(StopReason::effort);
  }
  // From now on as much work again as was done so far, and a little more.
  void grant_effort() {
    constexpr std::int64_t kLeast = 2000;
    std::int64_t unset = 0;
    effort_limit_.compare_exchange_strong(unset, work() + std::max(work() + earlier_work_, kLeast),
                                          std::memory_order_relaxed);
  }
  // The choice among trees of the same value may take any work.
  void grant_any_effort() { effort_limit_.store(std::int64_t{1} << 60, std::memory_order_relaxed); }
  std::int64_t work() const { return work_.load(std::memory_order_relaxed); }

  // Locks that the caller's thread holds (base/lock.hpp).
  void count_lock(int more) {
    if (std::this_thread::get_id() == caller_) n_locks_ += more;
  }
  // To be called before anything of the caller's is.
  void check_no_lock() const {
    if (std::this_thread::get_id() == caller_ && n_locks_ > 0) alarm("a callback is called under a lock");
  }

  // What is left for a solve inside of this one, where 0 stands for any amount.
  double seconds_left() const { return time_limit_s_ > 0 ? std::max(time_limit_s_ - seconds(), 1e-3) : 0; }
  std::int64_t work_left() const { return work_limit_ > 0 ? std::max<std::int64_t>(work_limit_ - work(), 1) : 0; }

 private:
  friend class Turn;

  const std::thread::id caller_ = std::this_thread::get_id();
  int n_locks_ = 0;
  Clock::time_point start_;
  double time_limit_s_;
  std::int64_t work_limit_;
  std::int64_t earlier_work_;
  std::atomic<std::int64_t> work_{0};
  std::atomic<std::int64_t> late_steps_{0};
  std::atomic<std::int64_t> effort_limit_{0};
  std::atomic<std::int64_t> pause_at_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<StopReason> reason_{StopReason::none};
};

// Looks at the clock after so many steps, about a millisecond: for loops whose steps are far shorter than a look.
class Stopwatch {
 public:
  explicit Stopwatch(Budget& budget) : budget_(budget) {}
  // To be called with the steps since the last call.  True: out of time.
  bool is_over(std::int64_t more_steps) {
    steps_ += more_steps;
    if (steps_ < kSteps) return false;
    steps_ = 0;
    return budget_.is_out_of_time();
  }

 private:
  static constexpr std::int64_t kSteps = std::int64_t{1} << 20;
  Budget& budget_;
  std::int64_t steps_ = 0;
};

// More work than anybody can do.
inline constexpr std::int64_t kNoEnd = std::int64_t{1} << 60;

// Unwinds a search after so much more work as the end of the budget does, to be taken up again once the turn is gone.
// Turns nest: the one that is over first counts.
class Turn {
 public:
  Turn(Budget& budget, std::int64_t more_work) : budget_(budget), outer_(budget.pause_at_.load()) {
    budget.pause_at_.store(std::min(outer_, budget.work() + more_work));
  }
  ~Turn() { budget_.pause_at_.store(outer_); }
  // Before its work is done; from any thread.
  void end() { budget_.pause_at_.store(0); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Budget& budget_;
  std::int64_t outer_;
};

}  // namespace certree
