// Questions to a leaf function of the caller's (VectorKind::callback), which may be slow: they are asked in parts that take
// a moment each, and between two parts there is a look at the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

[[noreturn]] inline void refuse_leaf_cost(const VectorTask& task, Cost cost, Cost limit) {
  throw std::invalid_argument(
      "leaf_function returned " + std::to_string(cost) + "; costs must lie between 0 and " + std::to_string(limit) +
      (task.superadditive ? ", the cost of all rows in one leaf, if they are superadditive" : ""));
}

class LeafQuestions {
 public:
  LeafQuestions(const VectorTask& task, Budget& budget) : LeafQuestions(task.leaf, budget) {}
  LeafQuestions(const LeafFunction& leaf, Budget& budget) : leaf_(leaf), budget_(budget) {}

  // Costs of `n` sums; statistic s of sum k is at sums[s * stride + k].  False: the time is up and not all were asked,
  // which happens only if it `may_stop`.
  bool ask(const Cost* sums, std::size_t n, std::size_t stride, Cost* costs, bool may_stop) {
    labels_.resize(std::max(labels_.size(), n));
    for (std::size_t begin = 0; begin < n;) {
      if (may_stop && is_late()) return false;
      const std::size_t part = std::min(n - begin, part_);
      budget_.check_no_lock();
      const auto start = Clock::now();
      const bool goes_on = leaf_(sums + begin, static_cast<std::int64_t>(part), static_cast<std::int64_t>(stride),
                                 costs + begin, labels_.data());
      if (!goes_on) budget_.stop(StopReason::interrupted);
      set_pace(part, std::chrono::duration<double>(Clock::now() - start).count());
      begin += part;
    }
    return true;
  }

  // The end of the work and pauses let a pass end, as they do for costs that are not asked for.
  bool is_late() {
    budget_.poll();
    return budget_.reason() == StopReason::time || budget_.reason() == StopReason::interrupted;
  }

 private:
  using Clock = Budget::Clock;
  static constexpr std::size_t kFewest = 16, kFirst = 1 << 7, kMost = 1 << 18;
  static constexpr double kMoment = 0.05;

  void set_pace(std::size_t part, double seconds) {
    if (seconds > kMoment)
      part_ = std::max(kFewest, static_cast<std::size_t>(static_cast<double>(part) * kMoment / seconds));
    else if (part == part_ && seconds < kMoment / 16)
      part_ = std::min(kMost, 8 * part_);
  }

  const LeafFunction& leaf_;
  Budget& budget_;
  std::size_t part_ = kFirst;
  std::vector<std::int32_t> labels_;
};

}  // namespace certree
