#include "tasks/rate_loss.hpp"

#include <cmath>

#include "counts/vector_kernels.hpp"

namespace certree {

RateLoss make_rate_loss(double gain, double ratio) {
  return {gain, ratio, 1 / (gain * std::log(2.0)), std::log2(ratio)};
}

Cost saved_by_rate(const RateLoss& loss, Cost events, Cost exposure) {
  if (events <= 0) return 0;
  return static_cast<Cost>(
      std::ceil(rate_saving<PlainNumbers>(loss, static_cast<double>(events), static_cast<double>(exposure))));
}

bool RateLeaves::operator()(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t*) const {
  vector_kernels_for<Cost>(best_isa()).rate_savings(loss, sums, sums + stride, n, costs);
  const Cost* own = sums + 2 * stride;
  for (std::int64_t k = 0; k < n; ++k) costs[k] = own[k] - costs[k];
  return true;
}

}  // namespace certree
