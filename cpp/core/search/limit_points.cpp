#include "search/limit_points.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

namespace {

// With three or more dimensions a point is compared with so many others: dropping fewer points costs time, not truth.
constexpr std::size_t kComparisons = 256;

}  // namespace

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

void LimitDominance::choose_dimensions(const std::vector<std::uint8_t>& active) {
  equal_.clear();
  less_.clear();
  for (std::size_t m = data_.first_plane() + 1; m < data_.n_all(); ++m) {
    if (active[m] == 0) continue;
    const std::int32_t other = data_.opposite(m);
    if (other < 0 || active[static_cast<std::size_t>(other)] == 0)
      less_.push_back(m);
    else if (m < static_cast<std::size_t>(other))
      equal_.push_back(m);
  }
}

bool LimitDominance::is_less(const LimitPoints& points, std::uint32_t a, std::uint32_t b) const {
  const Cost *x = points.values(a), *y = points.values(b);
  for (const std::size_t m : equal_)
    if (x[m] != y[m]) return x[m] < y[m];
  const std::size_t objective = data_.first_plane();
  if (less_.size() == 1 && x[less_[0]] != y[less_[0]]) return x[less_[0]] < y[less_[0]];
  if (x[objective] != y[objective]) return x[objective] < y[objective];
  for (const std::size_t m : less_)
    if (x[m] != y[m]) return x[m] < y[m];
  const std::size_t splits = data_.task().n_quantities;
  return points.point(a)[splits] < points.point(b)[splits];
}

void LimitDominance::reduce(const std::vector<std::uint8_t>& active, LimitPoints& points) {
  if (points.size() < 2) return;
  choose_dimensions(active);
  order_.resize(points.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [&](auto a, auto b) { return is_less(points, a, b); });
  const std::size_t objective = data_.first_plane();
  kept_.clear();
  std::size_t group = 0;  // where in `kept_` the points with the same values of equal_ start
  for (const std::uint32_t k : order_) {
    const Cost* x = points.values(k);
    if (!kept_.empty()) {
      const Cost* last = points.values(kept_.back());
      if (std::any_of(equal_.begin(), equal_.end(), [&](auto m) { return x[m] != last[m]; })) group = kept_.size();
    }
    // Sorted by the one limit, the last one kept has the least objective so far.
    const std::size_t window = less_.size() <= 1 ? 1 : kComparisons;
    const std::size_t first = std::max(group, kept_.size() - std::min(window, kept_.size()));
    const bool is_dominated =
        std::any_of(kept_.begin() + static_cast<std::ptrdiff_t>(first), kept_.end(), [&](auto other) {
          const Cost* y = points.values(other);
          return y[objective] <= x[objective] &&
                 std::all_of(less_.begin(), less_.end(), [&](auto m) { return y[m] <= x[m]; });
        });
    if (!is_dominated) kept_.push_back(k);
  }
  if (kept_.size() < points.size()) points.keep(kept_);
}

}  // namespace certree
