// The loss of one rate of events per leaf (Poisson, exponential and relative risks), as a leaf function that needs no Python.
//
// Rows add their events E, their exposure S, and B, what they would contribute at rates of their own, each in units of its
// quantum.  A leaf costs floor(scale * factor * (B - E log(E / S))), with 0 log 0 = 0, at least 0 and at most `most`.
//
// Laws: superadditive, as every least sum of losses is; `most`, the cost of all rows, also cuts off the noise of float64.
#pragma once

#include <array>
#include <cstdint>

#include "base/cost.hpp"

namespace certree {

struct RateLoss {
  std::array<double, 3> quanta{};  // of E, S and B
  double factor = 1;
  double scale = 1;
  Cost most = 0;

  static constexpr std::int32_t kStatistics = 3;

  Cost cost(Cost events, Cost exposure, Cost own) const;
  // A LeafFunction (tasks/vector_task.hpp); labels are not used.
  bool operator()(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t* labels) const;
};

}  // namespace certree
