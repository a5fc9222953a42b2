#include "result.hpp"

#include <utility>

namespace certree {

const char* status_name(Status status) {
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::gap:
      return "gap";
    case Status::time_limit:
      return "time_limit";
    case Status::memory_limit:
      return "memory_limit";
    case Status::work_limit:
      return "work_limit";
    case Status::interrupted:
      return "interrupted";
  }
  return "";
}

PathResult path_of_leaf(Result leaf, const Options& options) {
  PathResult path;
  path.status = Status::memory_limit;
  path.entries.push_back({0, 0, leaf.upper_bound / options.error_scale, std::move(leaf.tree)});
  return path;
}

Status status_of(const Budget& budget, const Interval& interval, Cost gap) {
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

}  // namespace certree
