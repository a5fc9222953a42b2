#include "search/multiway/search.hpp"

#include <algorithm>

#include "search/shared/remaining_depth.hpp"

namespace certree {

MultiwaySearch::MultiwaySearch(const MultiwayContext& context, MultiwayShared& shared, int number)
    : context_(context),
      shared_(shared),
      chooser_(&shared.root.taken_ways(), number),
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
  if (chooser_.worker() == 0) context_.progress.observe();
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

Cost MultiwaySearch::least_lower(std::size_t level) {
  const MultiwayFrame& f = frame(level);
  return f.test_lower.empty() ? kInfinite : *std::min_element(f.test_lower.begin(), f.test_lower.end());
}

// Prepares a node for its tests: expands it, narrows `record`, and gives every part and test its first bounds.
bool MultiwaySearch::open_ways(std::size_t level, std::int32_t depth, Record& record) {
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

Ways MultiwaySearch::ways(std::size_t level) {
  const MultiwayFrame& f = frame(level);
  return {f.node.rows.key.low, static_cast<std::int32_t>(f.tests.size()), f.test_lower.data(), f.guess.data(),
          f.closed.data()};
}

void MultiwaySearch::visit(std::size_t level, std::int32_t depth, const NextWay& way, Cost bound, Record& record) {
  MultiwayFrame& f = frame(level);
  const NodeTest test = f.tests[static_cast<std::size_t>(way.best)];
  bool is_known = true;
  for (std::int32_t o = test.first; o < test.last; ++o)
    is_known = is_known && f.looked_up[static_cast<std::size_t>(f.outcomes[static_cast<std::size_t>(o)].part)];
  if (is_known) {
    improve_part(level, depth, test, leave_at(*this, way, bound));
  } else {
    look_up(level, depth, test);
  }
  refresh_tests(f, record);
}

// The part of a test of which least is known.
std::int32_t MultiwaySearch::widest_part(const MultiwayFrame& f, const NodeTest& test) const {
  std::int32_t widest = -1;
  for (std::int32_t o = test.first; o < test.last; ++o) {
    const std::int32_t part = f.outcomes[static_cast<std::size_t>(o)].part;
    const auto k = static_cast<std::size_t>(part), w = static_cast<std::size_t>(std::max(widest, 0));
    if (widest < 0 || f.upper[k] - f.lower[k] > f.upper[w] - f.lower[w]) widest = part;
  }
  return widest;
}

// Improves the widest part of a test until the bound of the test reaches `until`.
void MultiwaySearch::improve_part(std::size_t level, std::int32_t depth, const NodeTest& test, Cost until) {
  MultiwayFrame& f = frame(level);
  const std::int32_t widest = widest_part(f, test);
  const auto k = static_cast<std::size_t>(widest);
  const Cost others = sum(f, test, f.lower) - f.lower[k];
  // At least one above what is known, so that every visit makes progress.
  const Cost child_threshold = std::max(until - others, f.lower[k] + 1);
  nodes_.make_child(f, widest, frame(level + 1));
  const Interval found = improve_node(*this, level + 1, depth_below(depth), child_threshold, f.lower[k]);
  f.lower[k] = std::max(f.lower[k], found.lower);
  f.upper[k] = std::min(f.upper[k], found.upper);
  spread_bounds(f, widest);
}

bool MultiwaySearch::is_done() const {
  const Interval now = context_.progress.interval();
  return now.upper - now.lower <= context_.settings.options.gap || context_.budget.stopped();
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
  if (!open_ways(0, context_.depth, root_)) return false;
  MultiwayTree tree{{{}}};
  const Cost value = root.value[std::clamp(context_.depth, 0, 2)];
  if (add_shallow_tree(0, std::clamp(context_.depth, 0, 2), value, tree, 0)) keep(value, std::move(tree));
  root_.interval.upper = context_.progress.interval().upper;
  context_.progress.raise(std::min(root_.interval.lower, root_.interval.upper));
  return context_.depth > 2;
}

void MultiwaySearch::raise(MultiwaySearch&, const Record& record) {
  const Cost lower = std::max(record.interval.lower, least_lower(0));
  context_.progress.raise(std::min(record.interval.upper, lower));
}

// What is known of the root is the same for all.
void MultiwaySearch::join(MultiwaySearch&, Record& record) {
  MultiwayFrame& root = frame(0);
  const SharedLock lock(shared_.root.mutex(), context_.budget);
  shared_.lower.join_lower(root.lower.data(), root.lower.size());
  shared_.upper.join_upper(root.upper.data(), root.upper.size());
  shared_.test_lower.join_lower(root.test_lower.data(), root.test_lower.size());
  record.interval.upper = std::min(record.interval.upper, context_.progress.interval().upper);
}

void MultiwaySearch::drive() {
  MultiwayFrame& root = frame(0);
  if (!root.is_open) {
    nodes_.make_root(root);
    if (!open_ways(0, context_.depth, root_)) return;
  }
  improve_root(*this, *this, context_.depth, root_);
}

void MultiwaySearch::finish() {
  if (!frame(0).is_open) return;
  join(*this, root_);
  raise(*this, root_);
}

void MultiwaySearch::keep(Cost value, MultiwayTree tree) {
  const SharedLock lock(shared_.root.mutex(), context_.budget);
  if (value >= context_.progress.interval().upper) return;
  shared_.best = std::move(tree);
  context_.progress.improve(value, Tree{});
}

MultiwayTree run_multiway(const MultiwayContext& context, Counters& counters) {
  // Trees that need not be small are found in the order of one thread.
  const Options& options = context.settings.options;
  MultiwayShared shared(options.smallest ? options.threads : 1);
  std::vector<std::unique_ptr<MultiwaySearch>> searches(static_cast<std::size_t>(shared.root.size()));
  const auto run = [&] {
    searches[0] = std::make_unique<MultiwaySearch>(context, shared, 0);
    if (searches[0]->start()) {
      const auto drive = [&](int worker) {
        auto& search = searches[static_cast<std::size_t>(worker)];
        if (!search) search = std::make_unique<MultiwaySearch>(context, shared, worker);
        search->drive();
      };
      shared.root.run(context.budget, kNoEnd, drive, [&] { context.progress.observe(); });
      searches[0]->finish();
    }
    // No tree: the caller's is not beaten.
    const bool has_tree = !shared.best.nodes.empty();
    if (has_tree && options.smallest && context.progress.interval().is_exact()) searches[0]->make_canonical();
  };
  try {
    run();
  } catch (const std::bad_alloc&) {
    context.budget.stop(StopReason::memory);
  }
  for (const auto& search : searches)
    if (search) counters.add(search->counters());
  return std::move(shared.best);
}

}  // namespace certree
