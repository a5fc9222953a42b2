#include "search/fronts/front.hpp"

#include <algorithm>

namespace certree {

namespace {

// Up to here a staircase is an array over fp.
constexpr Cost kMostDense = Cost{1} << 16;

}  // namespace

void Stairs::reset(Cost most_fp, Cost most_fn) {
  most_fp_ = most_fp;
  most_fn_ = most_fn;
  is_dense_ = most_fp <= kMostDense;
  steps_.clear();
  levels_.clear();
  if (!is_dense_) return;
  const auto size = static_cast<std::size_t>(most_fp + 1);
  levels_.assign(size, kInfinite);
  if (origins_.size() < size) origins_.resize(size);
}

Cost Stairs::sparse_level(Cost fp) const {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), fp, [](Cost x, const Step& step) { return x < step.fp; });
  return after == steps_.begin() ? kInfinite : std::prev(after)->fn;
}

void Stairs::insert(Cost fp, Cost fn, const Origin& origin) {
  if (is_dense_) {
    origins_[static_cast<std::size_t>(fp)] = origin;
    for (auto x = static_cast<std::size_t>(fp); x < levels_.size() && levels_[x] > fn; ++x) levels_[x] = fn;
    return;
  }
  const auto first = std::lower_bound(steps_.begin(), steps_.end(), fp, [](const Step& s, Cost x) { return s.fp < x; });
  auto last = first;
  while (last != steps_.end() && last->fn >= fn) ++last;
  if (first == last) {
    steps_.insert(first, {fp, fn, origin});
  } else {
    *first = {fp, fn, origin};
    steps_.erase(std::next(first), last);
  }
}

Origin* Stairs::origin_at(Cost fp, Cost fn) {
  if (fp > most_fp_ || level(fp) != fn || (fp > 0 && level(fp - 1) == fn)) return nullptr;
  if (is_dense_) return &origins_[static_cast<std::size_t>(fp)];
  return &std::lower_bound(steps_.begin(), steps_.end(), fp, [](const Step& s, Cost x) { return s.fp < x; })->origin;
}

void Stairs::corners(Corners& out) const {
  out.clear();
  Cost above = most_fn_;  // greatest fn that is outside so far
  visit([&](Cost fp, Cost fn, const Origin&) {
    if (fp > 0 && above >= 0) out.push_back({fp - 1, above});
    above = fn - 1;
  });
  if (above >= 0) out.push_back({most_fp_, above});
}

void keep_maximal(Cost most_fp, Corners& points, std::vector<Cost>& room) {
  if (most_fp <= kMostDense && static_cast<std::size_t>(most_fp) < 16 * points.size() + 64) {
    room.assign(static_cast<std::size_t>(most_fp + 1), -1);
    for (const Corner& p : points) {
      if (p.fp < 0) continue;
      Cost& most = room[static_cast<std::size_t>(std::min(p.fp, most_fp))];
      most = std::max(most, p.fn);
    }
    points.clear();
    Cost most = -1;
    for (auto x = static_cast<std::size_t>(most_fp + 1); x-- > 0;) {
      if (room[x] <= most) continue;
      most = room[x];
      points.push_back({static_cast<Cost>(x), most});
    }
    std::reverse(points.begin(), points.end());
    return;
  }
  for (Corner& p : points) p.fp = std::min(p.fp, most_fp);
  std::sort(points.begin(), points.end(),
            [](const Corner& a, const Corner& b) { return a.fp != b.fp ? a.fp > b.fp : a.fn > b.fn; });
  std::size_t kept = 0;
  Cost most = -1;
  for (const Corner& p : points) {
    if (p.fp < 0 || p.fn <= most) continue;
    most = p.fn;
    points[kept++] = p;
  }
  points.resize(kept);
  std::reverse(points.begin(), points.end());
}

void exclude_all_but(const Corners& corners, Stairs& out) {
  Cost from = 0;
  for (const Corner& c : corners) {
    out.offer(from, c.fn + 1, {});
    from = c.fp + 1;
  }
  out.offer(from, 0, {});
}

}  // namespace certree
