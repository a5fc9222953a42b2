#include "search/ordered/search.hpp"

#include <algorithm>

#include "bounds/split_count.hpp"

namespace certree {

namespace {

// Sides are solved this share of all cost beyond what could still win, and at least so many mean rows.
constexpr Cost kSlackShare = 20;
constexpr Cost kSlackRows = 8;

// Bounds for leaves of any size are entries of their own.
constexpr std::uint64_t kLooseKey = std::uint64_t{1} << 32;

}  // namespace

OrderedSearch::OrderedSearch(const OrderedContext& context)
    : context_(context),
      data_(context.data),
      options_(context.options),
      objective_(context.objective),
      budget_(context.budget),
      depth_two_(make_ordered_depth_two(data_, options_, objective_, budget_, context.memory, context.progress)),
      is_in_(static_cast<std::size_t>(data_.n_rows()), std::uint8_t{0}, context.memory) {
  const Cost total = objective_.leaf(data_.worst_total());
  least_slack_ = std::max(total / kSlackShare, kSlackRows * (total / data_.n_rows()));
  node(0).make_root();
}

OrderedSearch::Level& OrderedSearch::level(std::size_t k) {
  while (levels_.size() <= k) levels_.push_back(std::make_unique<Level>(context_));
  return *levels_[k];
}

Counters OrderedSearch::counters() const {
  Counters out = counters_;
  out.pair_tables = depth_two_->counters.pair_tables;
  out.bit_pairs = depth_two_->counters.bit_pairs;
  out.thresholds = depth_two_->counters.thresholds;
  return out;
}

bool OrderedSearch::poll() {
  context_.progress.observe();
  return budget_.poll();
}

OrderedRows OrderedSearch::part_of(OrderedNode& owner, const std::int32_t* rows, std::int32_t n_rows) {
  std::fill(is_in_.begin(), is_in_.end(), std::uint8_t{0});
  for (std::int32_t i = 0; i < n_rows; ++i) is_in_[static_cast<std::size_t>(rows[i])] = 1;
  OrderedRows part;
  part.node = &owner;
  part.rows = rows;
  part.n_rows = n_rows;
  part.is_in = is_in_.data();
  return part;
}

OrderedRows OrderedSearch::all_rows(std::size_t k) {
  OrderedNode& here = node(k);
  return part_of(here, here.rows(), here.n_rows());
}

// Nothing at or above this is of interest at the node.
Cost OrderedSearch::limit(const Level& here, const OrderedQuestion& question) const {
  const Cost best = question.is_whole ? here.best - options_.gap : here.best;
  return std::min(best, question.ceiling);
}

OrderedFound OrderedSearch::search(std::size_t k, const OrderedQuestion& question, Cost* by, OrderedSplit* split) {
  Level& here = level(k);
  list_divisions(question.shape, here.divisions);
  ++counters_.nodes_expanded;
  here.split = *split = {};
  here.shallow_lower = 0;
  std::int32_t label = 0;
  const Cost leaf = depth_two_->leaf_value(all_rows(k), &label);
  here.best = std::min(question.known_upper, leaf);
  if (leaf <= objective_.split_penalty) return {leaf, leaf, leaf};
  if (!options_.use_root_feature_bounds) std::fill(by, by + data_.n_features(), Cost{0});
  if (question.shape.depth == 3 && (k > 0 || question.known_upper >= kInfinite)) look_ahead(k, question);
  OrderedThresholds& thresholds = here.thresholds;
  thresholds.start(here.divisions.size(), by);
  while (!thresholds.is_empty()) {
    const Cost bound = thresholds.first().bound;
    if (question.is_whole)
      question.listener->raise(std::min({here.best, bound, thresholds.least_settled(), question.left_out}));
    if (bound >= limit(here, question) || poll()) break;
    const OrderedThresholds::OpenInterval at = thresholds.take_first();
    bool leaves_small = false;
    const std::int32_t position = thresholds.choose(at, limit(here, question), &leaves_small);
    if (position < 0) {
      const Cost skipped = std::max(at.bound, limit(here, question));
      thresholds.settle(at.feature, skipped, leaves_small ? at.bound : skipped);
    } else if (!evaluate(k, question, at, position)) {
      thresholds.put_back(at);
      break;
    }
  }
  OrderedFound found = thresholds.finish(here.best, here.shallow_lower, by);
  found.lower = std::min(found.lower, leaf);
  found.loose = std::min(found.loose, leaf);
  *split = here.split;
  return found;
}

OrderedFound OrderedSearch::search_and_remember(std::size_t k, const OrderedQuestion& question, OrderedSplit* split) {
  std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
  const Fingerprint key = node(k).key();
  const std::int64_t before = budget_.work();
  const OrderedFound found = search(k, question, by.data(), split);
  remember(key, question.shape, found, *split, budget_.work() - before);
  return found;
}

// The best tree of depth two is a first tree, and bounds those whose root test parts nothing.
void OrderedSearch::look_ahead(std::size_t k, const OrderedQuestion& question) {
  Level& here = level(k);
  std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
  OrderedSplit split;
  const std::int64_t splits = std::min<std::int64_t>(question.shape.splits, 3);
  const OrderedFound found =
      depth_two_->solve(all_rows(k), splits, question.ceiling + question.slack, by.data(), &split);
  here.shallow_lower = found.loose;
  if (found.upper >= here.best) return;
  here.best = found.upper;
  here.split = split;
}

OrderedSide OrderedSearch::side_of(std::size_t k, std::int32_t f, std::int32_t position, bool holds,
                                   const Fingerprint& key) {
  OrderedNode& here = node(k);
  const std::int32_t* order = here.order(f);
  const std::int32_t rank = data_.ranks(f)[order[position - 1]];
  const OrderedSide side{k, f, rank, position, holds, holds ? position : here.n_rows() - position, key};
  data_.audit(key, holds ? order : order + position, side.n_rows);
  return side;
}

// Solves both sides of a threshold as far as it can matter, and puts it between its neighbours.  False: stopped.
bool OrderedSearch::evaluate(std::size_t k, const OrderedQuestion& question, const OrderedThresholds::OpenInterval& at,
                             std::int32_t position) {
  Level& here = level(k);
  ++counters_.splits_tried;
  OrderedThresholds::Point point = here.thresholds.between(at, position);
  const std::int32_t* order = here.node.order(at.feature);
  Fingerprint keys[2] = {};  // [side]: 0 holds
  const bool left_is_small = position <= here.node.n_rows() - position;
  Fingerprint& small = keys[left_is_small ? 0 : 1];
  for (std::int32_t i = left_is_small ? 0 : position, end = left_is_small ? position : here.node.n_rows(); i < end; ++i)
    add_key(small, data_.key(order[i]));
  keys[left_is_small ? 1 : 0] = less_key(here.node.key(), small);
  const OrderedSide sides[2] = {side_of(k, at.feature, position, true, keys[0]),
                                side_of(k, at.feature, position, false, keys[1])};

  Cost lower = kInfinite, loose = kInfinite;
  OrderedFound found[2];
  for (std::size_t j = 0; j < here.divisions.size(); ++j) {
    // Where the test does not hold, each division has fewer splits than the one before: its bounds stay.
    const Cost right = j > 0 ? found[1].lower : 0, loose_right = j > 0 ? found[1].loose : 0;
    const ThresholdSides& known = point.sides[j];
    found[0] = {known.left, known.left, kInfinite};
    found[1] = {std::max(known.right, right), std::max(known.right, loose_right), kInfinite};
    if (!solve_sides(sides, j, question, point, found)) return false;
    const bool fits = found[0].lower < kInfinite && found[1].lower < kInfinite;
    if (found[0].upper < kInfinite && found[1].upper < kInfinite) {
      const Cost value = objective_.split(found[0].upper + found[1].upper);
      if (value < here.best) {
        here.best = value;
        here.split = {at.feature, sides[0].rank};
        if (question.listener != nullptr)
          here.best = std::min(here.best, question.listener->found(question, here.split, value));
      }
    }
    point.sides[j] = {found[0].loose, found[1].loose};
    if (fits) lower = std::min(lower, objective_.split(found[0].lower + found[1].lower));
    loose = std::min(loose, objective_.split(found[0].loose + found[1].loose));
  }
  here.thresholds.settle(at.feature, lower, loose);
  here.thresholds.add(at, std::move(point));
  return true;
}

// The smaller side first.  False: stopped.
bool OrderedSearch::solve_sides(const OrderedSide (&sides)[2], std::size_t division, const OrderedQuestion& question,
                                OrderedThresholds::Point& point, OrderedFound (&found)[2]) {
  const Level& here = level(sides[0].level);
  const auto n = static_cast<std::size_t>(data_.n_features());
  const int first = sides[0].n_rows <= sides[1].n_rows ? 0 : 1;
  for (const int s : {first, 1 - first}) {
    const Cost other = found[1 - s].lower;
    if (objective_.split(found[0].lower + found[1].lower) >= limit(here, question)) break;
    const Cost ceiling = limit(here, question) - objective_.split_penalty - other + question.slack;
    const OrderedQuestion asked = question.of_side(here.divisions[division].side[s], ceiling);
    const OrderedFound solved = solve_side(sides[s], asked, point.by[s].data() + division * n);
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
  const bool is_known = context_.table.find(mix(key, shape.key()), record);
  ++(is_known ? counters_.table_hits : counters_.table_misses);
  if (is_known) {
    found = {record.interval.lower, record.interval.lower, record.interval.upper};
    if (test != nullptr) *test = record.column;
    Record loose;
    if (options_.min_leaf > 1)
      found.loose = context_.table.find(mix(key, shape.key() + kLooseKey), loose) ? loose.interval.lower : 0;
  }
  // More splits cost no more.
  if (!shape.is_full() && found.lower < found.upper) {
    const OrderedFound all = recall(key, Shape::full(shape.depth), nullptr);
    found.lower = std::max(found.lower, all.lower);
    found.loose = std::max(found.loose, all.loose);
  }
  return found;
}

void OrderedSearch::remember(const Fingerprint& key, Shape shape, const OrderedFound& found, OrderedSplit split,
                             std::int64_t effort) {
  if (!options_.use_table) return;
  const auto weight = static_cast<std::uint32_t>(std::clamp<std::int64_t>(effort, 1, 1 << 30));
  const std::int32_t test = split.feature >= 0 ? data_.test(split.feature, split.rank) : kLeafTree;
  OrderedFound kept = found;
  if (!options_.use_infeasibility && found.lower < found.upper) kept.lower = 0;
  context_.table.store(mix(key, shape.key()), {{kept.lower, kept.upper}, test}, weight);
  if (options_.min_leaf > 1)
    context_.table.store(mix(key, shape.key() + kLooseKey), {{found.loose, kInfinite}, kNoTree}, weight);
}

OrderedFound OrderedSearch::solve_side(const OrderedSide& side, OrderedQuestion question, Cost* by) {
  if (!options_.use_upper_bounds) question.ceiling = kInfinite;
  if (side.n_rows < options_.min_leaf) return {kInfinite, 0, kInfinite};
  const Shape shape = question.shape;
  const Cost ceiling = question.ceiling;
  const Shape part = shape.depth > 2 ? worth_looking(shape, std::min(ceiling, leaf_of(side))) : shape;
  if (part.depth < shape.depth || part.splits < shape.splits) return solve_part(side, part, question, by);
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
    node(side.level + 1).make_child(node(side.level), side.feature, side.rank, side.holds);
    question.known_upper = known.upper;
    found = search(side.level + 1, question, by, &split);
  }
  found.lower = std::max(found.lower, known.lower);
  found.loose = std::max(found.loose, known.loose);
  remember(side.key, shape, found, split, budget_.work() - before);
  return found;
}

// The other trees of the shape cost no less than the ceiling, or than a leaf.
OrderedFound OrderedSearch::solve_part(const OrderedSide& side, Shape part, const OrderedQuestion& question, Cost* by) {
  const Cost others = left_out(part, question.shape);
  std::vector<Cost> part_by(by, by + data_.n_features());
  OrderedFound found = solve_side(side, question.of_side(part, question.ceiling), part_by.data());
  found.lower = std::min(found.lower, others);
  found.loose = std::min(found.loose, others);
  for (std::size_t f = 0; f < part_by.size(); ++f) by[f] = std::max(by[f], std::min(part_by[f], others));
  return found;
}

// Where splits have a price that matters; kInfinite: not asked for.
Cost OrderedSearch::leaf_of(const OrderedSide& side) {
  if (!options_.use_split_count || objective_.split_penalty < objective_.error_scale) return kInfinite;
  OrderedSplit split;
  return solve_shallow(side, {}, kInfinite, nullptr, &split).upper;
}

// Two levels at most: no node is made for them.
OrderedFound OrderedSearch::solve_shallow(const OrderedSide& side, Shape shape, Cost ceiling, Cost* by,
                                          OrderedSplit* split) {
  const std::int32_t* order = node(side.level).order(side.feature);
  const std::int32_t* rows = side.holds ? order : order + side.position;
  if (shape.splits == 0) {
    OrderedRows part;
    part.rows = rows;
    part.n_rows = side.n_rows;
    std::int32_t label = 0;
    const Cost leaf = depth_two_->leaf_value(part, &label);
    return {leaf, leaf, leaf};
  }
  OrderedRows part = part_of(node(side.level), rows, side.n_rows);
  if (shape.splits == 1) return depth_two_->best_split(part, split);
  part.others = side.holds ? order + side.position : order;
  part.key = side.key;
  const OrderedFound found = depth_two_->solve(part, shape.splits, ceiling, by, split);
  if (context_.has_sizes && shape.is_full()) keep_shorter(side, ceiling, by);
  return found;
}

// Trees with two splits are wanted sooner or later, and pairs of features are counted now.
void OrderedSearch::keep_shorter(const OrderedSide& side, Cost ceiling, const Cost* by) {
  const Shape shape{2, 2};
  OrderedSplit split;
  std::vector<Cost> shorter_by(by, by + data_.n_features());
  const OrderedFound found = depth_two_->solve_again(shape.splits, ceiling, shorter_by.data(), &split);
  remember(side.key, shape, found, split, 1);
}

Shape OrderedSearch::worth_looking(Shape shape, Cost value) const {
  const Cost price = objective_.split_penalty;
  if (!options_.use_split_count || price <= 0) return shape;
  const std::int64_t most = value <= 0 ? 0 : (value - 1) / price;
  const auto depth = static_cast<std::int32_t>(std::min<std::int64_t>(shape.depth, most));
  if (shape.is_full()) return Shape::full(depth);
  return Shape::of(depth, std::min(shape.splits, most));
}

// A deeper tree may be a chain, with one split more than the part has levels.
Cost OrderedSearch::left_out(Shape part, Shape shape) const {
  if (part.depth == shape.depth && part.splits == shape.splits) return kInfinite;
  const std::int64_t most = part.depth < shape.depth ? part.depth : part.splits;
  return split_count_bound(objective_, kInfinite, 0, static_cast<int>(most));
}

}  // namespace certree
