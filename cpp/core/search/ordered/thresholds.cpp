#include "search/ordered/thresholds.hpp"

#include <algorithm>
#include <utility>

namespace certree {

const ChargedVector<Cost>& OrderedThresholds::worst(std::int32_t f) {
  ChargedVector<Cost>& sums = worst_[static_cast<std::size_t>(f)];
  if (!sums.empty()) return sums;
  const std::int32_t* order = node_.order(f);
  sums.resize(static_cast<std::size_t>(node_.n_rows()) + 1);
  sums[0] = 0;
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] = sums[i - 1] + objective_.leaf(data_.worst(order[i - 1]));
  return sums;
}

// Of the rows between two positions; where nothing is known of it, more than any tree costs.
Cost OrderedThresholds::worst_between(std::int32_t f, std::int32_t from, std::int32_t to) {
  if (!data_.has_worst()) return from < to ? kInfinite : 0;
  const ChargedVector<Cost>& sums = worst(f);
  return sums[static_cast<std::size_t>(to)] - sums[static_cast<std::size_t>(from)];
}

// A tree with one level less is one of those with a test that parts nothing.
void OrderedThresholds::start(std::size_t n_divisions, const Cost* by) {
  const auto n = static_cast<std::size_t>(data_.n_features());
  points_.clear();
  for (int end = 0; end < 2; ++end) points_.emplace_back(memory_);
  for (Point& point : points_) {
    point.sides.assign(n_divisions, {});
    for (auto& bounds : point.by) bounds.assign(n_divisions * n, 0);
  }
  // Sides have trees of the node's shape, and fewer of them.
  for (std::size_t j = 0; j < n_divisions; ++j) {
    std::copy_n(by, n, points_[0].by[1].begin() + static_cast<std::ptrdiff_t>(j * n));
    std::copy_n(by, n, points_[1].by[0].begin() + static_cast<std::ptrdiff_t>(j * n));
  }
  points_[1].position = node_.n_rows();
  worst_.assign(n, ChargedVector<Cost>(memory_));
  low_.assign(n, kInfinite);
  loose_.assign(n, kInfinite);
  open_ = {};
  for (std::int32_t f = 0; f < data_.n_features(); ++f) push(f, 0, 1, by[f]);
}

void OrderedThresholds::push(std::int32_t f, std::int32_t a, std::int32_t b, Cost bound) {
  const Point &first = points_[static_cast<std::size_t>(a)], &last = points_[static_cast<std::size_t>(b)];
  if (options_.use_threshold_intervals) {
    Cost between = 0;
    bool matters = false;
    for (std::size_t j = 0; j < first.sides.size(); ++j) matters |= first.sides[j].right + last.sides[j].left > 0;
    if (matters) between = worst_between(f, first.position, last.position);
    bound = std::max(bound, interval_bound(objective_, DividedSides(first.sides), DividedSides(last.sides), between));
  }
  open_.push({bound, f, a, b, last.position - first.position});
}

OrderedThresholds::OpenInterval OrderedThresholds::take_first() {
  const OpenInterval at = open_.top();
  open_.pop();
  return at;
}

std::int32_t OrderedThresholds::choose(const OpenInterval& at, Cost limit, bool* leaves_small) {
  const Point &a = points_[static_cast<std::size_t>(at.a)], &b = points_[static_cast<std::size_t>(at.b)];
  std::int32_t low = a.position + 1, high = b.position - 1;
  if (options_.use_threshold_margins && data_.has_worst()) {
    const ChargedVector<Cost>& sums = worst(at.feature);
    const Cost before = margin(objective_, DividedSides(a.sides), limit),
               after = margin(objective_, DividedSides(b.sides), limit);
    if (before >= 0) {
      const auto from = sums.begin() + a.position;
      low = std::max(low, static_cast<std::int32_t>(std::upper_bound(from, sums.end(), *from + before) - sums.begin()));
    }
    if (after >= 0) {
      const auto to = sums.begin() + b.position;
      high =
          std::min(high, static_cast<std::int32_t>(std::lower_bound(sums.begin(), to, *to - after) - sums.begin()) - 1);
    }
  }
  if (low > high) return -1;
  const auto smallest = static_cast<std::int32_t>(std::min<std::int64_t>(options_.min_leaf, node_.n_rows()));
  *leaves_small = low < smallest || high > node_.n_rows() - smallest;
  low = std::max(low, smallest);
  high = std::min(high, node_.n_rows() - smallest);
  if (low > high) return -1;
  const std::int32_t* order = node_.order(at.feature);
  const std::int32_t* ranks = data_.ranks(at.feature);
  const auto parts = [&](std::int32_t p) { return ranks[order[p - 1]] != ranks[order[p]]; };
  const std::int32_t middle = low + (high - low) / 2;
  std::int32_t down = middle, up = middle + 1;
  while (down >= low && !parts(down)) --down;
  while (up <= high && !parts(up)) ++up;
  if (down >= low && (up > high || middle - down <= up - middle)) return down;
  return up <= high ? up : -1;
}

OrderedThresholds::Point OrderedThresholds::between(const OpenInterval& at, std::int32_t position) {
  const Point &a = points_[static_cast<std::size_t>(at.a)], &b = points_[static_cast<std::size_t>(at.b)];
  const Cost from_a = worst_between(at.feature, a.position, position);
  const Cost to_b = worst_between(at.feature, position, b.position);
  Point point(memory_);
  point.position = position;
  point.sides.assign(a.sides.size(), {});
  if (options_.use_threshold_intervals)
    for (std::size_t j = 0; j < point.sides.size(); ++j)
      point.sides[j] = sides_between(a.sides[j], b.sides[j], from_a, to_b);
  for (auto& bounds : point.by) bounds.resize(a.by[0].size());
  for (std::size_t g = 0; g < point.by[0].size(); ++g) {
    point.by[0][g] = std::max(a.by[0][g], b.by[0][g] - to_b);
    point.by[1][g] = std::max(b.by[1][g], a.by[1][g] - from_a);
  }
  return point;
}

void OrderedThresholds::add(const OpenInterval& at, Point point) {
  points_.push_back(std::move(point));
  const auto index = static_cast<std::int32_t>(points_.size()) - 1;
  push(at.feature, at.a, index, at.bound);
  push(at.feature, index, at.b, at.bound);
}

void OrderedThresholds::settle(std::int32_t f, Cost lower, Cost loose) {
  low_[static_cast<std::size_t>(f)] = std::min(low_[static_cast<std::size_t>(f)], lower);
  loose_[static_cast<std::size_t>(f)] = std::min(loose_[static_cast<std::size_t>(f)], loose);
}

Cost OrderedThresholds::least_settled() const { return *std::min_element(low_.begin(), low_.end()); }

OrderedFound OrderedThresholds::finish(Cost best, Cost shallow_lower, Cost* by) {
  for (; !open_.empty(); open_.pop()) settle(open_.top().feature, open_.top().bound, open_.top().bound);
  OrderedFound found{best, best, best};
  for (std::int32_t f = 0; f < data_.n_features(); ++f) {
    const auto at = static_cast<std::size_t>(f);
    found.loose = std::min(found.loose, std::max(by[f], loose_[at]));
    found.lower = std::min(found.lower, std::max({by[f], loose_[at], low_[at]}));
  }
  // Tests that part nothing leave a tree of one level less.
  const Cost shallow = std::max(shallow_lower, found.loose);
  for (std::int32_t f = 0; f < data_.n_features(); ++f)
    by[f] = std::max(by[f], std::min(loose_[static_cast<std::size_t>(f)], shallow));
  return found;
}

}  // namespace certree
