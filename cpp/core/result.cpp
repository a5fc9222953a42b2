#include "result.hpp"

#include <string>

#include "base/check.hpp"

namespace certree {

const char* status_name(Status status) {
  constexpr const char* kNames[] = {"optimal", "gap", "time_limit", "memory_limit", "work_limit", "interrupted"};
  return kNames[static_cast<std::size_t>(status)];
}

Status status_of(const Budget& budget, const Interval& interval, Cost gap) {
  if (!interval.is_sound())
    alarm("a lower bound of " + std::to_string(interval.lower) + " is above a tree of " +
          std::to_string(interval.upper));
  if (interval.is_exact()) return Status::optimal;
  switch (budget.reason()) {
    case StopReason::time:
      return Status::time_limit;
    case StopReason::work:
      return Status::work_limit;
    case StopReason::memory:
      return Status::memory_limit;
    case StopReason::interrupted:
      return Status::interrupted;
    case StopReason::effort:
    case StopReason::none:
      break;
  }
  return interval.upper - interval.lower <= gap ? Status::gap : Status::memory_limit;
}

Status status_of(const Budget& budget, bool is_complete) {
  return status_of(budget, is_complete ? Interval{0, 0} : Interval{0, 1}, 0);
}

}  // namespace certree
