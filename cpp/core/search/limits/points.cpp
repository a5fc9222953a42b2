#include "search/limits/points.hpp"

#include <algorithm>

namespace certree {

void LimitPoints::keep(const std::vector<std::uint32_t>& chosen) {
  std::vector<Cost> points, values;
  std::vector<std::int32_t> plans;
  points.reserve(chosen.size() * width_);
  values.reserve(chosen.size() * n_planes_);
  plans.reserve(chosen.size());
  for (const std::uint32_t k : chosen) {
    points.insert(points.end(), point(k), point(k) + width_);
    values.insert(values.end(), this->values(k), this->values(k) + n_planes_);
    plans.push_back(plans_[k]);
  }
  points_.swap(points);
  values_.swap(values);
  plans_.swap(plans);
}

void LimitPoints::least(Cost* out) const {
  std::fill_n(out, n_planes_, kInfinite);
  for (std::size_t k = 0; k < size(); ++k)
    for (std::size_t m = 0; m < n_planes_; ++m) out[m] = std::min(out[m], values(k)[m]);
}

}  // namespace certree
