#include "search/worker.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "bounds/equivalent_points.hpp"
#include "bounds/nested_sets.hpp"
#include "bounds/split_count.hpp"
#include "bounds/split_similarity.hpp"

namespace certree {

namespace {

DepthTwoSettings depth_two_settings(const Options& options) {
  DepthTwoSettings settings;
  settings.min_leaf = options.min_leaf;
  settings.subtracts_sibling = options.use_sibling_subtraction;
  settings.isa = options.isa;
  // Pair counts may take a part of a tight memory limit, not all of it.
  if (options.memory_limit > 0)
    settings.pair_bytes = std::min(settings.pair_bytes, static_cast<std::size_t>(options.memory_limit) / 16);
  return settings;
}

}  // namespace

Worker::Worker(const Context& context, bool is_main)
    : context_(context),
      is_main_(is_main),
      factory_(context.data, bit_kernels_for(context.options.isa), context.budget,
               context.options.use_column_reduction),
      depth_two_(make_depth_two(context.data, context.task, depth_two_settings(context.options), factory_,
                                context.limits, context.budget)) {
  if (is_main) factory_.make_root(frame(0).node);
}

Frame& Worker::frame(std::size_t level) {
  if (level == 0 && root_ != nullptr) return *root_;
  while (frames_.size() <= level) frames_.push_back(std::make_unique<Frame>(context_.budget));
  return *frames_[level];
}

Worker::Scratch& Worker::scratch(std::size_t level) {
  while (scratch_.size() <= level) scratch_.push_back(std::make_unique<Scratch>(context_.budget));
  return *scratch_[level];
}

bool Worker::poll() {
  if (is_main_) context_.progress.observe();
  return context_.limits.poll();
}

Record Worker::recall(const Fingerprint& key, std::int32_t depth, Cost* shallow_lower) {
  Record record;
  if (!context_.options.use_table) return record;
  const bool found = context_.table.find(mix(key, static_cast<std::uint64_t>(depth)), record);
  ++(found ? counters_.table_hits : counters_.table_misses);
  // A tree of less depth is a tree of this depth.
  Record shallow;
  if (depth > 3 && depth != kUnlimitedDepth &&
      context_.table.find(mix(key, static_cast<std::uint64_t>(depth - 1)), shallow)) {
    if (shallow_lower != nullptr) *shallow_lower = shallow.interval.lower;
    if (shallow.interval.upper < record.interval.upper) {
      record.interval.upper = shallow.interval.upper;
      record.column = kShallowTree;
    }
  }
  return record;
}

void Worker::remember(const Fingerprint& key, std::int32_t depth, const Record& record, std::int64_t effort) {
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
  ++counters_.nodes_expanded;
  frame.unavoidable = unavoidable_errors(context_.data, frame.node, context_.options.use_equivalent_points);
  return depth_two_->expand(frame.node, frame.expansion);
}

// First bounds of a child from the parent's pass: as a leaf, with one split, and by counting splits.
Record Worker::first_bounds(const Frame& frame, std::int32_t split, bool holds, std::int32_t depth) const {
  const Objective& objective = context_.objective;
  const Expansion& e = frame.expansion;
  const auto f = static_cast<std::size_t>(split);
  const Cost leaf = objective.leaf(holds ? e.yes0[f] : e.no0[f]);
  const Cost one_errors = holds ? e.yes1[f] : e.no1[f];
  const Cost one = one_errors >= kInfinite ? kInfinite : objective.leaf(one_errors) + objective.split_penalty;
  Cost unavoidable = 0;
  if (context_.options.use_equivalent_points)
    unavoidable = holds ? e.yes_unavoidable[f] : frame.unavoidable - e.yes_unavoidable[f];

  Record record;
  record.interval.upper = std::min(leaf, one);
  record.column = leaf <= one ? kLeafTree : kDepthTwoTree;
  if (context_.options.use_split_count) {
    record.interval.lower = split_count_bound(objective, record.interval.upper, unavoidable, 1);
  } else {
    record.interval.lower = std::min(record.interval.upper, objective.leaf(unavoidable));
  }
  if (context_.options.use_nested_sets) {
    const Cost sibling_worst = holds ? e.worst - e.yes_worst[f] : e.yes_worst[f];
    const Cost parent = depth == 3 ? shallow_value(e.errors, 2) : frame.shallow_lower;
    record.interval.lower = std::max(record.interval.lower, nested_set_bound(objective, parent, sibling_worst));
  }
  return record;
}

// Prepares a node for its splits: expands it, narrows `record`, and gives every split its first bounds.
bool Worker::open(std::size_t level, std::int32_t depth, Record& record, Cost shallow_lower) {
  Frame& f = frame(level);
  f.shallow_lower = shallow_lower;
  if (!expand(f)) return false;
  const Objective& objective = context_.objective;
  const Expansion& e = f.expansion;
  const Cost value = shallow_value(e.errors, 2);
  if (value < record.interval.upper) {
    record.interval.upper = value;
    record.column = value == objective.leaf(e.errors[0]) ? kLeafTree : kDepthTwoTree;
  }
  Cost floor = std::min(value, objective.leaf(f.unavoidable));
  if (context_.options.use_split_count) floor = split_count_bound(objective, value, f.unavoidable, 2);
  record.interval.lower = std::max(record.interval.lower, floor);
  if (depth == kUnlimitedDepth) f.shallow_lower = record.interval.lower;

  const auto n = static_cast<std::size_t>(f.node.n_columns);
  Cost* lower = f.lower.ensure(n);
  Cost* guess = f.guess.ensure(n);
  std::uint8_t* closed = f.closed.ensure(n);
  for (std::size_t s = 0; s < n; ++s) {
    closed[s] = e.yes0[s] >= kInfinite;
    lower[s] = guess[s] = kInfinite;
    if (closed[s]) continue;
    const Record yes = first_bounds(f, static_cast<std::int32_t>(s), true, depth);
    const Record no = first_bounds(f, static_cast<std::int32_t>(s), false, depth);
    lower[s] = objective.split(yes.interval.lower + no.interval.lower);
    guess[s] = context_.options.use_look_ahead_order ? objective.split(yes.interval.upper + no.interval.upper)
                                                     : static_cast<Cost>(s);
  }
  return true;
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

void Worker::close_split(Frame& f, std::int32_t split, const Interval& found, Record& record) {
  const auto s = static_cast<std::size_t>(split);
  f.lower[s] = std::max(f.lower[s], found.lower);
  if (found.upper < record.interval.upper) {
    record.interval.upper = found.upper;
    record.column = f.node.column[s];
  }
  if (context_.options.use_split_similarity && similarity_is_valid(context_.options.min_leaf) &&
      f.expansion.has_pairs) {
    // A level number is not needed for scratch of this kind: distances are used at once.
    Cost* distance = scratch(0).distance.ensure(static_cast<std::size_t>(f.node.stride));
    depth_two_->distances(f.node, f.expansion, split, distance);
    apply_split_similarity(context_.objective, f.lower[s], distance, f.node.n_columns, f.lower.data());
  }
}

Interval Worker::solve(std::size_t level, std::int32_t depth, Cost budget) {
  Frame& f = frame(level);
  const Fingerprint key = f.node.rows.key;
  Cost shallow_lower = 0;
  Record record = recall(key, depth, &shallow_lower);
  if (record.interval.is_closed_for(budget) || poll()) return record.interval;
  const std::int64_t work_before = context_.limits.work();
  if (!open(level, depth, record, shallow_lower)) return record.interval;
  if (depth <= 2) {
    const Cost value = shallow_value(f.expansion.errors, depth);
    return {value, value};
  }
  std::int64_t tried = 0;
  while (!record.interval.is_closed_for(budget) && !poll()) {
    const std::int32_t split = next_split(f);
    const Cost bound = std::min(record.interval.upper, budget);
    if (split < 0 || f.lower[static_cast<std::size_t>(split)] >= bound) break;
    const Interval found = try_split(level, split, depth, bound);
    if (context_.limits.stopped() && found.lower < bound && !found.is_exact()) {
      f.lower[static_cast<std::size_t>(split)] = std::max(f.lower[static_cast<std::size_t>(split)], found.lower);
      break;
    }
    ++tried;
    f.closed[static_cast<std::size_t>(split)] = 1;
    close_split(f, split, found, record);
  }
  record.interval.lower = std::max(record.interval.lower, std::min(record.interval.upper, least_lower(f)));
  counters_.splits_tried += tried;
  counters_.splits_pruned += f.node.n_columns - tried;
  remember(key, depth, record, context_.limits.work() - work_before);
  return record.interval;
}

void Worker::descend(std::size_t level, std::int32_t split, bool holds) {
  Frame& parent = frame(level);
  Frame& child = frame(level + 1);
  factory_.child_rows(parent.node, split, holds, child.node.rows);
  factory_.make_child(parent.node, split, holds, true, child.node);
}

Interval Worker::try_split(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound) {
  Frame& f = frame(level);
  Scratch& s = scratch(level);
  const Objective& objective = context_.objective;
  const std::int32_t below = depth_below(depth);
  for (const int holds : {0, 1}) {
    s.child[holds] = first_bounds(f, split, holds != 0, depth);
    Interval& known = s.child[holds].interval;
    if (known.is_exact()) continue;
    factory_.child_rows(f.node, split, holds != 0, s.rows[holds]);
    const Record stored = recall(s.rows[holds].key, below);
    known.lower = std::max(known.lower, stored.interval.lower);
    if (stored.interval.upper < known.upper) {
      known.upper = stored.interval.upper;
      s.child[holds].column = stored.column;
    }
  }
  const auto total = [&] {
    return Interval{objective.split(s.child[0].interval.lower + s.child[1].interval.lower),
                    objective.split(s.child[0].interval.upper + s.child[1].interval.upper)};
  };
  if (total().is_closed_for(bound)) return total();
  if (below == 2) {
    try_terminal(level, split, depth, s);
  } else {
    try_deep(level, split, depth, bound, s);
  }
  return total();
}

// Both children at once, from pair counts.
void Worker::try_terminal(std::size_t level, std::int32_t split, std::int32_t depth, Scratch& s) {
  Frame& f = frame(level);
  ChildErrors errors;
  const bool want_yes = !s.child[1].interval.is_exact(), want_no = !s.child[0].interval.is_exact();
  if (!depth_two_->evaluate_children(f.node, f.expansion, split, want_yes, want_no, errors)) return;
  for (const int holds : {0, 1}) {
    if (!(holds != 0 ? want_yes : want_no)) continue;
    const Cost value = shallow_value(holds != 0 ? errors.yes : errors.no, 2);
    s.child[holds].interval = {value, value};
    s.child[holds].column = kDepthTwoTree;
    remember(s.rows[holds].key, depth_below(depth), s.child[holds], 1);
  }
}

// First the child of which less is known: it is the one more likely to use the budget up.
void Worker::try_deep(std::size_t level, std::int32_t split, std::int32_t depth, Cost bound, Scratch& s) {
  const auto width = [&](int holds) { return s.child[holds].interval.upper - s.child[holds].interval.lower; };
  const int first = width(1) > width(0) ? 1 : 0;
  for (const int holds : {first, 1 - first}) {
    Interval& mine = s.child[holds].interval;
    const Cost budget = bound - context_.objective.split_penalty - s.child[1 - holds].interval.lower;
    if (mine.is_closed_for(budget)) {
      if (mine.lower >= budget) return;
      continue;
    }
    descend(level, split, holds != 0);
    const Interval found = solve(level + 1, depth_below(depth), budget);
    mine.lower = std::max(mine.lower, found.lower);
    mine.upper = std::min(mine.upper, found.upper);
    if (mine.lower >= budget || context_.limits.stopped()) return;
  }
}

}  // namespace certree
