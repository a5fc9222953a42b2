#include "search/fronts/directions.hpp"

#include <algorithm>
#include <cmath>

namespace certree {

namespace {

Cost ceil_divide(Cost a, Cost b) { return a <= 0 ? 0 : (a + b - 1) / b; }

// Lower convex hull of points by rising fp and falling fn.
FrontPoints lower_hull(const Stairs& found) {
  FrontPoints hull;
  found.visit([&](Cost fp, Cost fn, const Origin&) {
    const auto turns = [&] {
      const FrontPoint &a = hull[hull.size() - 2], &b = hull.back();
      const auto left = static_cast<long double>(b.fp - a.fp) * static_cast<long double>(fn - a.fn);
      const auto right = static_cast<long double>(b.fn - a.fn) * static_cast<long double>(fp - a.fp);
      return left <= right;
    };
    while (hull.size() >= 2 && turns()) hull.pop_back();
    hull.push_back({fp, fn, kNoPlan});
  });
  return hull;
}

Direction scale_down(Cost fp, Cost fn, Cost most) {
  const Cost larger = std::max(fp, fn);
  if (larger <= most) return {fp, fn};
  const auto scaled = [&](Cost w) {
    const auto value = static_cast<double>(w) / static_cast<double>(larger) * static_cast<double>(most);
    return std::clamp<Cost>(static_cast<Cost>(std::llround(value)), 1, most);
  };
  return {scaled(fp), scaled(fn)};
}

}  // namespace

Directions choose_directions(const Stairs& found, std::size_t count, Cost most_weight) {
  const FrontPoints hull = lower_hull(found);
  Directions out;
  const auto add = [&](Direction d) {
    if (std::none_of(out.begin(), out.end(), [&](Direction o) { return o.fp * d.fn == d.fp * o.fn; })) out.push_back(d);
  };
  // Edges at equal distances along the hull, both axes scaled to length one.
  const double wide = static_cast<double>(std::max<Cost>(found.most_fp(), 1));
  const double high = static_cast<double>(std::max<Cost>(found.most_fn(), 1));
  std::vector<double> reach{0};
  for (std::size_t k = 1; k < hull.size(); ++k)
    reach.push_back(reach.back() + static_cast<double>(hull[k].fp - hull[k - 1].fp) / wide +
                    static_cast<double>(hull[k - 1].fn - hull[k].fn) / high);
  for (std::size_t t = 0; t < count && hull.size() > 1; ++t) {
    const double at = (static_cast<double>(t) + 0.5) / static_cast<double>(count) * reach.back();
    const auto k = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(std::upper_bound(reach.begin(), reach.end(), at) - reach.begin(), 1,
                                   static_cast<std::ptrdiff_t>(hull.size()) - 1));
    add(scale_down(hull[k - 1].fn - hull[k].fn, hull[k].fp - hull[k - 1].fp, most_weight));
  }
  if (out.empty()) out.push_back({1, 1});
  return out;
}

void Wanted::set(const Directions& directions, const Stairs& excluded) {
  excluded.corners(corners_);
  n_directions_ = directions.size();
  most_.assign(n_directions_, -1);
  weighed_.resize(corners_.size() * n_directions_);
  for (std::size_t c = 0; c < corners_.size(); ++c) {
    for (std::size_t d = 0; d < n_directions_; ++d) {
      const Cost value = directions[d].weigh(corners_[c].fp, corners_[c].fn);
      weighed_[c * n_directions_ + d] = value;
      most_[d] = std::max(most_[d], value);
    }
  }
}

bool Wanted::admits(const Cost* lower) const {
  if (corners_.empty()) return false;
  for (std::size_t d = 0; d < n_directions_; ++d)
    if (lower[d] > most_[d]) return false;
  for (std::size_t c = 0; c < corners_.size(); ++c) {
    const Cost* weighed = weighed_.data() + c * n_directions_;
    std::size_t d = 0;
    while (d < n_directions_ && weighed[d] >= lower[d]) ++d;
    if (d == n_directions_) return true;
  }
  return false;
}

void lower_points(const Directions& directions, const Cost* lower, Cost most_fp, Cost most_fn, std::int64_t pieces,
                  FrontPoints& out) {
  out.clear();
  const auto least_fn = [&](Cost fp) {
    Cost fn = 0;
    for (std::size_t d = 0; d < directions.size(); ++d)
      fn = std::max(fn, ceil_divide(lower[d] - directions[d].fp * fp, directions[d].fn));
    return fn;
  };
  Cost end = 0;  // from here on fn may be 0
  for (std::size_t d = 0; d < directions.size(); ++d) end = std::max(end, ceil_divide(lower[d], directions[d].fp));
  end = std::min(end, most_fp);
  const Cost step = std::max<Cost>(1, ceil_divide(end + 1, pieces));
  for (Cost from = 0; from <= end; from += step) {
    const Cost fn = least_fn(std::min(from + step - 1, most_fp));
    if (fn <= most_fn && (out.empty() || fn < out.back().fn)) out.push_back({from, fn, kNoPlan});
    if (fn == 0) break;
  }
}

}  // namespace certree
