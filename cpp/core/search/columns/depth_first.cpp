#include "search/columns/depth_first.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>

#include "base/lock.hpp"
#include "base/thread_pool.hpp"
#include "bounds/split_count.hpp"
#include "search/columns/grower.hpp"
#include "search/shared/improver.hpp"

namespace certree {

namespace {

constexpr std::int64_t kFirstTurn = 8000;  // depth-two evaluations
constexpr std::int64_t kLongProof = 100'000;
constexpr std::int64_t kFarProof = 1'000'000;
constexpr std::int64_t kPruned = 8;  // bounds close so many times as much as is left

class DepthFirst {
 public:
  DepthFirst(const Context& context, std::int32_t depth)
      : context_(context),
        depth_(depth),
        main_(context, true),
        grower_(main_),
        improver_(grower_, std::min(depth, kDeepestGrown), context.options.max_splits, context_.options,
                  context_.objective, context.budget, context.progress,
                  context.improver != nullptr ? *context.improver : own_state_) {
    main_.start_below(context.options.assignment.path);
    const std::int32_t threads = depth == kUnlimitedDepth ? 1 : context.options.threads;
    for (std::int32_t t = 1; t < threads; ++t) {
      helpers_.push_back(std::make_unique<Worker>(context, false));
      helpers_.back()->share_root(main_.frame(0));
    }
  }

  void run(Counters& counters) {
    try {
      start();
      if (!is_done() && !context_.options.assignment.opens_only) search();
      if (context_.splits != nullptr) report_splits();
      // Without a depth limit one thread searches, in an order that the data alone decide.
      const bool is_wanted = context_.splits == nullptr || context_.options.assignment.is_canonical;
      if (is_wanted && context_.options.smallest && depth_ != kUnlimitedDepth &&
          context_.progress.interval().is_exact())
        make_canonical();
    } catch (const std::bad_alloc&) {
      context_.budget.stop(StopReason::memory);
    }
    counters.add(main_.counters());
    for (const auto& helper : helpers_) counters.add(helper->counters());
  }

 private:
  // The best tree of depth two and the bound that holds for every depth.
  void start() {
    Frame& root = main_.frame(0);
    // Of some splits, trees are wanted that begin with them.
    const bool is_open_to_all = context_.options.assignment.only.empty();
    if (is_open_to_all) improver_.start();
    if (!main_.expand(root)) return;
    const SplitErrors& errors = root.expansion.errors;
    const Cost value = main_.shallow_value(errors, std::min(depth_, 2));
    if (is_open_to_all) {
      Tree tree;
      main_.add_depth_two_tree(0, std::min(depth_, 2), tree);
      context_.progress.improve(value, std::move(tree));
    }
    Cost floor = std::min(value, context_.objective.leaf(root.unavoidable));
    if (context_.options.use_split_count)
      floor = split_count_bound(context_.objective, value, root.unavoidable, std::min(depth_, 2));
    context_.progress.raise(depth_ <= 2 ? value : floor);
  }

  bool is_done() const {
    const Interval now = context_.progress.interval();
    return now.upper - now.lower <= context_.options.gap || context_.budget.stopped();
  }

  void search() {
    const bool deepens = context_.options.use_iterative_deepening && depth_ != kUnlimitedDepth;
    for (std::int32_t depth = deepens ? 3 : depth_; !is_done(); ++depth) {
      if (depth == 3) improver_.expect_proof(with_levels(1, n_branches(), n_levels() - 2) / kPruned);
      improver_.take_turn();
      // The improver solves for smaller depths, too, as far as that leads to better trees.
      if (depth < depth_ && !improver_.is_exhausted() && is_far(0)) continue;
      const Interval found = solve_in_turns(depth);
      if (depth == depth_) {
        context_.progress.raise(found.lower);
        return;
      }
    }
  }

  // So much work was done for those of the root's splits that were tried; what does it take for the open ones, and for the
  // levels that are missing?
  void project(std::int32_t depth, std::int64_t work, Cost upper) {
    const Frame& root = main_.frame(0);
    std::int64_t open = 0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(root.node.n_columns); ++s)
      open += root.closed[s] == 0 && root.lower[s] < upper;
    const std::int64_t tried = std::max<std::int64_t>(tried_ - 1, 1);  // one was cut short
    improver_.expect_proof(with_levels(work / tried * (tried + open) / kPruned, n_branches(), depth_ - depth));
  }

  // A tree that beats the incumbent affords only so many splits.
  std::int32_t n_levels() const {
    const Interval now = context_.progress.interval();
    std::int64_t splits = (now.upper - now.lower) / std::max<Cost>(context_.objective.split_penalty, 1);
    std::int32_t levels = 1;
    for (; splits > 1; splits /= 2) ++levels;
    return std::min(levels, depth_);
  }

  std::int64_t n_branches() { return std::max(main_.frame(0).node.n_columns / 2, 2); }

  // The proof at some depth, with turns of the improver in between.
  Interval solve_in_turns(std::int32_t depth) {
    const bool is_last = depth == depth_;
    std::int64_t done = 0;
    for (std::int64_t work = improver_.first_turn(std::max(kFirstTurn, context_.budget.work() / 2));; work *= 3) {
      Interval found;
      {
        const Turn turn(context_.budget, improver_.is_exhausted() ? kNoEnd : work);
        if (is_last && context_.options.use_rising_bound && is_far(done)) raise_bound();
        found = solve_root(depth, is_last);
        if (!context_.budget.is_paused()) return found;
      }
      if (is_last) context_.progress.raise(found.lower);
      if (is_done()) return found;
      project(depth, done += work, found.upper);
      improver_.take_turn();
    }
  }

  bool is_far(std::int64_t done) const {
    return context_.options.turn_work > 0 || done > kLongProof || improver_.likely_proof() > kFarProof;
  }

  // A bound that rises long before the proof ends: it takes less to show that no tree costs less than a part of the
  // incumbent, and what is proven on the way stays in the table.
  void raise_bound() {
    for (int part = 4; part > 0 && !is_done(); --part) {
      const Interval now = context_.progress.interval();
      ceiling_ = std::max(now.upper >> part, context_.progress.unit());
      if (ceiling_ > now.lower && ceiling_ < now.upper) context_.progress.raise(solve_root(depth_, true).lower);
    }
    ceiling_ = kInfinite;
  }

  // The root's splits, shared among the workers.  Bounds of a round with less depth do not hold for the problem.
  Interval solve_root(std::int32_t depth, bool is_last) {
    Frame& root = main_.frame(0);
    tried_ = 0;
    Cost shallow_lower = 0;
    Record record = main_.recall(root.node.rows.key, depth, &shallow_lower);
    // A part is asked for trees that begin with its splits.
    if (context_.splits == nullptr && record.interval.upper < context_.progress.interval().upper)
      restore(depth, record.interval.upper);
    const Cost assumed = is_last ? context_.progress.interval().upper : record.interval.upper;
    const bool is_in_table = record.interval.upper == assumed;
    record.interval.upper = assumed;
    const bool opens = !record.interval.is_exact() && main_.open(0, depth, record, shallow_lower);
    if (opens && context_.splits != nullptr) take_part(depth);
    if (opens) {
      if (!threads_) threads_.emplace(static_cast<int>(helpers_.size()) + 1);
      threads_->run(
          threads_->size(),
          [&](int worker, std::int64_t) {
            drive(worker == 0 ? main_ : *helpers_[static_cast<std::size_t>(worker) - 1], depth, is_last, record);
          },
          [&] { context_.progress.observe(); });
      if (failure_) std::rethrow_exception(failure_);
    }
    if (opens)
      record.interval.lower =
          std::max(record.interval.lower, std::min(record.interval.upper, Worker::least_lower(root)));
    main_.check_known_tree(root, depth, record);
    // The incumbent may be the caller's, or come from another search: the table has no tree for it.
    const bool has_tree = is_in_table || record.interval.upper < assumed;
    main_.remember(root.node.rows.key, depth, has_tree ? record : Record{{record.interval.lower, kInfinite}, kNoTree},
                   context_.budget.work());
    return record.interval;
  }

  // Others have proven bounds of the root's children, and try the other splits.
  void take_part(std::int32_t depth) {
    main_.look_all_children_up(0, depth);
    const std::vector<std::int32_t>& only = context_.options.assignment.only;
    Frame& root = main_.frame(0);
    for (std::size_t s = 0; !only.empty() && s < static_cast<std::size_t>(root.node.n_columns); ++s)
      if (std::find(only.begin(), only.end(), context_.data.original_column(root.node.column[s])) == only.end())
        root.closed[s] = 1;
  }

  void report_splits() {
    Frame& root = main_.frame(0);
    Record record;
    if (depth_ <= 2) return;
    if (!root.is_open || root.depth != depth_) {
      Cost shallow_lower = 0;
      record = main_.recall(root.node.rows.key, depth_, &shallow_lower);
      if (!main_.open(0, depth_, record, shallow_lower)) return;
      main_.look_all_children_up(0, depth_);
    }
    for (std::size_t s = 0; s < static_cast<std::size_t>(root.node.n_columns); ++s)
      if (root.lower[s] < kInfinite)
        context_.splits->push_back({context_.data.original_column(root.node.column[s]), root.lower[s], root.guess[s]});
  }

  // The table of an earlier solve may know a better tree than this one has found.
  void restore(std::int32_t depth, Cost value) {
    Tree tree;
    std::int32_t root = -1;
    if (main_.add_known_tree(0, depth, value, tree, &root)) offer(main_, tree);
  }

  void drive(Worker& worker, std::int32_t depth, bool is_last, Record& record) {
    try {
      while (take_split(worker, depth, is_last, record)) {
      }
    } catch (const std::bad_alloc&) {
      context_.budget.stop(StopReason::memory);
    } catch (...) {
      const SharedLock lock(mutex_, context_.budget);
      failure_ = std::current_exception();
      context_.budget.stop(StopReason::interrupted);
    }
  }

  bool take_split(Worker& worker, std::int32_t depth, bool is_last, Record& record) {
    Frame& root = main_.frame(0);
    std::int32_t split = -1;
    Cost bound = 0;
    if (worker.poll()) return false;
    {
      const SharedLock lock(mutex_, context_.budget);
      bound = std::min(record.interval.upper, ceiling_);
      split = worker.next_split(root);
      if (split < 0 || root.lower[static_cast<std::size_t>(split)] >= bound || (is_last && is_done())) return false;
      root.closed[static_cast<std::size_t>(split)] = 1;  // taken
      ++tried_;
      worker.start_split(0, split);
    }
    const Interval found = worker.finish_split(0, split, depth, bound);
    ++worker.counters().splits_tried;
    if (found.upper < bound) publish(worker, split, depth);
    const SharedLock lock(mutex_, context_.budget);
    const Cost before = record.interval.upper;
    worker.keep_children(0, split);
    worker.close_split(root, split, found, record);
    record.interval.upper = std::min(before, record.interval.upper);
    if (is_last) context_.progress.raise(std::min(record.interval.upper, Worker::least_lower(root)));
    return true;
  }

  // Rebuilds the better tree at once, while its parts are in the table.
  void publish(Worker& worker, std::int32_t split, std::int32_t depth) {
    Tree tree;
    const std::int32_t index = tree.add({main_.frame(0).node.column[static_cast<std::size_t>(split)], -1, -1, -1});
    const Cost values[] = {worker.child(0, false).interval.upper, worker.child(0, true).interval.upper};
    for (const int holds : {1, 0}) {
      worker.descend(0, split, holds != 0);
      std::int32_t below = -1;
      if (!worker.add_known_tree(1, depth_below(depth), values[holds], tree, &below)) return;
      tree.nodes[static_cast<std::size_t>(index)].set_child(holds != 0, below);
    }
    offer(worker, tree);
  }

  // The parts of a tree may be better than they were when its value was added up.
  void offer(Worker& worker, const Tree& tree) {
    ColumnGrower grower(worker);
    GrownTree found = measure(grower, 0, tree);
    context_.progress.improve(found.value, found.tree());
  }

  void make_canonical() {
    Tree tree;
    std::int32_t root = -1;
    const Cost value = context_.progress.interval().upper;
    if (!main_.add_canonical_tree(0, depth_, value, tree, &root)) return;
    // Where nothing beats what the caller has, the best tree at hand may cost more.
    if (context_.progress.tree().nodes.empty()) {
      ColumnGrower grower(main_);
      if (measure(grower, 0, tree).value != value) return;
    }
    context_.progress.replace_tree(std::move(tree));
  }

  const Context& context_;
  std::int32_t depth_;
  Worker main_;
  ImproverState own_state_;
  ColumnGrower grower_;
  Improver improver_;
  Cost ceiling_ = kInfinite;  // what is looked for at the root costs less
  std::int64_t tried_ = 0;    // splits of the root since it was opened
  std::vector<std::unique_ptr<Worker>> helpers_;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::optional<ThreadPool> threads_;  // the threads of main_ and the helpers, once there is something to share
};

}  // namespace

void run_depth_first(const Context& context, std::int32_t depth, Counters& counters) {
  DepthFirst(context, depth).run(counters);
}

}  // namespace certree
