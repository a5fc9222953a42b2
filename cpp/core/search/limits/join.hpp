// Pairs of points of two siblings whose sums can be wanted.
//
// One list is sorted by a plane.  Either that is the first plane, whose budget says where to stop; or a limit from both
// sides, whose two budgets leave a window.  Whichever leaves fewer pairs is taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "data/limit_data.hpp"
#include "search/limits/points.hpp"
#include "search/limits/region.hpp"

namespace certree {

class LimitJoin {
 public:
  explicit LimitJoin(const LimitData& data) : data_(data) {}

  // Calls see(i, k) for points i of `a` and k of `b`, among them all whose sum with a split, which adds `split` to each
  // plane, is within the region.  A false answer ends it; then it returns false.
  template <class See>
  bool run(const LimitPoints& a, const LimitPoints& b, const LimitRegion& region, const Cost* split, See see) {
    split_ = split;
    choose(a, b, region);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto [first, last] = range(a.values(i)[plane_]);
      for (std::size_t k = first; k < last; ++k)
        if (!see(i, static_cast<std::size_t>(order_[k]))) return false;
    }
    return true;
  }

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(order_.capacity() * sizeof(std::uint32_t) + keys_.capacity() * sizeof(Cost));
  }

 private:
  struct Range {
    std::size_t first, last;
  };

  // The places in order_ that fit a value of the plane.
  Range range(Cost value) const {
    const auto last = std::upper_bound(keys_.begin(), keys_.end(), most_ - value);
    const auto first = has_least_ ? std::lower_bound(keys_.begin(), last, least_ - value) : keys_.begin();
    return {static_cast<std::size_t>(first - keys_.begin()), static_cast<std::size_t>(last - keys_.begin())};
  }

  void set(std::size_t plane, const LimitPoints& b, const LimitRegion& region) {
    plane_ = plane;
    most_ = region.most(plane) - split_[plane];
    const std::int32_t other = data_.opposite(plane);
    has_least_ = other >= 0;
    if (has_least_) least_ = split_[other] - region.most(static_cast<std::size_t>(other));
    order_.resize(b.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [&](auto x, auto y) { return b.values(x)[plane] < b.values(y)[plane]; });
    keys_.resize(b.size());
    for (std::size_t k = 0; k < b.size(); ++k) keys_[k] = b.values(order_[k])[plane];
  }

  std::size_t count(const LimitPoints& a) const {
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Range r = range(a.values(i)[plane_]);
      pairs += r.last - r.first;
    }
    return pairs;
  }

  void choose(const LimitPoints& a, const LimitPoints& b, const LimitRegion& region) {
    set(0, b, region);
    std::size_t best = 0, fewest = 0;
    for (std::size_t m = data_.first_plane() + 1; m < data_.n_bounded(); ++m) {
      if (data_.opposite(m) < static_cast<std::int32_t>(m)) continue;  // none, or seen from the other side
      if (fewest == 0) fewest = count(a);
      if (fewest < kFew) return;
      set(m, b, region);
      const std::size_t pairs = count(a);
      if (pairs >= fewest) continue;
      best = m;
      fewest = pairs;
    }
    if (plane_ != best) set(best, b, region);
  }

  static constexpr std::size_t kFew = 1024;  // not worth another order

  const LimitData& data_;
  const Cost* split_ = nullptr;
  std::size_t plane_ = 0;
  Cost most_ = 0, least_ = 0;
  bool has_least_ = false;
  std::vector<std::uint32_t> order_;
  std::vector<Cost> keys_;
};

}  // namespace certree
