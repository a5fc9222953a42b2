#include "search/ordered/search.hpp"

#include <algorithm>

namespace certree {

namespace {

// Sides are solved this share of all cost past what could still win, and at least so many mean rows.
constexpr Cost kSlackShare = 20;
constexpr Cost kSlackRows = 8;

// Bounds for leaves of any size are entries of their own.
constexpr std::uint64_t kLooseKey = std::uint64_t{1} << 32;

}  // namespace

OrderedSearch::OrderedSearch(const OrderedData& data, const Options& options, const Objective& objective,
                             Budget& budget, MemoryBudget& memory, Table& table, Progress& progress)
    : data_(data),
      options_(options),
      objective_(objective),
      budget_(budget),
      memory_(memory),
      table_(table),
      progress_(progress),
      goal_(&progress),
      depth_two_(make_ordered_depth_two(data, options, objective, budget, memory, progress)),
      is_in_(static_cast<std::size_t>(data.n_rows()), std::uint8_t{0}, memory) {
  const Cost total = objective.leaf(data.worst_total());
  slack_ = least_slack_ = std::max(total / kSlackShare, kSlackRows * (total / data.n_rows()));
  level(0).node.make_root();
}

OrderedSearch::Level& OrderedSearch::level(std::size_t k) {
  while (levels_.size() <= k) levels_.push_back(std::make_unique<Level>(data_, budget_, memory_));
  return *levels_[k];
}

bool OrderedSearch::poll() {
  progress_.observe();
  return budget_.poll();
}

std::int32_t OrderedSearch::test_of(OrderedSplit split) const {
  return split.feature >= 0 ? data_.test(split.feature, split.rank) : kLeafTree;
}

OrderedRows OrderedSearch::part_of(OrderedNode& node, const std::int32_t* rows, std::int32_t n_rows) {
  std::fill(is_in_.begin(), is_in_.end(), std::uint8_t{0});
  for (std::int32_t i = 0; i < n_rows; ++i) is_in_[static_cast<std::size_t>(rows[i])] = 1;
  OrderedRows part;
  part.node = &node;
  part.rows = rows;
  part.n_rows = n_rows;
  part.is_in = is_in_.data();
  return part;
}

OrderedRows OrderedSearch::all_rows(std::size_t k) {
  OrderedNode& node = level(k).node;
  return part_of(node, node.rows(), node.n_rows());
}

// Nothing at or above this is of interest at the node.
Cost OrderedSearch::limit(std::size_t k) const {
  const Level& here = *levels_[k];
  const Cost best = k == 0 && is_last_ ? here.best - options_.gap : here.best;
  return std::min(best, here.ceiling);
}

const ChargedVector<Cost>& OrderedSearch::worst(std::size_t k, std::int32_t f) {
  Level& here = level(k);
  ChargedVector<Cost>& sums = here.worst[static_cast<std::size_t>(f)];
  if (!sums.empty()) return sums;
  const std::int32_t* order = here.node.order(f);
  sums.resize(static_cast<std::size_t>(here.node.n_rows()) + 1);
  sums[0] = 0;
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] = sums[i - 1] + objective_.leaf(data_.worst(order[i - 1]));
  return sums;
}

// Of the rows between two positions; where nothing is known of it, more than any tree costs.
Cost OrderedSearch::worst_between(std::size_t k, std::int32_t f, std::int32_t from, std::int32_t to) {
  if (!data_.has_worst()) return from < to ? kInfinite : 0;
  const ChargedVector<Cost>& sums = worst(k, f);
  return sums[static_cast<std::size_t>(to)] - sums[static_cast<std::size_t>(from)];
}

// The whole range of thresholds of every feature.  A tree with one level less is one of these.
void OrderedSearch::start(std::size_t k, const Cost* by) {
  Level& here = level(k);
  const auto n = static_cast<std::size_t>(data_.n_features());
  here.points.clear();
  for (int end = 0; end < 2; ++end) here.points.emplace_back(memory_);
  for (Point& point : here.points) {
    point.sides.assign(here.divisions.size(), {});
    for (auto& bounds : point.by) bounds.assign(here.divisions.size() * n, 0);
  }
  // Sides have trees of the node's shape, and fewer of them.
  for (std::size_t j = 0; j < here.divisions.size(); ++j) {
    std::copy_n(by, n, here.points[0].by[1].begin() + static_cast<std::ptrdiff_t>(j * n));
    std::copy_n(by, n, here.points[1].by[0].begin() + static_cast<std::ptrdiff_t>(j * n));
  }
  here.points[1].position = here.node.n_rows();
  here.worst.assign(n, ChargedVector<Cost>(memory_));
  here.low.assign(n, kInfinite);
  here.loose.assign(n, kInfinite);
  here.open = {};
  for (std::int32_t f = 0; f < data_.n_features(); ++f) push(k, f, 0, 1, by[f]);
}

void OrderedSearch::push(std::size_t k, std::int32_t f, std::int32_t a, std::int32_t b, Cost bound) {
  Level& here = level(k);
  const Point &first = here.points[static_cast<std::size_t>(a)], &last = here.points[static_cast<std::size_t>(b)];
  if (options_.use_threshold_intervals) {
    Cost between = 0;
    bool matters = false;
    for (std::size_t j = 0; j < first.sides.size(); ++j) matters |= first.sides[j].right + last.sides[j].left > 0;
    if (matters) between = worst_between(k, f, first.position, last.position);
    bound = std::max(bound, interval_bound(objective_, DividedSides(first.sides), DividedSides(last.sides), between));
  }
  here.open.push({bound, f, a, b, last.position - first.position});
}

// The threshold to evaluate next in an interval: near the middle of what margins leave; -1: none is left.
// `leaves_small`: some are left out since a leaf would be too small; for leaves of any size the interval keeps its bound.
std::int32_t OrderedSearch::choose(std::size_t k, const OpenInterval& at, bool* leaves_small) {
  Level& here = level(k);
  const Point &a = here.points[static_cast<std::size_t>(at.a)], &b = here.points[static_cast<std::size_t>(at.b)];
  std::int32_t low = a.position + 1, high = b.position - 1;
  if (options_.use_threshold_margins && data_.has_worst()) {
    const ChargedVector<Cost>& sums = worst(k, at.feature);
    const Cost before = margin(objective_, DividedSides(a.sides), limit(k)),
               after = margin(objective_, DividedSides(b.sides), limit(k));
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
  const auto smallest = static_cast<std::int32_t>(std::min<std::int64_t>(options_.min_leaf, here.node.n_rows()));
  *leaves_small = low < smallest || high > here.node.n_rows() - smallest;
  low = std::max(low, smallest);
  high = std::min(high, here.node.n_rows() - smallest);
  if (low > high) return -1;
  const std::int32_t* order = here.node.order(at.feature);
  const std::int32_t* ranks = data_.ranks(at.feature);
  const auto parts = [&](std::int32_t p) { return ranks[order[p - 1]] != ranks[order[p]]; };
  const std::int32_t middle = low + (high - low) / 2;
  std::int32_t down = middle, up = middle + 1;
  while (down >= low && !parts(down)) --down;
  while (up <= high && !parts(up)) ++up;
  if (down >= low && (up > high || middle - down <= up - middle)) return down;
  return up <= high ? up : -1;
}

void OrderedSearch::settle(std::size_t k, std::int32_t f, Cost lower, Cost loose) {
  Level& here = level(k);
  here.low[static_cast<std::size_t>(f)] = std::min(here.low[static_cast<std::size_t>(f)], lower);
  here.loose[static_cast<std::size_t>(f)] = std::min(here.loose[static_cast<std::size_t>(f)], loose);
}

OrderedFound OrderedSearch::search(std::size_t k, Shape shape, Cost ceiling, Cost* by, Cost known_upper) {
  Level& here = level(k);
  list_divisions(shape, here.divisions);
  ++counters_.nodes_expanded;
  here.best = known_upper;
  here.ceiling = ceiling;
  here.split = {};
  here.shallow_lower = 0;
  std::int32_t label = 0;
  const Cost leaf = depth_two_->leaf_value(all_rows(k), &label);
  here.best = std::min(here.best, leaf);
  if (leaf <= objective_.split_penalty) return {leaf, leaf, leaf};
  if (!options_.use_root_feature_bounds) std::fill(by, by + data_.n_features(), Cost{0});
  if (shape.depth == 3 && (k > 0 || known_upper >= kInfinite)) look_ahead(k, shape.splits);
  start(k, by);
  while (!here.open.empty()) {
    const OpenInterval at = here.open.top();
    if (k == 0 && is_last_) {
      Cost settled = std::min(here.best, at.bound);
      for (const Cost low : here.low) settled = std::min(settled, low);
      goal_->raise(std::min(settled, beyond_));
    }
    if (at.bound >= limit(k) || poll()) break;
    bool leaves_small = false;
    const std::int32_t position = choose(k, at, &leaves_small);
    here.open.pop();
    if (position < 0) {
      const Cost skipped = std::max(at.bound, limit(k));
      settle(k, at.feature, skipped, leaves_small ? at.bound : skipped);
    } else if (!evaluate(k, shape, at, position)) {
      here.open.push(at);
      break;
    }
  }
  OrderedFound found = finish(k, by);
  found.lower = std::min(found.lower, leaf);
  found.loose = std::min(found.loose, leaf);
  return found;
}

// The best tree of depth two is a first tree, and bounds those whose root test parts nothing.
void OrderedSearch::look_ahead(std::size_t k, std::int64_t splits) {
  Level& here = level(k);
  std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
  OrderedSplit split;
  const OrderedFound found =
      depth_two_->solve(all_rows(k), std::min<std::int64_t>(splits, 3), here.ceiling + slack_, by.data(), &split);
  here.shallow_lower = found.loose;
  if (found.upper >= here.best) return;
  here.best = found.upper;
  here.split = split;
}

// What is left open keeps its bound.
OrderedFound OrderedSearch::finish(std::size_t k, Cost* by) {
  Level& here = level(k);
  for (; !here.open.empty(); here.open.pop()) {
    const OpenInterval& at = here.open.top();
    settle(k, at.feature, at.bound, at.bound);
  }
  OrderedFound found{here.best, here.best, here.best};
  for (std::int32_t f = 0; f < data_.n_features(); ++f) {
    const auto at = static_cast<std::size_t>(f);
    found.loose = std::min(found.loose, std::max(by[f], here.loose[at]));
    found.lower = std::min(found.lower, std::max({by[f], here.loose[at], here.low[at]}));
  }
  // Tests that part nothing leave a tree of one level less.
  const Cost shallow = std::max(here.shallow_lower, found.loose);
  for (std::int32_t f = 0; f < data_.n_features(); ++f)
    by[f] = std::max(by[f], std::min(here.loose[static_cast<std::size_t>(f)], shallow));
  return found;
}

OrderedSearch::Side OrderedSearch::side_of(std::size_t k, std::int32_t f, std::int32_t position, bool holds,
                                           const Fingerprint& key) const {
  OrderedNode& node = levels_[k]->node;
  const std::int32_t* order = node.order(f);
  const std::int32_t rank = data_.ranks(f)[order[position - 1]];
  const Side side{k, f, rank, position, holds, holds ? position : node.n_rows() - position, key};
  data_.audit(key, holds ? order : order + position, side.n_rows);
  return side;
}

// What its neighbours say of a threshold.
OrderedSearch::Point OrderedSearch::between(std::size_t k, const OpenInterval& at, std::int32_t position) {
  Level& here = level(k);
  const Point &a = here.points[static_cast<std::size_t>(at.a)], &b = here.points[static_cast<std::size_t>(at.b)];
  const Cost from_a = worst_between(k, at.feature, a.position, position);
  const Cost to_b = worst_between(k, at.feature, position, b.position);
  Point point(memory_);
  point.position = position;
  point.sides.assign(here.divisions.size(), {});
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

// Solves both sides of a threshold as far as it can matter, and puts it between its neighbours.  False: stopped.
bool OrderedSearch::evaluate(std::size_t k, Shape shape, const OpenInterval& at, std::int32_t position) {
  Level& here = level(k);
  ++counters_.splits_tried;
  Point point = between(k, at, position);
  const std::int32_t* order = here.node.order(at.feature);
  Fingerprint keys[2] = {};  // [side]: 0 holds
  const bool left_is_small = position <= here.node.n_rows() - position;
  Fingerprint& small = keys[left_is_small ? 0 : 1];
  for (std::int32_t i = left_is_small ? 0 : position, end = left_is_small ? position : here.node.n_rows(); i < end; ++i)
    add_key(small, data_.key(order[i]));
  keys[left_is_small ? 1 : 0] = less_key(here.node.key(), small);
  const Side sides[2] = {side_of(k, at.feature, position, true, keys[0]),
                         side_of(k, at.feature, position, false, keys[1])};

  Cost lower = kInfinite, loose = kInfinite;
  OrderedFound found[2];
  for (std::size_t j = 0; j < here.divisions.size(); ++j) {
    // Where the test does not hold, each division has fewer splits than the one before: its bounds stay.
    const Cost right = j > 0 ? found[1].lower : 0, loose_right = j > 0 ? found[1].loose : 0;
    const ThresholdSides& known = point.sides[j];
    found[0] = {known.left, known.left, kInfinite};
    found[1] = {std::max(known.right, right), std::max(known.right, loose_right), kInfinite};
    if (!solve_sides(sides, j, point, found)) return false;
    const bool fits = found[0].lower < kInfinite && found[1].lower < kInfinite;
    if (found[0].upper < kInfinite && found[1].upper < kInfinite) {
      const Cost value = objective_.split(found[0].upper + found[1].upper);
      if (value < here.best) {
        here.best = value;
        here.split = {at.feature, data_.ranks(at.feature)[order[position - 1]]};
        // Windows of the improver are searched without a limit on splits, and it cuts their trees itself.
        if (k == 0 && shape.splits <= most_splits_) publish(k, shape, here.split, value);
      }
    }
    point.sides[j] = {found[0].loose, found[1].loose};
    if (fits) lower = std::min(lower, objective_.split(found[0].lower + found[1].lower));
    loose = std::min(loose, objective_.split(found[0].loose + found[1].loose));
  }
  settle(k, at.feature, lower, loose);
  here.points.push_back(std::move(point));
  const auto index = static_cast<std::int32_t>(here.points.size()) - 1;
  push(k, at.feature, at.a, index, at.bound);
  push(k, at.feature, index, at.b, at.bound);
  return true;
}

// The smaller side first.  False: stopped.
bool OrderedSearch::solve_sides(const Side (&sides)[2], std::size_t division, Point& point, OrderedFound (&found)[2]) {
  const std::size_t k = sides[0].level, n = static_cast<std::size_t>(data_.n_features());
  const int first = sides[0].n_rows <= sides[1].n_rows ? 0 : 1;
  for (const int s : {first, 1 - first}) {
    const Cost other = found[1 - s].lower;
    if (objective_.split(found[0].lower + found[1].lower) >= limit(k)) break;
    const Shape shape = level(k).divisions[division].side[s];
    const Cost ceiling = limit(k) - objective_.split_penalty - other + slack_;
    const OrderedFound solved = solve_side(sides[s], shape, ceiling, point.by[s].data() + division * n);
    found[s].lower = std::max(found[s].lower, solved.lower);
    found[s].loose = std::max(found[s].loose, solved.loose);
    found[s].upper = solved.upper;
    if (budget_.stopped() && !(solved.lower >= std::min(solved.upper, ceiling))) return false;
  }
  return true;
}

OrderedFound OrderedSearch::recall(const Fingerprint& key, Shape shape, std::int32_t* test) {
  OrderedFound found;
  Record record;
  if (!options_.use_table) return found;
  const bool is_known = table_.find(mix(key, shape.key()), record);
  ++(is_known ? counters_.table_hits : counters_.table_misses);
  if (is_known) {
    found = {record.interval.lower, record.interval.lower, record.interval.upper};
    if (test != nullptr) *test = record.column;
    Record loose;
    if (options_.min_leaf > 1)
      found.loose = table_.find(mix(key, shape.key() + kLooseKey), loose) ? loose.interval.lower : 0;
  }
  // More splits cost no more.
  if (!shape.is_full() && found.lower < found.upper) {
    const OrderedFound all = recall(key, Shape::full(shape.depth), nullptr);
    found.lower = std::max(found.lower, all.lower);
    found.loose = std::max(found.loose, all.loose);
  }
  return found;
}

void OrderedSearch::remember(const Fingerprint& key, Shape shape, const OrderedFound& found, std::int32_t test,
                             std::int64_t effort) {
  if (!options_.use_table) return;
  const auto weight = static_cast<std::uint32_t>(std::clamp<std::int64_t>(effort, 1, 1 << 30));
  OrderedFound kept = found;
  if (!options_.use_infeasibility && found.lower < found.upper) kept.lower = 0;
  table_.store(mix(key, shape.key()), {{kept.lower, kept.upper}, test}, weight);
  if (options_.min_leaf > 1)
    table_.store(mix(key, shape.key() + kLooseKey), {{found.loose, kInfinite}, kNoTree}, weight);
}

OrderedFound OrderedSearch::solve_side(const Side& side, Shape shape, Cost ceiling, Cost* by) {
  if (!options_.use_upper_bounds) ceiling = kInfinite;
  if (side.n_rows < options_.min_leaf) return {kInfinite, 0, kInfinite};
  const Shape part = shape.depth > 2 ? worth_looking(shape, std::min(ceiling, leaf_of(side))) : shape;
  if (part.depth < shape.depth || part.splits < shape.splits) return solve_part(side, part, shape, ceiling, by);
  OrderedFound found;
  if (shape.splits > 0) found = recall(side.key, shape, nullptr);
  if (found.lower >= std::min(found.upper, ceiling)) return found;
  const OrderedFound known = found;
  const std::int64_t before = budget_.work();
  OrderedSplit split;
  if (shape.depth <= 2) {
    found = solve_shallow(side, shape, ceiling, by, &split);
    if (shape.splits == 0) return found;
  } else {
    Level& below = level(side.level + 1);
    below.node.make_child(level(side.level).node, side.feature, side.rank, side.holds);
    found = search(side.level + 1, shape, ceiling, by, known.upper);
    split = below.split;
  }
  found.lower = std::max(found.lower, known.lower);
  found.loose = std::max(found.loose, known.loose);
  remember(side.key, shape, found, test_of(split), budget_.work() - before);
  return found;
}

// The other trees of the shape cost no less than the ceiling, or than a leaf.
OrderedFound OrderedSearch::solve_part(const Side& side, Shape part, Shape shape, Cost ceiling, Cost* by) {
  const Cost others = left_out(part, shape);
  std::vector<Cost> part_by(by, by + data_.n_features());
  OrderedFound found = solve_side(side, part, ceiling, part_by.data());
  found.lower = std::min(found.lower, others);
  found.loose = std::min(found.loose, others);
  for (std::size_t f = 0; f < part_by.size(); ++f) by[f] = std::max(by[f], std::min(part_by[f], others));
  return found;
}

// Where splits have a price that matters; kInfinite: not asked for.
Cost OrderedSearch::leaf_of(const Side& side) {
  if (!options_.use_split_count || objective_.split_penalty < objective_.error_scale) return kInfinite;
  OrderedSplit split;
  return solve_shallow(side, {}, kInfinite, nullptr, &split).upper;
}

// Two levels at most: no node is made for them.
OrderedFound OrderedSearch::solve_shallow(const Side& side, Shape shape, Cost ceiling, Cost* by, OrderedSplit* split) {
  const std::int32_t* order = level(side.level).node.order(side.feature);
  const std::int32_t* rows = side.holds ? order : order + side.position;
  if (shape.splits == 0) {
    OrderedRows part;
    part.rows = rows;
    part.n_rows = side.n_rows;
    std::int32_t label = 0;
    const Cost leaf = depth_two_->leaf_value(part, &label);
    return {leaf, leaf, leaf};
  }
  OrderedRows part = part_of(level(side.level).node, rows, side.n_rows);
  if (shape.splits == 1) return depth_two_->best_split(part, split);
  part.others = side.holds ? order + side.position : order;
  part.key = side.key;
  const OrderedFound found = depth_two_->solve(part, shape.splits, ceiling, by, split);
  if (has_sizes_ && shape.is_full()) keep_shorter(side, ceiling, by);
  return found;
}

// Trees with two splits are wanted sooner or later, and pairs of features are counted now.
void OrderedSearch::keep_shorter(const Side& side, Cost ceiling, const Cost* by) {
  const Shape shape{2, 2};
  OrderedSplit split;
  std::vector<Cost> shorter_by(by, by + data_.n_features());
  const OrderedFound found = depth_two_->solve_again(shape.splits, ceiling, shorter_by.data(), &split);
  remember(side.key, shape, found, test_of(split), 1);
}

}  // namespace certree
