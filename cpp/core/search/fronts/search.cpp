#include "search/fronts/search.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "bounds/nested_sets.hpp"
#include "bounds/split_similarity.hpp"

namespace certree {

namespace {

// Work at depth three, in depth-two fronts made: with 5, 8 and 12 directions 8934, 3754, 2539 (australian-credit), 8751, 7296,
// 7290 (german-credit); each direction costs one more evaluation of the pairs.
constexpr std::size_t kDirections = 8;
constexpr std::int64_t kBoundPoints = 32;  // of a bound by directions that is subtracted from a front

FrontDepthTwoSettings depth_two_settings(const Options& options, const FrontSlots& slots) {
  FrontDepthTwoSettings settings;
  settings.min_leaf = options.min_leaf;
  settings.isa = options.isa;
  settings.slots = slots;
  return settings;
}

}  // namespace

FrontSearch::FrontSearch(const Dataset& data, const Options& options, const FrontSlots& slots, Budget& budget,
                         MemoryBudget& memory, FrontRoot& root, int number)
    : data_(data),
      options_(options),
      slots_(slots),
      budget_(budget),
      memory_(memory),
      root_(root),
      number_(number),
      factory_(data, bit_kernels_for(options.isa), memory, options.use_column_reduction),
      depth_two_(make_front_depth_two(data, depth_two_settings(options, slots), factory_, budget, memory)),
      common_{AlignedArray<Cost>(memory), AlignedArray<Cost>(memory)} {}

FrontSearch::Level& FrontSearch::level_at(std::size_t level) {
  while (levels_.size() <= level) levels_.push_back(std::make_unique<Level>(memory_));
  return *levels_[level];
}

const std::vector<FrontSearch::Division>& FrontSearch::divisions(std::int32_t depth) {
  const auto d = static_cast<std::size_t>(depth);
  if (divisions_.size() <= d) divisions_.resize(d + 1);
  std::vector<Division>& out = divisions_[d];
  if (!out.empty()) return out;
  if (!slots_.by_splits) {
    out.push_back({0, 0, 0});
    return out;
  }
  const std::size_t child = slots_.count(depth - 1);
  for (std::size_t k = 1; k < slots_.count(depth); ++k)
    for (std::size_t a = 0; a < std::min(k, child); ++a)
      if (k - 1 - a < child) out.push_back({a, k - 1 - a, k});
  return out;
}

bool FrontSearch::poll() {
  if (budget_.poll()) return true;
  if (number_ > 0) return false;
  root_.watch.observe();
  return budget_.stopped();
}

// What is excluded there by now; only what is found from here on has origins.  Under the root's lock.
void FrontSearch::read_root() {
  if (seen_ == root_.version) return;
  Level& root = level_at(0);
  root.excluded = root_.excluded;
  for (Stairs& stairs : root.excluded) stairs.change_origins([](Origin& origin) { origin = {}; });
  root.is_stale = true;
  seen_ = root_.version;
}

void FrontSearch::join_bounds(Level& l) {
  const std::size_t n = slots_.count(root_depth_ - 1) * n_directions() * static_cast<std::size_t>(l.node.stride);
  const SharedLock lock(root_.mutex, budget_);
  for (const int holds : {0, 1}) root_.child_lower[holds].join_lower(l.child_lower[holds].data(), n);
}

bool FrontSearch::open_root(std::int32_t depth) {
  Level& root = level_at(0);
  root_depth_ = depth;
  factory_.make_root(root.node);
  root.total[0] = root.node.totals[0];
  root.total[1] = root.node.totals[1];
  {
    const SharedLock lock(root_.mutex, budget_);
    seen_ = -1;
    read_root();
  }
  root.is_open = false;
  if (depth <= 0) return true;
  if (poll() || !open(0, depth, -1, false)) return false;
  if (depth > 2) prepare_splits(root, depth);
  return true;
}

void FrontSearch::share_root(std::int32_t place) {
  const std::vector<Stairs>& found = level_at(0).excluded;
  const SharedLock lock(root_.mutex, budget_);
  const std::int64_t version = root_.version;
  for (std::size_t k = 0; k < found.size(); ++k) {
    found[k].visit([&](Cost fp, Cost fn, const Origin& origin) {
      if (origin.kind < 0) return;
      Stairs& known = root_.excluded[k];
      Origin* same = known.origin_at(fp, fn);
      if (same != nullptr ? same->kind <= place : known.covers(fp, fn)) return;
      const Origin tree{place, static_cast<std::int32_t>(root_.trees.size()), -1};
      root_.trees.push_back(
          plans_.tree(origin.kind == kKnownPlan ? plans_[origin.yes] : Plan{origin.kind, origin.yes, origin.no}));
      if (same != nullptr)
        *same = tree;
      else
        known.offer(fp, fn, tree);
      ++root_.version;
    });
  }
  if (root_.version == version) return;
  std::int64_t n_points = 0;
  root_.excluded.back().visit([&](Cost, Cost, const Origin& o) { n_points += o.kind >= 0; });
  root_.watch.record(n_points);
}

bool FrontSearch::search_next_split(std::int32_t depth) {
  Level& root = level_at(0);
  std::size_t place = 0;
  {
    // What is excluded comes from splits before this one.
    const SharedLock lock(root_.mutex, budget_);
    place = root_.next++;
    read_root();
  }
  const std::int32_t split = root.order[place];
  join_bounds(root);
  if (!search_split(0, split, depth)) return false;
  share_root(static_cast<std::int32_t>(place) + 1);
  join_bounds(root);
  const SharedLock lock(root_.mutex, budget_);
  root_.done[static_cast<std::size_t>(split)] = 1;
  return true;
}

void FrontSearch::refresh(Level& l) {
  if (!l.is_stale) return;
  l.wanted.resize(l.excluded.size());
  // Once the depth-two front is in, trees with up to two splits have nothing to add, and leaves never have.
  const std::size_t done = !slots_.by_splits ? 0 : l.is_open ? 3 : 1;
  for (std::size_t k = 0; k < l.excluded.size(); ++k) {
    if (k < done)
      l.wanted[k].clear();
    else
      l.wanted[k].set(directions_, l.excluded[k]);
  }
  l.is_stale = false;
}

// Completes level.excluded for the child of the split of the level above.  False: stopped.
bool FrontSearch::solve(std::size_t level, std::int32_t depth, std::int32_t split, bool holds) {
  Level& l = level_at(level);
  l.is_stale = true;
  l.is_open = false;
  offer_from(l.excluded, 0, 0, l.total[1], {kKnownPlan, kNegativeLeaf, -1});
  offer_from(l.excluded, 0, l.total[0], 0, {kKnownPlan, kPositiveLeaf, -1});
  refresh(l);
  const bool is_closed = std::all_of(l.wanted.begin(), l.wanted.end(), [](const Wanted& w) { return w.is_empty(); });
  const Fingerprint key = level_at(level - 1).rows[holds ? 1 : 0].key;
  if (depth > 0 && !is_closed && !recall(key, depth, l)) {
    if (poll() || !open(level, depth, split, holds)) return false;
    if (depth > 2 && !search_splits(level, depth)) return false;
    extract(l.excluded, false, l.result);
    remember(key, depth, level);
    return true;
  }
  extract(l.excluded, false, l.result);
  return true;
}

bool FrontSearch::open(std::size_t level, std::int32_t depth, std::int32_t split, bool holds) {
  Level& l = level_at(level);
  if (level > 0) {
    const Node& parent = level_at(level - 1).node;
    factory_.child_rows(parent, split, holds, l.node.rows);
    factory_.make_child(parent, split, holds, true, l.node);
  }
  if (!depth_two_->count(l.node, depth > 1, l.expansion)) return false;
  if (level > 0 && depth > 1 && n_directions() > 0 && !depth_two_->weigh(l.node, l.expansion)) return false;
  if (!add_depth_two_front(level, std::min(depth, 2))) return false;
  if (level == 0 && options_.use_front_directions && depth > 2) {
    directions_ = choose_directions(l.excluded.back(), kDirections, most_direction_weight(data_));
    depth_two_->set_directions(directions_);
    if (!depth_two_->weigh(l.node, l.expansion)) return false;
    l.is_stale = true;
  }
  return true;
}

// The wanted points of trees of depth one or two, which are exact for that depth and incumbents for more.
bool FrontSearch::add_depth_two_front(std::size_t level, std::int32_t depth) {
  Level& l = level_at(level);
  refresh(l);
  scratch_.resize(l.excluded.size());
  for (std::size_t k = 0; k < l.excluded.size(); ++k) {
    scratch_[k].reset(l.total[0], l.total[1]);
    l.excluded[k].visit([&](Cost fp, Cost fn, const Origin&) { scratch_[k].offer(fp, fn, {}); });
  }
  const bool is_done =
      depth_two_->add_front(FrontRows::node, depth, l.wanted, n_directions() > 0 && level > 0, scratch_);
  for (std::size_t k = 0; k < scratch_.size(); ++k) {
    scratch_[k].visit([&](Cost fp, Cost fn, const Origin& o) {
      if (o.kind < 0 || l.excluded[k].covers(fp, fn)) return;
      const std::int32_t plan = plan_of_depth_two(o);
      if (offer_from(l.excluded, k, fp, fn, {kKnownPlan, plan, -1})) l.is_stale = true;
    });
  }
  return is_done;
}

Cost FrontSearch::child_total(const Level& l, std::int32_t split, int holds, int type) const {
  const Cost yes = (type == 0 ? l.negatives : l.positives)[static_cast<std::size_t>(split)];
  return holds != 0 ? yes : l.total[type] - yes;
}

// First bounds of the children of every split: exact for no split and one, what the rows force, and what the node's own
// bound leaves (bounds/nested_sets.hpp, in every direction).
void FrontSearch::start_children(Level& l, std::int32_t depth) {
  const auto n = static_cast<std::size_t>(l.node.n_columns), stride = static_cast<std::size_t>(l.node.stride);
  const std::size_t m = n_directions(), slots = slots_.count(depth - 1);
  depth_two_->columns(l.node, l.expansion, l.negatives.ensure(stride), l.positives.ensure(stride),
                      l.unavoidable.ensure(stride));
  const bool has_conflicts = data_.has_conflicts() && options_.use_equivalent_points;
  l.total_unavoidable = has_conflicts ? l.node.totals[static_cast<std::size_t>(data_.n_pair_types())] : 0;
  for (const int holds : {0, 1}) {
    Cost* lower = l.child_lower[holds].ensure(slots * m * stride);
    for (std::size_t k = 0; k < slots; ++k) {
      for (std::size_t d = 0; d < m; ++d) {
        const Direction w = directions_[d];
        for (std::size_t s = 0; s < n; ++s) {
          const auto split = static_cast<std::int32_t>(s);
          Cost value = 0;
          if (slots_.by_splits && k < 2) {
            value = depth_two_->side_value(split, holds != 0, d, k == 1);
          } else if (has_conflicts) {
            value = std::min(w.fp, w.fn) * (holds != 0 ? l.unavoidable[s] : l.total_unavoidable - l.unavoidable[s]);
          }
          if (options_.use_nested_sets && !l.known.empty()) {
            const Cost lost = w.weigh(child_total(l, split, 1 - holds, 0), child_total(l, split, 1 - holds, 1));
            value = std::max(value, l.known[k * m + d] - lost);
          }
          lower[(k * m + d) * stride + s] = value;
        }
      }
    }
  }
}

// By the distance from the best look-ahead value in the direction that suits the split best.
void FrontSearch::order_splits(Level& l) {
  const auto n = static_cast<std::size_t>(l.node.n_columns);
  l.order.clear();
  for (std::int32_t s = 0; s < l.node.n_columns; ++s)
    if (depth_two_->may_split(FrontRows::node, s)) l.order.push_back(s);
  if (!options_.use_look_ahead_order || n_directions() == 0) return;
  std::vector<double> score(n, 1e300);
  for (std::size_t d = 0; d < n_directions(); ++d) {
    const auto value = [&](std::int32_t s) {
      return depth_two_->side_value(s, true, d, true) + depth_two_->side_value(s, false, d, true);
    };
    Cost best = kInfinite;
    for (const std::int32_t s : l.order) best = std::min(best, value(s));
    const double scale = static_cast<double>(directions_[d].weigh(l.total[0], l.total[1]) + 1);
    for (const std::int32_t s : l.order)
      score[static_cast<std::size_t>(s)] =
          std::min(score[static_cast<std::size_t>(s)], static_cast<double>(value(s) - best) / scale);
  }
  std::stable_sort(l.order.begin(), l.order.end(), [&](std::int32_t a, std::int32_t b) {
    return score[static_cast<std::size_t>(a)] < score[static_cast<std::size_t>(b)];
  });
}

void FrontSearch::prepare_splits(Level& l, std::int32_t depth) {
  ++counters_.nodes_expanded;
  order_splits(l);
  start_children(l, depth);
  l.is_open = l.is_stale = true;
  divisions(depth);
}

bool FrontSearch::search_splits(std::size_t level, std::int32_t depth) {
  Level& l = level_at(level);
  prepare_splits(l, depth);
  for (const std::int32_t split : l.order)
    if (!search_split(level, split, depth)) return false;
  return true;
}

bool FrontSearch::search_split(std::size_t level, std::int32_t split, std::int32_t depth) {
  if (poll()) return false;
  Level& l = level_at(level);
  const std::size_t m = n_directions(), slots = slots_.count(depth - 1),
                    stride = static_cast<std::size_t>(l.node.stride);
  for (const int holds : {0, 1}) {
    l.lower[holds].resize(slots * m);
    for (std::size_t k = 0; k < slots * m; ++k)
      l.lower[holds][k] = l.child_lower[holds][k * stride + static_cast<std::size_t>(split)];
  }
  if (!is_wanted(l, depth)) {
    ++counters_.splits_pruned;
    return true;
  }
  ++counters_.splits_tried;
  const bool is_terminal = depth == 3 && options_.use_sibling_subtraction;
  if (!(is_terminal ? try_terminal(level, split, depth) : try_deep(level, split, depth))) return false;
  spread(l, split, depth);
  return true;
}

void FrontSearch::merge_lower(Level& l, std::int32_t depth) {
  const std::size_t m = n_directions();
  l.merged.assign(slots_.count(depth) * m, kInfinite);
  for (const Division& way : divisions(depth))
    for (std::size_t d = 0; d < m; ++d)
      l.merged[way.sum * m + d] =
          std::min(l.merged[way.sum * m + d], l.lower[1][way.yes * m + d] + l.lower[0][way.no * m + d]);
}

// Do the bounds of the children, merged, leave anything outside of the excluded set?
bool FrontSearch::is_wanted(Level& l, std::int32_t depth) {
  refresh(l);
  if (!options_.use_front_merge) return true;
  merge_lower(l, depth);
  const std::size_t m = n_directions();
  for (std::size_t k = 0; k < l.wanted.size(); ++k)
    if (l.wanted[k].admits(l.merged.data() + k * m)) return true;
  return false;
}

// Bounds of all other splits' children from this one's, in every direction (bounds/split_similarity.hpp).
void FrontSearch::spread(Level& l, std::int32_t split, std::int32_t depth) {
  if (!options_.use_front_similarity || !similarity_is_valid(options_.min_leaf) || n_directions() == 0) return;
  const auto n = static_cast<std::size_t>(l.node.n_columns), stride = static_cast<std::size_t>(l.node.stride);
  const auto f = static_cast<std::size_t>(split);
  const std::size_t m = n_directions(), slots = slots_.count(depth - 1);
  Cost* both_neg = common_[0].ensure(stride);
  Cost* both_pos = common_[1].ensure(stride);
  depth_two_->common(l.node, l.expansion, split, both_neg, both_pos);
  for (std::size_t d = 0; d < m; ++d) {
    const Direction w = directions_[d];
    const Cost all = w.weigh(l.total[0], l.total[1]), mine = w.weigh(l.negatives[f], l.positives[f]);
    for (std::size_t k = 0; k < slots; ++k) {
      const Cost yes = l.lower[1][k * m + d], no = l.lower[0][k * m + d];
      Cost* yes_lower = l.child_lower[1].data() + (k * m + d) * stride;
      Cost* no_lower = l.child_lower[0].data() + (k * m + d) * stride;
      for (std::size_t h = 0; h < n; ++h) {
        const Cost both = w.weigh(both_neg[h], both_pos[h]), other = w.weigh(l.negatives[h], l.positives[h]);
        yes_lower[h] = std::max({yes_lower[h], yes - (mine - both), no - (all - mine - other + both)});
        no_lower[h] = std::max({no_lower[h], yes - both, no - (other - both)});
      }
    }
  }
}

// Points below everything that the child on one side can have, from its values in all directions.
void FrontSearch::bound_by_directions(Level& l, std::int32_t split, std::int32_t depth, int holds) {
  const std::size_t slots = slots_.count(depth - 1), m = n_directions();
  l.found[holds].resize(slots);
  for (std::size_t k = 0; k < slots; ++k)
    lower_points(directions_, l.lower[holds].data() + k * m, child_total(l, split, holds, 0),
                 child_total(l, split, holds, 1), kBoundPoints, l.found[holds][k]);
}

// What the child on one side need not find, given bounds of the other in `found`: p is wanted only if p + l is below a
// corner for some point l of them.  False: nothing is wanted.
bool FrontSearch::subtract(Level& l, std::int32_t split, std::int32_t depth, int holds, std::vector<Stairs>& out) {
  const std::size_t slots = slots_.count(depth - 1);
  const Cost negatives = child_total(l, split, holds, 0), positives = child_total(l, split, holds, 1);
  candidates_.resize(std::max(candidates_.size(), slots));
  for (Corners& c : candidates_) c.clear();
  refresh(l);
  for (const Division& way : divisions(depth)) {
    Corners& target = candidates_[holds != 0 ? way.yes : way.no];
    for (const Corner& c : l.wanted[way.sum].corners()) {
      if (!options_.use_front_subtraction) {
        target.push_back(c);
        continue;
      }
      for (const FrontPoint& p : l.found[1 - holds][holds != 0 ? way.no : way.yes])
        if (p.fp <= c.fp && p.fn <= c.fn) target.push_back({c.fp - p.fp, c.fn - p.fn});
    }
  }
  out.resize(slots);
  bool is_any = false;
  for (std::size_t a = 0; a < slots; ++a) {
    keep_maximal(negatives, candidates_[a], room_);
    is_any = is_any || !candidates_[a].empty();
    out[a].reset(negatives, positives);
    exclude_all_but(candidates_[a], out[a]);
  }
  return is_any;
}

// The children have depth two: both fronts from the pair counts of this node.
bool FrontSearch::try_terminal(std::size_t level, std::int32_t split, std::int32_t depth) {
  Level& l = level_at(level);
  if (!depth_two_->count_children(l.node, l.expansion, split)) return false;
  const std::size_t slots = slots_.count(depth - 1);
  depth_two_->lower(FrontRows::yes, slots, l.lower[1].data());
  depth_two_->lower(FrontRows::no, slots, l.lower[0].data());
  if (!is_wanted(l, depth)) return true;
  const int first = child_total(l, split, 1, 0) + child_total(l, split, 1, 1) <=
                            child_total(l, split, 0, 0) + child_total(l, split, 0, 1)
                        ? 1
                        : 0;
  bound_by_directions(l, split, depth, 1 - first);
  for (const int holds : {first, 1 - first}) {
    if (!subtract(l, split, depth, holds, scratch_)) return true;
    offer_from(scratch_, 0, 0, child_total(l, split, holds, 1), {kKnownPlan, kNegativeLeaf, -1});
    offer_from(scratch_, 0, child_total(l, split, holds, 0), 0, {kKnownPlan, kPositiveLeaf, -1});
    scratch_wanted_.resize(slots);
    for (std::size_t k = 0; k < slots; ++k) scratch_wanted_[k].set(directions_, scratch_[k]);
    if (!depth_two_->add_front(holds != 0 ? FrontRows::yes : FrontRows::no, depth - 1, scratch_wanted_,
                               n_directions() > 0, scratch_))
      return false;
    extract(scratch_, true, l.found[holds]);
  }
  return combine(l, split, depth);
}

bool FrontSearch::try_deep(std::size_t level, std::int32_t split, std::int32_t depth) {
  Level& l = level_at(level);
  bool is_known[2] = {};
  for (const int holds : {0, 1}) {
    factory_.child_rows(l.node, split, holds != 0, l.rows[holds]);
    is_known[holds] = raise_by_table(l.rows[holds].key, depth - 1, l, holds);
  }
  const int first = child_total(l, split, 1, 0) + child_total(l, split, 1, 1) <=
                            child_total(l, split, 0, 0) + child_total(l, split, 0, 1)
                        ? 1
                        : 0;
  if (!is_known[1 - first]) bound_by_directions(l, split, depth, 1 - first);
  for (const int holds : {first, 1 - first}) {
    if (!is_wanted(l, depth)) return true;
    Level& child = level_at(level + 1);
    if (!subtract(l, split, depth, holds, child.excluded)) return true;
    for (const int type : {0, 1}) child.total[type] = child_total(l, split, holds, type);
    child.known = l.lower[holds];
    if (!solve(level + 1, depth - 1, split, holds != 0)) return false;
    l.found[holds] = child.result;
    raise_lower(l, holds);
  }
  return combine(l, split, depth);
}

// The values of a child in all directions, from the minimal points of what it has and what it cannot have.
void FrontSearch::raise_lower(Level& l, int holds) {
  const std::size_t m = n_directions();
  for (std::size_t k = 0; k < l.found[holds].size(); ++k) {
    for (std::size_t d = 0; d < m; ++d) {
      Cost least = kInfinite;
      for (const FrontPoint& p : l.found[holds][k]) least = std::min(least, directions_[d].weigh(p.fp, p.fn));
      l.lower[holds][k * m + d] = std::max(l.lower[holds][k * m + d], least);
    }
  }
}

// Adds the sums of the children's points.  False: stopped.
bool FrontSearch::combine(Level& l, std::int32_t split, std::int32_t depth) {
  const std::int32_t column = l.node.column[static_cast<std::size_t>(split)];
  for (const Division& way : divisions(depth)) {
    const FrontPoints& others = l.found[0][way.no];
    for (const FrontPoint& yes : l.found[1][way.yes]) {
      if (yes.plan < 0) continue;
      for (const FrontPoint& no : others)
        if (no.plan >= 0 &&
            offer_from(l.excluded, way.sum, yes.fp + no.fp, yes.fn + no.fn, {column, yes.plan, no.plan}))
          l.is_stale = true;
      if (others.size() > (1 << 12) && poll()) return false;
    }
  }
  return true;
}

}  // namespace certree
