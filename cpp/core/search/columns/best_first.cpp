#include "search/columns/best_first.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "search/columns/grower.hpp"
#include "search/shared/best_first.hpp"
#include "search/shared/improver.hpp"

namespace certree {

namespace {

// Penalties by which a split may pass the second-best before it is left.  Visits on lymph-f, tic-tac-toe and balance:
// 2.96 M, 170 k, 423 k at 0.5; 3.13 M, 178 k, 365 k at 1; 2.74 M, 181 k, 354 k at 2; 2.70 M, 175 k, 288 k at 4.
constexpr Cost kOverestimate = 4;

}  // namespace

// Opens a node; nothing was asked of the table yet.
bool Worker::open_ways(std::size_t level, std::int32_t depth, Record& record) {
  if (!open(level, depth, record)) return false;
  Frame& f = frame(level);
  const auto n = static_cast<std::size_t>(f.node.n_columns);
  std::fill_n(f.looked_up.ensure(n), n, std::uint8_t{0});
  return true;
}

// What the table knows of a split's children; asked for only when the split is about to be taken.
void Worker::look_children_up(std::size_t level, std::int32_t split) {
  Frame& f = frame(level);
  Scratch& scratch_here = scratch(level);
  const auto s = static_cast<std::size_t>(split);
  f.looked_up[s] = 1;
  const auto is_known = [&](int holds) { return f.child_lower[holds][s] >= f.child_upper[holds][s]; };
  for (const int holds : {0, 1}) {
    if (is_known(holds)) continue;
    child_rows(f, split, holds != 0, scratch_here.rows[holds]);
    context_.table.prefetch(mix(scratch_here.rows[holds].key, static_cast<std::uint64_t>(kUnlimitedDepth)));
  }
  for (const int holds : {0, 1}) {
    if (is_known(holds)) continue;
    const Record stored = recall(scratch_here.rows[holds].key, kUnlimitedDepth);
    f.child_lower[holds][s] = std::max(f.child_lower[holds][s], stored.interval.lower);
    f.child_upper[holds][s] = std::min(f.child_upper[holds][s], stored.interval.upper);
  }
}

// Leaving a node for a better one pays off if what was found there is still known on return.  Never leaving one before its
// lower bound reaches its ceiling is depth-first branch and bound, which finishes in any memory: the search hands over to it
// once the table has forgotten more than it holds.
bool Worker::may_leave_early() const { return context_.table.n_evictions() <= context_.table.n_entries(); }

Cost Worker::overestimate() const { return kOverestimate * context_.objective.split_penalty; }

Ways Worker::ways(std::size_t level) {
  const Frame& f = frame(level);
  return {f.node.rows.key.low, f.node.n_columns, f.lower.data(), f.guess.data(), f.closed.data()};
}

void Worker::visit(std::size_t level, std::int32_t depth, const NextWay& way, Cost bound, Record& record) {
  Frame& f = frame(level);
  const std::int32_t split = way.best;
  const auto s = static_cast<std::size_t>(split);
  const auto total = [&](const AlignedArray<Cost>* ends) { return value_of_split(f, s, ends[0][s] + ends[1][s]); };
  const Cost known = f.child_lower[0][s] + f.child_lower[1][s];
  if (!f.looked_up[s]) {
    look_children_up(level, split);
  } else {
    const auto width = [&](int holds) { return f.child_upper[holds][s] - f.child_lower[holds][s]; };
    const int holds = width(1) > width(0) ? 1 : 0;
    descend(level, split, holds != 0);
    // At least one above what is known, so that every visit makes progress.
    const Cost rest = leave_at(*this, way, bound) - value_of_split(f, s, f.child_lower[1 - holds][s]);
    const Cost child_threshold = std::max(rest, f.child_lower[holds][s] + 1);
    const Interval found = improve_node(*this, level + 1, depth, child_threshold, f.child_lower[holds][s]);
    f.child_lower[holds][s] = std::max(f.child_lower[holds][s], found.lower);
    f.child_upper[holds][s] = std::min(f.child_upper[holds][s], found.upper);
  }
  const Interval now{std::max(f.lower[s], total(f.child_lower)), total(f.child_upper)};
  if (now.is_exact()) f.closed[s] = 1;
  offer_split(f, split, now, record);
  if (f.child_lower[0][s] + f.child_lower[1][s] > known) spread_bounds(f, split);
}

void Worker::remember_node(std::size_t level, std::int32_t depth, const Record& record, std::int64_t effort) {
  check_known_tree(frame(level), depth, record);
  remember(key(level), depth, record, effort);
}

Interval Worker::improve(std::size_t level, Cost threshold, Cost known_lower) {
  return improve_node(*this, level, kUnlimitedDepth, threshold, known_lower);
}

namespace {

constexpr std::int64_t kFirstTurn = 2000;  // depth-two evaluations

class BestFirst {
 public:
  explicit BestFirst(const Context& context)
      : shared_(context.options.smallest ? context.options.threads : 1),
        context_(context_of(context, shared_)),
        worker_(context_, true),
        grower_(worker_),
        improver_(grower_, kDeepestGrown, context.options.max_splits, context_.options, context_.objective,
                  context.budget, context.progress, context.improver != nullptr ? *context.improver : own_state_),
        helpers_(static_cast<std::size_t>(shared_.size()) - 1) {}

  void run(Counters& counters) {
    try {
      if (start()) search();
      // No tree: the caller's is not beaten.
      const bool has_tree = context_.progress.unit() > 0 && !context_.progress.tree().nodes.empty();
      if (has_tree && context_.options.smallest && context_.progress.interval().is_exact()) make_canonical();
    } catch (const std::bad_alloc&) {
      context_.budget.stop(StopReason::memory);
    }
    counters.add(worker_.counters());
    for (const Helper& helper : helpers_)
      if (helper.worker) counters.add(helper.worker->counters());
  }

  // What `improve_root` asks.
  bool is_done() const {
    const Interval now = context_.progress.interval();
    return now.upper - now.lower <= context_.options.gap || context_.budget.stopped();
  }

  void raise(Worker& worker, const Record& record) {
    context_.progress.raise(std::min(record.interval.upper, worker.least_lower(0)));
  }

  // What is known of the root is the same for all.
  void join(Worker& worker, Record& record) {
    Frame& root = worker.frame(0);
    const auto n = static_cast<std::size_t>(root.node.n_columns);
    const SharedLock lock(shared_.mutex(), context_.budget);
    lower_.join_lower(root.lower.data(), n);
    for (const int holds : {0, 1}) {
      child_lower_[holds].join_lower(root.child_lower[holds].data(), n);
      child_upper_[holds].join_upper(root.child_upper[holds].data(), n);
    }
    record.interval.upper = std::min(record.interval.upper, context_.progress.interval().upper);
  }

  // The root's split is record.column; its children's trees are in the table.
  void publish(Worker& worker, const Record& record) {
    Frame& root = worker.frame(0);
    const std::int32_t split = local_column(root.node, record.column);
    if (split < 0) return;
    const auto s = static_cast<std::size_t>(split);
    Tree tree;
    const std::int32_t index = tree.add({record.column, -1, -1, -1});
    for (const int holds : {1, 0}) {
      worker.descend(0, split, holds != 0);
      std::int32_t below = -1;
      if (!worker.add_known_tree(1, kUnlimitedDepth, root.child_upper[holds][s], tree, &below)) return;
      tree.nodes[static_cast<std::size_t>(index)].set_child(holds != 0, below);
    }
    // Its parts may be better than they were when its value was added up.
    ColumnGrower grower(worker);
    const GrownTree found = measure(grower, 0, tree);
    context_.progress.improve(found.value, found.tree());
  }

 private:
  struct Helper {
    std::unique_ptr<Worker> worker;  // null: its thread has not begun
    Record record;
  };

  // Every thread has a root of its own, so that no other thread changes the bounds that it reads.
  static Context context_of(const Context& context, SharedRoot& shared) {
    Context own = context;
    own.options.threads = 1;
    if (shared.size() > 1) own.taken_ways = &shared.taken_ways();
    return own;
  }

  bool start() {
    improver_.start();
    if (!worker_.open_ways(0, kUnlimitedDepth, record_)) return false;
    Tree tree;
    worker_.add_depth_two_tree(0, 2, tree);
    context_.progress.improve(worker_.shallow_value(worker_.frame(0).expansion.errors, 2), std::move(tree));
    record_.interval.upper = context_.progress.interval().upper;
    context_.progress.raise(record_.interval.lower);
    return is_done() || improve();
  }

  // Nobody knows how long the proof takes: a quarter of the pairs of root splits is a guess.  False: stopped.
  bool improve() {
    next_turn_ = std::numeric_limits<std::int64_t>::max();
    if (improver_.is_exhausted()) return true;
    const std::int64_t n = worker_.frame(0).node.n_columns;
    improver_.expect_proof(n * n / 4);
    improver_.take_turn();
    next_turn_ = 2 * context_.budget.work() + improver_.first_turn(kFirstTurn);
    // The improver has used the root's frame.
    return worker_.open_ways(0, kUnlimitedDepth, record_);
  }

  void search() {
    while (!is_done() && !is_proven_) {
      const std::int64_t more = std::max<std::int64_t>(next_turn_ - context_.budget.work(), 1);
      shared_.run(
          context_.budget, std::min(more, kNoEnd), [this](int worker) { drive(worker); },
          [this] { context_.progress.observe(); });
      if (!is_done() && !is_proven_ && !improve()) break;
    }
    Frame& root = worker_.frame(0);
    if (!root.is_open) return;
    join(worker_, record_);
    record_.interval.lower = std::min(record_.interval.upper, Worker::least_lower(root));
    context_.progress.raise(record_.interval.lower);
    worker_.remember(root.node.rows.key, kUnlimitedDepth, {{record_.interval.lower, kInfinite}, kNoTree},
                     context_.budget.work());
  }

  void drive(int number) {
    if (number == 0) return drive(worker_, record_);
    Helper& helper = helpers_[static_cast<std::size_t>(number) - 1];
    if (!helper.worker) {
      helper.worker = std::make_unique<Worker>(context_, false, number);
      helper.worker->start_at_root();
    }
    Worker& worker = *helper.worker;
    if (worker.frame(0).is_open || worker.open_ways(0, kUnlimitedDepth, helper.record)) drive(worker, helper.record);
  }

  void drive(Worker& worker, Record& record) {
    if (improve_root(worker, *this, kUnlimitedDepth, record)) is_proven_ = true;
  }

  void make_canonical() {
    Tree tree;
    std::int32_t root = -1;
    const Cost value = context_.progress.interval().upper;
    if (worker_.add_canonical_tree(0, kUnlimitedDepth, value, tree, &root))
      context_.progress.replace_tree(std::move(tree));
  }

  SharedRoot shared_;
  Context context_;
  Worker worker_;
  ImproverState own_state_;
  ColumnGrower grower_;
  Improver improver_;
  Record record_;
  std::vector<Helper> helpers_;  // the other threads
  SharedBounds lower_, child_lower_[2], child_upper_[2];
  std::int64_t next_turn_ = 0;
  std::atomic<bool> is_proven_{false};
};

}  // namespace

void run_best_first(const Context& context, Counters& counters) { BestFirst(context).run(counters); }

}  // namespace certree
