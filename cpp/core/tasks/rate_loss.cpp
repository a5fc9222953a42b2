#include "tasks/rate_loss.hpp"

#include <algorithm>
#include <cmath>

namespace certree {

Cost RateLoss::cost(Cost events, Cost exposure, Cost own) const {
  double loss = static_cast<double>(own) * quanta[2];
  if (events > 0) {
    const double number = static_cast<double>(events) * quanta[0];
    const double length = std::max(static_cast<double>(exposure) * quanta[1], 1e-300);
    loss -= number * std::log(number / length);
  }
  const double units = std::floor(factor * loss * scale);
  if (!(units > 0)) return 0;
  return units >= static_cast<double>(most) ? most : static_cast<Cost>(units);
}

bool RateLoss::operator()(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t*) const {
  const Cost *events = sums, *exposure = sums + stride, *own = sums + 2 * stride;
  for (std::int64_t k = 0; k < n; ++k) costs[k] = cost(events[k], exposure[k], own[k]);
  return true;
}

}  // namespace certree
