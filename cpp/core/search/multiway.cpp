#include "search/multiway.hpp"

#include <algorithm>

#include "search/worker.hpp"

namespace certree {

MultiwaySearch::MultiwaySearch(const MultiwayContext& context)
    : context_(context),
      nodes_(context.data, context.tests, context.settings, context.memory),
      pass_(make_multiway_pass(context.data, context.task, context.settings, context.budget, context.memory)),
      rows_(context.memory) {
  find_parts();
}

void MultiwaySearch::find_parts() {
  std::vector<std::int32_t> outcomes;
  for (const auto& columns : context_.tests)
    if (columns.size() > 1) outcomes.insert(outcomes.end(), columns.begin(), columns.end());
  std::sort(outcomes.begin(), outcomes.end());
  for (const auto& columns : context_.tests)
    is_part_.push_back(columns.size() == 1 && std::binary_search(outcomes.begin(), outcomes.end(), columns[0]));
  has_parts_ = std::find(is_part_.begin(), is_part_.end(), 1) != is_part_.end();
}

MultiwayFrame& MultiwaySearch::frame(std::size_t level) {
  while (frames_.size() <= level) frames_.push_back(std::make_unique<MultiwayFrame>(context_.memory));
  return *frames_[level];
}

bool MultiwaySearch::poll() {
  context_.progress.observe();
  return context_.budget.poll();
}

Record MultiwaySearch::recall(const Fingerprint& key, std::int32_t depth) {
  Record record;
  if (!context_.settings.options.use_table) return record;
  const bool found = context_.table.find(mix(key, static_cast<std::uint64_t>(depth)), record);
  ++(found ? counters_.table_hits : counters_.table_misses);
  return record;
}

void MultiwaySearch::remember(const Fingerprint& key, std::int32_t depth, const Record& record, std::int64_t effort) {
  Record kept = record;
  if (!context_.settings.options.use_infeasibility && !record.interval.is_exact()) kept.interval.lower = 0;
  context_.table.store(mix(key, static_cast<std::uint64_t>(depth)), kept,
                       static_cast<std::uint32_t>(std::clamp<std::int64_t>(effort, 1, 1 << 30)));
}

bool MultiwaySearch::expand(MultiwayFrame& f) {
  f.is_open = false;
  ++counters_.nodes_expanded;
  counters_.branches_evaluated += static_cast<std::int64_t>(f.parts.size());
  return pass_->expand(f);
}

Cost MultiwaySearch::sum(const MultiwayFrame& f, const NodeTest& test, const std::vector<Cost>& values) const {
  Cost total = context_.settings.objective.split_penalty + test.price;
  for (std::int32_t o = test.first; o < test.last; ++o)
    total += values[static_cast<std::size_t>(f.outcomes[static_cast<std::size_t>(o)].part)];
  return total;
}

Cost MultiwaySearch::least_lower(const MultiwayFrame& f) {
  return f.test_lower.empty() ? kInfinite : *std::min_element(f.test_lower.begin(), f.test_lower.end());
}

// Prepares a node for its tests: expands it, narrows `record`, and gives every part and test its first bounds.
bool MultiwaySearch::open(std::size_t level, std::int32_t depth, Record& record) {
  MultiwayFrame& f = frame(level);
  if (!expand(f)) return false;
  const MultiwayObjective& objective = context_.settings.objective;
  const Options& options = context_.settings.options;
  const Cost value = f.value[std::clamp(depth, 0, 2)];
  if (value < record.interval.upper) {
    record.interval.upper = value;
    record.column = value == f.value[0] ? kLeafTree : kDepthTwoTree;
  }
  if (depth <= 2) {
    record.interval.lower = value;
    return true;
  }
  // A tree that is not yet seen has depth three or more, so three splits (bounds/split_count.hpp).
  const Cost floor = std::min(value, objective.at_least(f.all_unavoidable, options.use_split_count ? 3 : 0));
  record.interval.lower = std::max(record.interval.lower, floor);
  if (options.use_nested_sets && context_.settings.outcomes.extends_to_supersets()) {
    // At the children's depth the node is at least as expensive as at its own; at depth two it is known.
    const Cost node_lower = depth == 3 ? value : record.interval.lower;
    for (std::size_t a = 0; a < f.parts.size(); ++a) {
      const Cost lost = objective.errors(f.all_worst - f.worst[a]);
      f.lower[a] = std::max(f.lower[a], std::min(f.upper[a], node_lower - lost));
    }
    inherit_bounds(level);
  }
  f.looked_up.assign(f.parts.size(), 0);
  bound_tests(f);
  f.is_open = true;
  return true;
}

void MultiwaySearch::bound_tests(MultiwayFrame& f) {
  const MultiwayObjective& objective = context_.settings.objective;
  const Options& options = context_.settings.options;
  const bool drops_small = options.use_leaf_support && context_.settings.outcomes.extends_to_supersets();
  f.test_lower.assign(f.tests.size(), kInfinite);
  f.guess.assign(f.tests.size(), kInfinite);
  f.closed.assign(f.tests.size(), 1);
  for (std::size_t t = 0; t < f.tests.size(); ++t) {
    const NodeTest& test = f.tests[t];
    Cost largest = 0;
    bool is_feasible = true;
    for (std::int32_t o = test.first; o < test.last; ++o) {
      const auto part = static_cast<std::size_t>(f.outcomes[static_cast<std::size_t>(o)].part);
      is_feasible = is_feasible && !f.is_too_small[part];
      largest = std::max(largest, f.worst[part]);
    }
    // Leaf support (bounds/leaf_support.hpp), with all outcomes but one in the part of the small side: if the rows of all
    // others, at their worst, cost less than a split, the best tree of that one serves the whole node better.
    if (!is_feasible || (drops_small && objective.errors(f.all_worst - largest) < objective.split_penalty)) continue;
    f.closed[t] = 0;
    f.test_lower[t] = sum(f, test, f.lower);
    f.guess[t] = options.use_look_ahead_order ? sum(f, test, f.upper) : static_cast<Cost>(t);
  }
}

// What is known of the parent's parts serves the node's: with g the part that led here, part b of the node is part b of the
// parent less its rows outside of g (bounds/nested_sets.hpp).
void MultiwaySearch::inherit_bounds(std::size_t level) {
  if (level == 0) return;
  MultiwayFrame& f = frame(level);
  const MultiwayFrame& parent = frame(level - 1);
  if (!parent.is_open || !parent.has_common) return;
  for (std::size_t b = 0; b < f.parts.size(); ++b) {
    const std::int32_t above = f.above[b];
    const auto k = static_cast<std::size_t>(above);
    const Cost lost = parent.worst[k] - parent.common_worst(f.parent_part, above);
    const Cost bound = parent.lower[k] - context_.settings.objective.errors(lost);
    f.lower[b] = std::max(f.lower[b], std::min(f.upper[b], bound));
  }
}

// What the table knows of a test's parts; asked for only when the test is about to be taken.
void MultiwaySearch::look_up(std::size_t level, std::int32_t depth, const NodeTest& test) {
  MultiwayFrame& f = frame(level);
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const std::int32_t part = f.outcomes[static_cast<std::size_t>(o)].part;
    const auto k = static_cast<std::size_t>(part);
    if (f.looked_up[k]) continue;
    f.looked_up[k] = 1;
    if (f.lower[k] >= f.upper[k]) continue;
    nodes_.child_rows(f, part, rows_);
    const Record stored = recall(rows_.key, depth_below(depth));
    f.lower[k] = std::max(f.lower[k], stored.interval.lower);
    f.upper[k] = std::min(f.upper[k], stored.interval.upper);
    spread_bounds(f, part);
  }
}

// Similarity (bounds/split_similarity.hpp): V(b) >= V(a) - S worst(a \ b) for any two parts of the node.
void MultiwaySearch::spread_bounds(MultiwayFrame& f, std::int32_t part) {
  if (!f.has_common) return;
  const auto a = static_cast<std::size_t>(part);
  const Cost* common = f.common.data() + a * f.parts.size();
  for (std::size_t b = 0; b < f.parts.size(); ++b) {
    const Cost bound = f.lower[a] - context_.settings.objective.errors(f.worst[a] - common[b]);
    f.lower[b] = std::max(f.lower[b], std::min(f.upper[b], bound));
  }
}

// Brings the tests up to what is known of their parts, and the record to the best of them.
void MultiwaySearch::refresh_tests(MultiwayFrame& f, Record& record) {
  for (std::size_t t = 0; t < f.tests.size(); ++t) {
    if (f.closed[t]) continue;
    const Cost upper = sum(f, f.tests[t], f.upper);
    f.test_lower[t] = std::max(f.test_lower[t], sum(f, f.tests[t], f.lower));
    if (upper < record.interval.upper) {
      record.interval.upper = upper;
      record.column = f.tests[t].id;
    }
    if (f.test_lower[t] >= upper) f.closed[t] = 1;
  }
}

// Leaving a node for a better one pays off if what was found there is still known on return.  Never leaving one before its
// lower bound reaches its ceiling is depth-first branch and bound.
bool MultiwaySearch::may_leave_early() const {
  const Options& options = context_.settings.options;
  if (options.search == SearchKind::depth_first) return false;
  const bool keeps_nothing = context_.table.n_entries() == 0 && counters_.nodes_expanded > 100;
  return options.use_table && options.use_infeasibility && !keeps_nothing &&
         context_.table.n_evictions() <= context_.table.n_entries();
}

// One step at a node: the best test's parts are looked up, or the one of which least is known is improved.
// False: nothing is left below `threshold`.
bool MultiwaySearch::improve_best_test(std::size_t level, std::int32_t depth, Cost threshold, Record& record) {
  MultiwayFrame& f = frame(level);
  const MultiwayObjective& objective = context_.settings.objective;
  std::int32_t best = -1;
  Cost second = kInfinite;
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(f.tests.size()); ++t) {
    const auto k = static_cast<std::size_t>(t), b = static_cast<std::size_t>(std::max(best, 0));
    if (f.closed[k]) continue;
    if (best < 0 || f.test_lower[k] < f.test_lower[b] ||
        (f.test_lower[k] == f.test_lower[b] && f.guess[k] < f.guess[b])) {
      if (best >= 0) second = f.test_lower[b];
      best = t;
    } else {
      second = std::min(second, f.test_lower[k]);
    }
  }
  const Cost bound = std::min(record.interval.upper, threshold);
  if (best < 0 || f.test_lower[static_cast<std::size_t>(best)] >= bound) return false;

  const NodeTest test = f.tests[static_cast<std::size_t>(best)];
  std::int32_t widest = -1;
  bool is_known = true;
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const std::int32_t part = f.outcomes[static_cast<std::size_t>(o)].part;
    const auto k = static_cast<std::size_t>(part), w = static_cast<std::size_t>(std::max(widest, 0));
    is_known = is_known && f.looked_up[k];
    if (widest < 0 || f.upper[k] - f.lower[k] > f.upper[w] - f.lower[w]) widest = part;
  }
  if (!is_known) {
    look_up(level, depth, test);
  } else {
    const auto k = static_cast<std::size_t>(widest);
    const Cost until = may_leave_early() ? std::min(bound, second + objective.split_penalty) : bound;
    const Cost others = sum(f, test, f.lower) - f.lower[k];
    // At least one above what is known, so that every visit makes progress.
    const Cost child_threshold = std::max(until - others, f.lower[k] + 1);
    nodes_.make_child(f, widest, frame(level + 1));
    const Interval found = improve(level + 1, depth_below(depth), child_threshold, f.lower[k]);
    f.lower[k] = std::max(f.lower[k], found.lower);
    f.upper[k] = std::min(f.upper[k], found.upper);
    spread_bounds(f, widest);
  }
  refresh_tests(f, record);
  return true;
}

// Narrows the interval of the node in frame(level) until it is exact, or its lower end reaches `threshold`, where the caller
// has something better to do, or the budget ends; the interval is valid in every case.
Interval MultiwaySearch::improve(std::size_t level, std::int32_t depth, Cost threshold, Cost known_lower) {
  MultiwayFrame& f = frame(level);
  const Fingerprint key = f.node.rows.key;
  Record record = recall(key, depth);
  record.interval.lower = std::max(record.interval.lower, known_lower);
  if (record.interval.is_closed_for(threshold) || poll()) return record.interval;
  const std::int64_t work_before = context_.budget.work();
  ++counters_.iterations;
  if (!open(level, depth, record)) return record.interval;
  if (depth > 2) {
    while (!record.interval.is_closed_for(threshold) && !poll()) {
      if (!improve_best_test(level, depth, threshold, record)) break;
    }
    record.interval.lower = std::max(record.interval.lower, std::min(record.interval.upper, least_lower(f)));
  }
  remember(key, depth, record, context_.budget.work() - work_before);
  return record.interval;
}

bool MultiwaySearch::is_done() const {
  const Interval now = context_.progress.interval();
  return now.upper - now.lower <= context_.settings.options.gap || context_.budget.stopped();
}

void MultiwaySearch::run(Counters& counters) {
  try {
    if (start()) search();
  } catch (const std::bad_alloc&) {
    context_.budget.stop(StopReason::memory);
  }
  counters.add(counters_);
}

bool MultiwaySearch::start() {
  MultiwayFrame& root = frame(0);
  nodes_.make_root(root);
  std::int32_t label = 0;
  const Cost errors = context_.task.leaf_cost(root.node.totals.data(), &label);
  keep(context_.settings.objective.leaf(errors), MultiwayTree{{{-1, -1, label}}});
  for (const Greedy kind : {Greedy::all_tests, Greedy::whole_tests}) {
    if (!context_.settings.options.use_greedy_incumbent || (kind == Greedy::whole_tests && !has_parts_)) continue;
    MultiwayTree tree{{{}}};
    Cost value = kInfinite;
    add_greedy_tree(0, context_.depth, kind, tree, 0, &value);
    keep(value, std::move(tree));
  }
  if (!open(0, context_.depth, root_)) return false;
  MultiwayTree tree{{{}}};
  const Cost value = root.value[std::clamp(context_.depth, 0, 2)];
  if (add_shallow_tree(0, std::clamp(context_.depth, 0, 2), value, tree, 0)) keep(value, std::move(tree));
  root_.interval.upper = context_.progress.interval().upper;
  context_.progress.raise(std::min(root_.interval.lower, root_.interval.upper));
  return context_.depth > 2;
}

void MultiwaySearch::search() {
  MultiwayFrame& root = frame(0);
  const auto raise = [&] {
    context_.progress.raise(std::min(root_.interval.upper, std::max(root_.interval.lower, least_lower(root))));
  };
  while (!is_done() && !poll()) {
    const Cost before = root_.interval.upper;
    if (!improve_best_test(0, context_.depth, kInfinite, root_)) break;
    if (root_.interval.upper < before) publish();
    raise();
  }
  raise();
}

void MultiwaySearch::keep(Cost value, MultiwayTree tree) {
  if (value >= context_.progress.interval().upper) return;
  best_ = std::move(tree);
  context_.progress.improve(value, Tree{});
}

}  // namespace certree
