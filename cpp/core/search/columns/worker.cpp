#include "search/columns/worker.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "bounds/equivalent_points.hpp"
#include "bounds/leaf_support.hpp"
#include "bounds/nested_sets.hpp"
#include "bounds/split_count.hpp"
#include "bounds/split_similarity.hpp"

namespace certree {

namespace {

// Splits that the incumbent leaves, up to which try_deep looks ahead: seven are the least that two depth-three children
// need; beyond twice that the pass seldom closes a split.
constexpr Cost kLookAheadSplits = 14;

DepthTwoSettings depth_two_settings(const Options& options) {
  DepthTwoSettings settings;
  settings.min_leaf = options.min_leaf;
  settings.subtracts_sibling = options.use_sibling_subtraction;
  settings.estimates_savings = options.use_saving_estimates;
  settings.counts_pairs = options.use_pair_counts;
  settings.isa = options.isa;
  // Pair counts may take a part of a tight memory limit, not all of it.
  if (options.memory_limit > 0) {
    settings.pair_bytes = std::min(settings.pair_bytes, static_cast<std::size_t>(options.memory_limit) / 16);
    settings.leaf_table_bytes = std::min(settings.leaf_table_bytes, static_cast<std::size_t>(options.memory_limit) / 8);
  }
  if (!options.use_leaf_table) settings.leaf_table_bytes = 0;
  return settings;
}

}  // namespace

Worker::Worker(const Context& context, bool is_main, int number)
    : context_(context),
      is_main_(is_main),
      factory_(context.data, bit_kernels_for(context.options.isa), context.memory,
               context.options.use_column_reduction),
      depth_two_(context.statistic.make(depth_two_settings(context.options), factory_, context.budget, context.memory)),
      common_(context.memory),
      chooser_(context.taken_ways, number) {
  if (is_main) start_at_root();
}

void Worker::start_at_root() {
  Frame& root = frame(0);
  factory_.make_root(root.node);
  if (context_.tests != nullptr) {
    context_.tests->start(root.paid);
    root.node.paid = &root.paid;
  }
  // The root of an assignment is a part of the problem.
  if (!is_main_ || context_.options.assignment.factor > 0) return;
  std::int32_t label = 0;
  context_.progress.show_leaf(context_.objective.leaf(depth_two_->leaf_cost(root.node, &label)));
}

void Worker::start_below(const std::vector<Assignment::Step>& path) {
  for (const Assignment::Step& step : path) {
    const Node& node = frame(0).node;
    std::int32_t split = -1;
    for (std::int32_t s = 0; s < node.n_columns; ++s)
      if (context_.data.original_column(node.column[static_cast<std::size_t>(s)]) == step.column) split = s;
    require(split >= 0, "a path has a column that does not divide its rows");
    descend(0, split, step.holds);
    std::swap(frames_[0], frames_[1]);
  }
}

Frame& Worker::add_frames(std::size_t level) {
  while (frames_.size() <= level) frames_.push_back(std::make_unique<Frame>(context_.memory));
  return *frames_[level];
}

Worker::Scratch& Worker::scratch(std::size_t level) {
  while (scratch_.size() <= level) scratch_.push_back(std::make_unique<Scratch>(context_.memory));
  return *scratch_[level];
}

bool Worker::poll() {
  if (is_main_) context_.progress.observe();
  return context_.budget.poll();
}

Record Worker::recall(const Fingerprint& key, std::int32_t depth, Cost* shallow_lower) {
  Record record;
  if (!context_.options.use_table) return record;
  const bool found = context_.table.find(mix(key, static_cast<std::uint64_t>(depth)), record);
  ++(found ? counters_.table_hits : counters_.table_misses);
  if (!record.interval.is_exact()) use_earlier_solves(key, depth, record.interval.lower);
  Record unlimited;
  if (context_.uses_unlimited_bounds && depth != kUnlimitedDepth &&
      context_.table.find(mix(key, static_cast<std::uint64_t>(kUnlimitedDepth)), unlimited))
    record.interval.lower = std::max(record.interval.lower, unlimited.interval.lower);
  // A tree of less depth is a tree of this depth.
  Record shallow;
  if (depth <= 3 || depth == kUnlimitedDepth) return record;
  if (context_.table.find(mix(key, static_cast<std::uint64_t>(depth - 1)), shallow)) {
    if (shallow.interval.upper < record.interval.upper) {
      record.interval.upper = shallow.interval.upper;
      record.column = kShallowTree;
    }
  }
  if (shallow_lower != nullptr) {
    *shallow_lower = shallow.interval.lower;
    if (!shallow.interval.is_exact()) use_earlier_solves(key, depth - 1, *shallow_lower);
  }
  return record;
}

// What the table knows includes what earlier solves said when the subproblem was searched.
void Worker::use_earlier_solves(const Fingerprint& key, std::int32_t depth, Cost& lower) {
  if (context_.earlier == nullptr || lower > 0) return;
  lower = context_.earlier->bound(mix(key, static_cast<std::uint64_t>(depth)));
  if (lower > 0) ++counters_.reused_bounds;
}

void Worker::remember(const Fingerprint& key, std::int32_t depth, const Record& record, std::int64_t effort) {
  if constexpr (kChecksKnownTree) {
    if (context_.known_tree != nullptr) context_.known_tree->check(key, depth, record.interval.lower, "table");
  }
  Record kept = record;
  if (!context_.options.use_infeasibility && !record.interval.is_exact()) kept.interval.lower = 0;
  context_.table.store(mix(key, static_cast<std::uint64_t>(depth)), kept,
                       static_cast<std::uint32_t>(std::clamp<std::int64_t>(effort, 1, 1 << 30)));
}

Cost Worker::shallow_value(const SplitErrors& errors, std::int32_t depth) const {
  const Objective& objective = context_.objective;
  const std::size_t most = depth <= 0 ? 0 : depth == 1 ? 1 : 3;
  Cost best = kInfinite;
  for (std::size_t k = 0; k <= most; ++k) {
    if (errors[k] >= kInfinite) continue;
    best = std::min(best, objective.leaf(errors[k]) + static_cast<Cost>(k) * objective.split_penalty);
  }
  return best;
}

bool Worker::expand(Frame& frame) {
  frame.is_open = frame.is_expanded = false;
  ++counters_.nodes_expanded;
  counters_.branches_evaluated += 2 * static_cast<std::int64_t>(frame.node.n_columns);
  if (!depth_two_->expand(frame.node, frame.expansion)) return false;
  frame.is_expanded = true;
  frame.unavoidable = unavoidable_errors(frame.expansion.unavoidable, context_.options.use_equivalent_points);
  return true;
}

// First bounds of all children on one side from the node's pass: as a leaf, with one split, by counting splits, and by
// what is known of the node itself.
void Worker::bound_children(Frame& f, int holds, std::int32_t depth) const {
  const Objective& objective = context_.objective;
  const Options& options = context_.options;
  const Expansion& e = f.expansion;
  const auto n = static_cast<std::size_t>(f.node.n_columns);
  const Cost* leaf_errors = (holds != 0 ? e.yes0 : e.no0).data();
  const Cost* split_errors = (holds != 0 ? e.yes1 : e.no1).data();
  Cost* lower = f.child_lower[holds].ensure(n);
  Cost* upper = f.child_upper[holds].ensure(n);
  const Cost parent = depth == 3 ? shallow_value(e.errors, 2) : f.shallow_lower;
  for (std::size_t s = 0; s < n; ++s) {
    if (leaf_errors[s] >= kInfinite) {
      lower[s] = upper[s] = kInfinite;
      continue;
    }
    const Cost one =
        split_errors[s] >= kInfinite ? kInfinite : objective.leaf(split_errors[s]) + objective.split_penalty;
    upper[s] = std::min(objective.leaf(leaf_errors[s]), one);
    Cost unavoidable = 0;
    if (options.use_equivalent_points)
      unavoidable = holds != 0 ? e.yes_unavoidable[s] : f.unavoidable - e.yes_unavoidable[s];
    lower[s] = options.use_split_count ? split_count_bound(objective, upper[s], unavoidable, 1)
                                       : std::min(upper[s], objective.leaf(unavoidable));
    if (options.use_nested_sets) {
      const Cost sibling_worst = holds != 0 ? e.worst - e.yes_worst[s] : e.yes_worst[s];
      Cost more = 0;
      if (e.has_tests)
        more = f.path_prices.more_above(f.node.column[s]) * (holds != 0 ? e.yes_weight[s] : e.weight - e.yes_weight[s]);
      lower[s] = std::max(lower[s], nested_set_bound(objective, parent, sibling_worst + more));
    }
  }
}

// Where tests have prices, a row's worst is with what it may pay below the node's splits (bounds/priced_similarity.hpp).
void Worker::price_paths(Frame& f, std::int32_t depth) const {
  Expansion& e = f.expansion;
  f.path_prices.set(*context_.tests, f.paid, depth_below(depth));
  e.path_price = f.path_prices.path();
  e.worst += e.path_price * e.weight;
  for (std::size_t s = 0; s < static_cast<std::size_t>(f.node.n_columns); ++s)
    e.yes_worst[s] += e.path_price * e.yes_weight[s];
}

// Prepares a node for its splits: expands it, narrows `record`, and gives every split its first bounds.
bool Worker::open(std::size_t level, std::int32_t depth, Record& record, Cost shallow_lower) {
  Frame& f = frame(level);
  f.shallow_lower = shallow_lower;
  if (!expand(f)) return false;
  const Objective& objective = context_.objective;
  const Options& options = context_.options;
  const Expansion& e = f.expansion;
  const Cost value = shallow_value(e.errors, 2);
  if (value < record.interval.upper) {
    record.interval.upper = value;
    record.column = value == objective.leaf(e.errors[0]) ? kLeafTree : kDepthTwoTree;
  }
  Cost floor = std::min(value, objective.leaf(f.unavoidable));
  if (options.use_split_count) floor = split_count_bound(objective, value, f.unavoidable, 2);
  record.interval.lower = std::max(record.interval.lower, floor);
  if (depth == kUnlimitedDepth) f.shallow_lower = record.interval.lower;
  if (e.has_tests) price_paths(f, depth);
  bound_children(f, 0, depth);
  bound_children(f, 1, depth);
  inherit_bounds(level, depth);

  const auto n = static_cast<std::size_t>(f.node.n_columns);
  Cost* lower = f.lower.ensure(n);
  Cost* guess = f.guess.ensure(n);
  std::uint8_t* closed = f.closed.ensure(n);
  for (std::size_t s = 0; s < n; ++s) {
    closed[s] = e.yes0[s] >= kInfinite ||
                (options.use_leaf_support && leaf_support_excludes(objective, e.yes_worst[s], e.worst));
    lower[s] = guess[s] = kInfinite;
    if (closed[s]) continue;
    lower[s] = value_of_split(f, s, f.child_lower[0][s] + f.child_lower[1][s]);
    guess[s] = options.use_look_ahead_order ? value_of_split(f, s, f.child_upper[0][s] + f.child_upper[1][s])
                                            : static_cast<Cost>(s);
  }
  f.is_open = true;
  f.depth = depth;
  return true;
}

// What is known of the parent's children serves the node's: with g the split that led here, the rows where f holds in the
// node are those where f holds in the parent, less those on the other side of g (bounds/nested_sets.hpp).
void Worker::inherit_bounds(std::size_t level, std::int32_t depth) {
  // Other threads may change the root's bounds meanwhile.
  if (!context_.options.use_nested_sets || level == 0 || (level == 1 && context_.options.threads > 1)) return;
  // Prices of paths are those below the node's own splits.
  if (context_.tests != nullptr) return;
  Frame& f = frame(level);
  const Frame& parent = frame(level - 1);
  // Trees are also grown from node to node: the parent may have been opened last for shallower trees, whose bounds deeper
  // ones can pass.
  if (!parent.is_open || parent.depth < depth || !parent.expansion.has_pairs) return;
  Cost* common = common_.ensure(static_cast<std::size_t>(parent.node.stride));
  depth_two_->common_worst(parent.node, parent.expansion, f.parent_split, common);
  const Expansion& e = parent.expansion;
  const Cost split_worst = e.yes_worst[static_cast<std::size_t>(f.parent_split)];
  std::size_t above = 0;
  for (std::size_t s = 0; s < static_cast<std::size_t>(f.node.n_columns); ++s) {
    while (parent.node.column[above] != f.node.column[s]) ++above;
    // Rows on the other side of the parent's split where this split holds, and where it does not.
    const Cost yes_lost = f.parent_holds ? e.yes_worst[above] - common[above] : common[above];
    const Cost all_lost = f.parent_holds ? e.worst - split_worst : split_worst;
    const Cost lost[] = {all_lost - yes_lost, yes_lost};
    for (const int holds : {0, 1}) {
      Cost& lower = f.child_lower[holds][s];
      if (lower >= kInfinite || parent.child_lower[holds][above] >= kInfinite) continue;
      lower = std::max(lower, nested_set_bound(context_.objective, parent.child_lower[holds][above], lost[holds]));
    }
  }
}

std::int32_t Worker::next_split(const Frame& f) const {
  std::int32_t best = -1;
  Cost best_lower = kInfinite, best_guess = kInfinite;
  for (std::int32_t s = 0; s < f.node.n_columns; ++s) {
    const auto k = static_cast<std::size_t>(s);
    if (f.closed[k]) continue;
    if (f.lower[k] < best_lower || (f.lower[k] == best_lower && f.guess[k] < best_guess)) {
      best = s;
      best_lower = f.lower[k];
      best_guess = f.guess[k];
    }
  }
  return best;
}

Cost Worker::least_lower(const Frame& f) {
  Cost least = kInfinite;
  for (std::size_t s = 0; s < static_cast<std::size_t>(f.node.n_columns); ++s) least = std::min(least, f.lower[s]);
  return least;
}

// Takes in what was found of a split, and bounds the children of all others by it.
void Worker::close_split(Frame& f, std::int32_t split, const Interval& found, Record& record) {
  offer_split(f, split, found, record);
  spread_bounds(f, split);
}

void Worker::offer_split(Frame& f, std::int32_t split, const Interval& found, Record& record) {
  const auto s = static_cast<std::size_t>(split);
  f.lower[s] = std::max(f.lower[s], found.lower);
  if (found.upper < record.interval.upper) {
    record.interval.upper = found.upper;
    record.column = f.node.column[s];
  }
}

void Worker::spread_bounds(Frame& f, std::int32_t split) {
  if (!context_.options.use_split_similarity || !similarity_is_valid(context_.options.min_leaf) ||
      !f.expansion.has_pairs)
    return;
  Cost* common = common_.ensure(static_cast<std::size_t>(f.node.stride));
  depth_two_->common_worst(f.node, f.expansion, split, common);
  const Expansion& e = f.expansion;
  if (e.has_tests) {
    const PricedSides sides{common, e.yes_worst.data(), e.worst, e.yes_weight.data(), e.weight, e.tests.data()};
    apply_priced_similarity(context_.objective, f.path_prices, f.node, split, sides, f.child_lower[0].data(),
                            f.child_lower[1].data(), f.lower.data());
    return;
  }
  apply_split_similarity(context_.objective, split, f.node.n_columns, common, f.expansion.yes_worst.data(),
                         f.expansion.worst, f.child_lower[0].data(), f.child_lower[1].data(), f.lower.data());
}

Interval Worker::solve(std::size_t level, std::int32_t depth, Cost ceiling, Cost known_lower) {
  if (!context_.options.use_upper_bounds) ceiling = kInfinite;
  Frame& f = frame(level);
  const Fingerprint key = f.node.rows.key;
  Cost shallow_lower = 0;
  Record record = recall(key, depth, &shallow_lower);
  record.interval.lower = std::max(record.interval.lower, known_lower);
  if (record.interval.is_closed_for(ceiling) || poll()) return record.interval;
  const std::int64_t work_before = context_.budget.work();
  if (!open(level, depth, record, shallow_lower)) return record.interval;
  if (depth <= 2) {
    const Cost value = shallow_value(f.expansion.errors, depth);
    return {value, value};
  }
  std::int64_t tried = 0;
  while (!record.interval.is_closed_for(ceiling) && !poll()) {
    const std::int32_t split = next_split(f);
    const Cost bound = std::min(record.interval.upper, ceiling);
    if (split < 0 || f.lower[static_cast<std::size_t>(split)] >= bound) break;
    const Interval found = try_split(level, split, depth, bound);
    if (context_.budget.stopped() && found.lower < bound && !found.is_exact()) {
      f.lower[static_cast<std::size_t>(split)] = std::max(f.lower[static_cast<std::size_t>(split)], found.lower);
      break;
    }
    ++tried;
    f.closed[static_cast<std::size_t>(split)] = 1;
    keep_children(level, split);
    close_split(f, split, found, record);
  }
  record.interval.lower = std::max(record.interval.lower, std::min(record.interval.upper, least_lower(f)));
  counters_.splits_tried += tried;
  counters_.splits_pruned += f.node.n_columns - tried;
  check_known_tree(f, depth, record);
  remember(key, depth, record, context_.budget.work() - work_before);
  return record.interval;
}

void Worker::check_known_tree(const Frame& f, std::int32_t depth, const Record& record) const {
  if constexpr (kChecksKnownTree) {
    if (context_.known_tree == nullptr) return;
    const Fingerprint& key = f.node.rows.key;
    context_.known_tree->check(key, depth, record.interval.lower, "node");
    for (std::size_t s = 0; f.is_open && s < static_cast<std::size_t>(f.node.n_columns); ++s)
      // Infinite: the split was left out; if that was wrong, the bound of the node is too high, which is checked above.
      if (f.lower[s] < kInfinite) context_.known_tree->check_split(key, depth, f.node.column[s], f.lower[s]);
  }
}

void Worker::keep_children(std::size_t level, std::int32_t split) {
  Frame& f = frame(level);
  for (const int holds : {0, 1}) {
    const Interval& found = scratch(level).child[holds].interval;
    f.child_lower[holds][static_cast<std::size_t>(split)] = found.lower;
    f.child_upper[holds][static_cast<std::size_t>(split)] = found.upper;
  }
}

void Worker::look_all_children_up(std::size_t level, std::int32_t depth) {
  Frame& f = frame(level);
  Scratch& s = scratch(level);
  for (std::int32_t split = 0; split < f.node.n_columns; ++split) {
    const auto k = static_cast<std::size_t>(split);
    if (f.closed[k]) continue;
    for (const int holds : {0, 1}) {
      child_rows(f, split, holds != 0, s.rows[holds]);
      const Record stored = recall(s.rows[holds].key, depth_below(depth));
      f.child_lower[holds][k] = std::max(f.child_lower[holds][k], stored.interval.lower);
      f.child_upper[holds][k] = std::min(f.child_upper[holds][k], stored.interval.upper);
    }
    f.lower[k] = std::max(f.lower[k], value_of_split(f, k, f.child_lower[0][k] + f.child_lower[1][k]));
  }
  Stopwatch stopwatch(context_.budget);
  for (std::int32_t split = 0; split < f.node.n_columns && !stopwatch.is_over(f.node.n_columns); ++split)
    if (!f.closed[static_cast<std::size_t>(split)]) spread_bounds(f, split);
}

void Worker::child_rows(const Frame& parent, std::int32_t split, bool holds, RowSet& out) {
  factory_.child_rows(parent.node, split, holds, out);
  if (context_.tests == nullptr) return;
  context_.tests->pay(parent.paid, parent.node.column[static_cast<std::size_t>(split)], after_);
  out.key = context_.tests->key(context_.data, out.words.data(), out.key, after_);
}

void Worker::descend(std::size_t level, std::int32_t split, bool holds) {
  Frame& parent = frame(level);
  Frame& child = frame(level + 1);
  child.is_open = child.is_expanded = false;
  child.parent_split = split;
  child.parent_holds = holds;
  child_rows(parent, split, holds, child.node.rows);
  if (context_.tests != nullptr) {
    child.paid = after_;
    child.node.paid = &child.paid;
  }
  factory_.make_child(parent.node, split, holds, true, child.node);
}

Interval Worker::try_split(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound) {
  start_split(level, split);
  return finish_split(level, split, depth, bound);
}

void Worker::start_split(std::size_t level, std::int32_t split) {
  const Frame& f = frame(level);
  const auto s = static_cast<std::size_t>(split);
  for (const int holds : {0, 1})
    scratch(level).child[holds] = {{f.child_lower[holds][s], f.child_upper[holds][s]}, kNoTree};
}

Interval Worker::finish_split(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound) {
  Frame& f = frame(level);
  Scratch& s = scratch(level);
  const std::int32_t below = depth_below(depth);
  for (const int holds : {0, 1}) {
    Interval& known = s.child[holds].interval;
    if (known.is_exact()) continue;
    child_rows(f, split, holds != 0, s.rows[holds]);
    const Record stored = recall(s.rows[holds].key, below);
    known.lower = std::max(known.lower, stored.interval.lower);
    known.upper = std::min(known.upper, stored.interval.upper);
  }
  const auto total = [&] {
    const auto k = static_cast<std::size_t>(split);
    return Interval{value_of_split(f, k, s.child[0].interval.lower + s.child[1].interval.lower),
                    value_of_split(f, k, s.child[0].interval.upper + s.child[1].interval.upper)};
  };
  if (!total().is_closed_for(bound)) {
    if (below == 2) {
      try_terminal(level, split, depth, bound, s);
    } else {
      try_deep(level, split, depth, bound, s);
    }
  }
  return total();
}

// Both children at once, from pair counts; or first the one of which less is known, if that costs no more.
void Worker::try_terminal(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound, Scratch& s) {
  Frame& f = frame(level);
  bool want_yes = !s.child[1].interval.is_exact(), want_no = !s.child[0].interval.is_exact();
  if (want_yes && want_no && depth_two_->keeps_pairs(f.node)) {
    const auto width = [&](int holds) { return s.child[holds].interval.upper - s.child[holds].interval.lower; };
    const bool is_yes_first = width(1) > width(0);
    if (!evaluate_sides(f, split, depth, is_yes_first, !is_yes_first, s)) return;
    const Cost lower = s.child[0].interval.lower + s.child[1].interval.lower;
    if (value_of_split(f, static_cast<std::size_t>(split), lower) >= bound) return;
    want_yes = !is_yes_first;
    want_no = is_yes_first;
  }
  evaluate_sides(f, split, depth, want_yes, want_no, s);
}

bool Worker::evaluate_sides(Frame& f, std::int32_t split, std::int32_t depth, bool want_yes, bool want_no, Scratch& s) {
  ChildErrors errors;
  if (!depth_two_->evaluate_children(f.node, f.expansion, split, want_yes, want_no, errors)) return false;
  for (const int holds : {0, 1}) {
    if (!(holds != 0 ? want_yes : want_no)) continue;
    const Cost value = shallow_value(holds != 0 ? errors.yes : errors.no, 2);
    s.child[holds].interval = {value, value};
    s.child[holds].column = kDepthTwoTree;
    remember(s.rows[holds].key, depth_below(depth), s.child[holds], 1);
  }
  return true;
}

// When only a few splits are affordable, the depth-two optima of both children, which cost one pass, often say that they
// are too few (bounds/split_count.hpp).  Worth it when each child's three splits could matter.
void Worker::look_ahead(std::size_t level, std::int32_t split, Cost bound, Scratch& s) {
  Frame& f = frame(level);
  const Objective& objective = context_.objective;
  if (!context_.options.use_split_count || !f.expansion.has_pairs) return;
  if (bound - objective.leaf(f.unavoidable) > kLookAheadSplits * objective.split_penalty) return;
  ChildErrors errors;
  const bool want_yes = !s.child[1].interval.is_exact(), want_no = !s.child[0].interval.is_exact();
  if (!depth_two_->evaluate_children(f.node, f.expansion, split, want_yes, want_no, errors)) return;
  for (const int holds : {0, 1}) {
    if (!(holds != 0 ? want_yes : want_no)) continue;
    Interval& known = s.child[holds].interval;
    const Cost value = shallow_value(holds != 0 ? errors.yes : errors.no, 2);
    const Cost yes_unavoidable = f.expansion.yes_unavoidable[static_cast<std::size_t>(split)];
    Cost unavoidable = 0;
    if (context_.options.use_equivalent_points)
      unavoidable = holds != 0 ? yes_unavoidable : f.unavoidable - yes_unavoidable;
    known.upper = std::min(known.upper, value);
    known.lower = std::max(known.lower, split_count_bound(objective, value, unavoidable, 2));
  }
}

// First the child of which less is known: it is the one more likely to reach its ceiling.
void Worker::try_deep(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound, Scratch& s) {
  look_ahead(level, split, bound, s);
  const auto width = [&](int holds) { return s.child[holds].interval.upper - s.child[holds].interval.lower; };
  const int first = width(1) > width(0) ? 1 : 0;
  for (const int holds : {first, 1 - first}) {
    Interval& mine = s.child[holds].interval;
    const Cost ceiling =
        bound - value_of_split(frame(level), static_cast<std::size_t>(split), s.child[1 - holds].interval.lower);
    if (mine.is_closed_for(ceiling)) {
      if (mine.lower >= ceiling) return;
      continue;
    }
    descend(level, split, holds != 0);
    const Interval found = solve(level + 1, depth_below(depth), ceiling, mine.lower);
    mine.lower = std::max(mine.lower, found.lower);
    mine.upper = std::min(mine.upper, found.upper);
    if (mine.lower >= ceiling || context_.budget.stopped()) return;
  }
}

}  // namespace certree
