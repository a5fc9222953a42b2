// The loss of one rate of events per leaf (base/rates.hpp), VectorKind::rates, one leaf or many at a time.
#pragma once

#include <cstdint>

#include "base/cost.hpp"
#include "base/rates.hpp"

namespace certree {

RateLoss make_rate_loss(double gain, double ratio);

// What the rate of E events in the exposure S saves, rounded up.
Cost saved_by_rate(const RateLoss& loss, Cost events, Cost exposure);

// A LeafFunction (tasks/vector_task.hpp) of E, S and B; labels are not used.
struct RateLeaves {
  RateLoss loss;
  bool operator()(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t* labels) const;
};

}  // namespace certree
