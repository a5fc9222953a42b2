// What a front search keeps: plans of trees, and the table of subproblems.
#include <algorithm>

#include "base/check.hpp"
#include "search/fronts/search.hpp"

namespace certree {

std::int32_t FrontSearch::plan_of_side(std::int32_t side) {
  if (side == -1) return kNegativeLeaf;
  if (side == -2) return kPositiveLeaf;
  const bool is_swapped = (side & 1) != 0;
  return plans_.add(
      {side >> 1, is_swapped ? kNegativeLeaf : kPositiveLeaf, is_swapped ? kPositiveLeaf : kNegativeLeaf});
}

// Of an origin of FrontDepthTwo.
std::int32_t FrontSearch::plan_of_depth_two(const Origin& origin) {
  const std::int32_t yes = plan_of_side(origin.yes), no = plan_of_side(origin.no);
  return plans_.add({origin.kind, yes, no});
}

std::int32_t FrontSearch::plan_of(const Origin& origin) {
  if (origin.kind < 0) return kNoPlan;
  return origin.kind == kKnownPlan ? origin.yes : plans_.add({origin.kind, origin.yes, origin.no});
}

// The minimal points.  `is_depth_two`: origins are those of FrontDepthTwo.
void FrontSearch::extract(const std::vector<Stairs>& stairs, bool is_depth_two, std::vector<FrontPoints>& out) {
  out.resize(stairs.size());
  for (std::size_t k = 0; k < stairs.size(); ++k) {
    out[k].clear();
    stairs[k].visit([&](Cost fp, Cost fn, const Origin& origin) {
      const bool is_new = is_depth_two && origin.kind >= 0 && origin.kind != kKnownPlan;
      out[k].push_back({fp, fn, is_new ? plan_of_depth_two(origin) : plan_of(origin)});
    });
  }
}

// Offers what is known of a subproblem.  True: that is all that is wanted.
bool FrontSearch::recall(const Fingerprint& key, std::int32_t depth, Level& l) {
  if (!options_.use_table) return false;
  const auto entry = known_.find(mix(key, static_cast<std::uint64_t>(depth)));
  if (entry == known_.end()) {
    ++counters_.table_misses;
    return false;
  }
  ++counters_.table_hits;
  const FrontPoint* p = pool_.data() + entry->second.begin;
  const FrontPoint* const first = p;
  for (std::size_t k = 0; k < l.excluded.size(); ++k)
    for (std::uint32_t i = 0; i < entry->second.sizes[k]; ++i, ++p)
      if (p->plan >= 0 && offer_from(l.excluded, k, p->fp, p->fn, {kKnownPlan, p->plan, -1})) l.is_stale = true;
  // A bound that is excluded by now hides nothing.
  p = first;
  bool is_all = true;
  for (std::size_t k = 0; k < l.excluded.size(); ++k)
    for (std::uint32_t i = 0; i < entry->second.sizes[k]; ++i, ++p)
      is_all = is_all && (p->plan >= 0 || l.excluded[k].covers(p->fp, p->fn));
  return is_all;
}

// The points of a child and its values in all directions, from the table.  False: it has none.
bool FrontSearch::raise_by_table(const Fingerprint& key, std::int32_t depth, Level& l, int holds) {
  if (!options_.use_table) return false;
  const auto entry = known_.find(mix(key, static_cast<std::uint64_t>(depth)));
  if (entry == known_.end()) return false;
  const FrontPoint* p = pool_.data() + entry->second.begin;
  l.found[holds].resize(entry->second.sizes.size());
  for (std::size_t k = 0; k < entry->second.sizes.size(); p += entry->second.sizes[k], ++k)
    l.found[holds][k].assign(p, p + entry->second.sizes[k]);
  raise_lower(l, holds);
  return true;
}

std::int64_t FrontSearch::table_bytes() const {
  return static_cast<std::int64_t>(pool_.capacity() * sizeof(FrontPoint) + known_.size() * 128) + plans_.bytes();
}

void FrontSearch::remember(const Fingerprint& key, std::int32_t depth, std::size_t level) {
  const std::vector<FrontPoints>& result = level_at(level).result;
  const bool is_exact = std::all_of(result.begin(), result.end(), [](const FrontPoints& points) {
    return std::all_of(points.begin(), points.end(), [](const FrontPoint& p) { return p.plan >= 0; });
  });
  if (options_.use_table && (is_exact || options_.use_front_infeasibility)) {
    Record record;
    record.begin = pool_.size();
    for (const FrontPoints& points : result) {
      record.sizes.push_back(static_cast<std::uint32_t>(points.size()));
      pool_.insert(pool_.end(), points.begin(), points.end());
    }
    known_.insert_or_assign(mix(key, static_cast<std::uint64_t>(depth)), std::move(record));
  }
  const std::int64_t limit = options_.memory_limit / 2 / std::max(options_.threads, 1);
  if (limit > 0 && table_bytes() > limit) forget(level);
  const std::int64_t bytes = table_bytes();
  if (bytes > charged_) memory_.charge(bytes - charged_);
  if (bytes < charged_) memory_.release(charged_ - bytes);
  charged_ = bytes;
}

// Empties the table and keeps the plans of the nodes under search only.  It costs time, never correctness.
void FrontSearch::forget(std::size_t level) {
  counters_.table_evictions += static_cast<std::int64_t>(known_.size());
  known_.clear();
  std::vector<FrontPoint>().swap(pool_);
  Plans kept(2);
  std::vector<std::int32_t> moved(plans_.size(), kNoPlan);
  moved[kNegativeLeaf] = kNegativeLeaf;
  moved[kPositiveLeaf] = kPositiveLeaf;
  // Children are older than their parents, so one pass upwards over what is marked would do; the recursion is shallow.
  const std::function<std::int32_t(std::int32_t)> move = [&](std::int32_t plan) -> std::int32_t {
    if (plan < 0 || static_cast<std::size_t>(plan) >= plans_.size()) return kNoPlan;
    std::int32_t& target = moved[static_cast<std::size_t>(plan)];
    if (target >= 0) return target;
    const Plan node = plans_[plan];
    const std::int32_t yes = move(node.yes), no = move(node.no);
    return target = kept.add({node.column, yes, no});
  };
  for (std::size_t i = 0; i <= level; ++i) {
    Level& l = *levels_[i];
    for (Stairs& stairs : l.excluded) {
      stairs.change_origins([&](Origin& o) {
        if (o.kind < 0) return;
        o.yes = move(o.yes);
        if (o.kind != kKnownPlan) o.no = move(o.no);
      });
    }
    for (FrontPoints& points : l.result)
      for (FrontPoint& p : points) p.plan = move(p.plan);
    for (auto& side : l.found)
      for (FrontPoints& points : side)
        for (FrontPoint& p : points) p.plan = move(p.plan);
  }
  plans_ = std::move(kept);
}

void FrontSearch::add_open_bounds(std::int32_t depth, std::vector<Point>& out) {
  // Of the splits still open, the least value in every direction.
  Level& root = level_at(0);
  join_bounds(root);
  const std::size_t m = n_directions(), stride = static_cast<std::size_t>(root.node.stride);
  std::vector<Cost> least(root_.excluded.size() * m, kInfinite);
  bool is_any = false;
  for (const std::int32_t split : root.order) {
    const auto s = static_cast<std::size_t>(split);
    if (root_.done[s]) continue;
    is_any = true;
    for (const Division& way : divisions(depth))
      for (std::size_t d = 0; d < m; ++d)
        least[way.sum * m + d] =
            std::min(least[way.sum * m + d], root.child_lower[1][(way.yes * m + d) * stride + s] +
                                                 root.child_lower[0][(way.no * m + d) * stride + s]);
  }
  if (!is_any) return;
  FrontPoints bound;
  for (std::size_t k = slots_.by_splits ? 1 : 0; k < root_.excluded.size(); ++k) {
    lower_points(directions_, least.data() + k * m, root.total[0], root.total[1], 256, bound);
    for (const FrontPoint& p : bound)
      if (!root_.excluded[k].covers(p.fp, p.fn)) out.push_back({p.fp, p.fn, static_cast<Cost>(k)});
  }
}

}  // namespace certree
