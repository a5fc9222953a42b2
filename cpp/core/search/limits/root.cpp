#include "search/limits/root.hpp"

#include <algorithm>

namespace certree {

namespace {

__extension__ using Wide128 = __int128;

Wide128 ceil_div(Wide128 a, Wide128 b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

}  // namespace

LimitRoot::LimitRoot(const LimitData& data) : data_(data), corners_(data.clamped(data.task().corners)) {
  keep_maximal_corners();
  refresh();
}

void LimitRoot::refresh() {
  region_.n_planes = data_.n_bounded();
  region_.budgets = data_.budgets(corners_);
  region_.sure.assign(data_.n_bounded(), kInfinite);
  for (std::size_t k = 0; k < region_.budgets.size(); ++k) {
    Cost& sure = region_.sure[k % data_.n_bounded()];
    sure = std::min(sure, region_.budgets[k]);
  }
  // Where finer digits decide, the corner is wider than the limit.
  for (std::size_t m = data_.first_plane() + 1; m < data_.n_bounded(); ++m)
    if (data_.finer_than(m) != 0) region_.sure[m] = std::min(region_.sure[m], data_.sure_budget(m));
  // The gap is to be made small, not only kept within a bound.
  for (std::size_t e = 0; e < data_.task().n_bounded(); ++e)
    if (data_.task().is_front() && data_.task().scales[e] != 0) region_.sure[data_.first_plane() + e] = -kInfinite;
}

void LimitRoot::lower_objective(Cost most) {
  const Cost surplus = region_.most(data_.first_plane()) - most;
  if (surplus <= 0) return;
  corners_[0] -= surplus;
  refresh();
}

bool LimitRoot::take(const Cost* point, std::int32_t plan, int worker) {
  const LimitTask& task = data_.task();
  LimitEntry entry;
  entry.plan = plan;
  entry.worker = worker;
  for (std::size_t q = 0; q < task.n_quantities; ++q) entry.point.push_back(point[q] + data_.base(q));
  entry.point.push_back(point[task.n_quantities]);
  for (std::size_t e = 0; e < task.n_planes; ++e) {
    Cost value = 0;
    for (std::size_t q = 0; q < task.width(); ++q) value += task.planes[e * task.width() + q] * entry.point[q];
    entry.values.push_back(value);
  }
  if (!data_.keeps_digits(entry.values)) return false;
  if (task.has_objectives()) return keep_nondominated(std::move(entry));
  if (task.is_front()) {
    drop_dominated(entry);
    split_corners(entry.values);
  } else {
    entries_.clear();
    corners_[0] = std::min(corners_[0], entry.values[0] - 1);
  }
  entries_.push_back(std::move(entry));
  refresh();
  return true;
}

// The corner stays where it is: below it, trees that are better in some objective may be anywhere.
bool LimitRoot::keep_nondominated(LimitEntry entry) {
  const auto is_as_good = [&](const LimitEntry& a, const LimitEntry& b) {
    for (std::size_t e = 0; e < data_.task().n_bounded(); ++e)
      if (data_.task().is_objective(e) && a.values[e] > b.values[e]) return false;
    return true;
  };
  for (const LimitEntry& other : entries_)
    if (is_as_good(other, entry)) return false;
  std::erase_if(entries_, [&](const LimitEntry& other) { return is_as_good(entry, other); });
  entries_.push_back(std::move(entry));
  return true;
}

LimitRoot::Gap LimitRoot::gap_of(const std::vector<Cost>& values) const {
  Gap gap;
  bool is_first = true;
  for (std::size_t e = 0; e < values.size(); ++e) {
    const Cost scale = data_.task().scales[e];
    if (scale == 0) continue;
    if (is_first || static_cast<Wide128>(values[e]) * gap.scale > static_cast<Wide128>(gap.value) * scale)
      gap = {values[e], scale};
    is_first = false;
  }
  return gap;
}

void LimitRoot::drop_dominated(const LimitEntry& entry) {
  const Gap gap = gap_of(entry.values);
  std::erase_if(entries_, [&](const LimitEntry& other) {
    const Gap theirs = gap_of(other.values);
    return other.values[0] >= entry.values[0] &&
           static_cast<Wide128>(theirs.value) * gap.scale >= static_cast<Wide128>(gap.value) * theirs.scale;
  });
}

// Below a corner that the tree reaches there remain less objective, and less gap.
void LimitRoot::split_corners(const std::vector<Cost>& values) {
  const std::size_t n = data_.task().n_planes;
  const Gap gap = gap_of(values);
  std::vector<Cost> out;
  for (std::size_t c = 0; c < corners_.size(); c += n) {
    const auto begin = corners_.begin() + static_cast<std::ptrdiff_t>(c);
    const std::vector<Cost> corner(begin, begin + static_cast<std::ptrdiff_t>(n));
    bool is_below = true;
    for (std::size_t e = 0; e < data_.task().n_bounded(); ++e) is_below = is_below && values[e] <= corner[e];
    if (!is_below) {
      out.insert(out.end(), corner.begin(), corner.end());
      continue;
    }
    std::vector<Cost> less_objective = corner, less_gap = corner;
    less_objective[0] = values[0] - 1;
    for (std::size_t e = 0; e < n; ++e) {
      const Cost scale = data_.task().scales[e];
      if (scale == 0) continue;
      const Wide128 below = ceil_div(static_cast<Wide128>(gap.value) * scale, gap.scale) - 1;
      less_gap[e] = static_cast<Cost>(std::min<Wide128>(corner[e], below));
    }
    out.insert(out.end(), less_objective.begin(), less_objective.end());
    out.insert(out.end(), less_gap.begin(), less_gap.end());
  }
  corners_ = std::move(out);
  keep_maximal_corners();
}

void LimitRoot::keep_maximal_corners() {
  const std::size_t n = data_.task().n_planes, count = corners_.size() / n;
  const auto is_within = [&](std::size_t a, std::size_t b) {
    for (std::size_t e = 0; e < n; ++e)
      if (corners_[a * n + e] > corners_[b * n + e]) return false;
    return true;
  };
  std::vector<Cost> out;
  for (std::size_t a = 0; a < count; ++a) {
    bool is_maximal = true;
    for (std::size_t b = 0; b < count && is_maximal; ++b)
      is_maximal = a == b || !is_within(a, b) || (is_within(b, a) && a < b);
    if (is_maximal)
      out.insert(out.end(), corners_.begin() + static_cast<std::ptrdiff_t>(a * n),
                 corners_.begin() + static_cast<std::ptrdiff_t>((a + 1) * n));
  }
  corners_ = std::move(out);
}

}  // namespace certree
