#include "search/depth_first.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "bounds/split_count.hpp"

namespace certree {

namespace {

class DepthFirst {
 public:
  DepthFirst(const Context& context, std::int32_t depth) : context_(context), depth_(depth), main_(context, true) {
    const std::int32_t threads = depth == kUnlimitedDepth ? 1 : context.options.threads;
    for (std::int32_t t = 1; t < threads; ++t) {
      helpers_.push_back(std::make_unique<Worker>(context, false));
      helpers_.back()->share_root(main_.frame(0));
    }
  }

  void run(Counters& counters) {
    try {
      start();
      if (!is_done()) search();
      // Without a depth limit one thread searches, in an order that the data alone decide.
      if (context_.options.smallest && depth_ != kUnlimitedDepth && context_.progress.interval().is_exact())
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
    main_.publish_first_trees(depth_, context_.options.max_splits);
    if (!main_.expand(root)) return;
    const SplitErrors& errors = root.expansion.errors;
    const Cost value = main_.shallow_value(errors, std::min(depth_, 2));
    Tree tree;
    main_.add_depth_two_tree(0, std::min(depth_, 2), tree);
    context_.progress.improve(value, std::move(tree));
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
      if (context_.options.use_greedy_incumbent) improve_greedily(depth);
      const Interval found = solve_root(depth, depth == depth_);
      if (depth == depth_) {
        context_.progress.raise(found.lower);
        return;
      }
    }
  }

  void improve_greedily(std::int32_t depth) {
    Tree tree;
    std::int32_t root = -1;
    const Cost value = main_.add_greedy_tree(0, depth, tree, &root);
    if (value < kInfinite) context_.progress.improve(value, std::move(tree));
  }

  // The root's splits, shared among the workers.  Bounds of a round with less depth do not hold for the problem.
  Interval solve_root(std::int32_t depth, bool is_last) {
    Frame& root = main_.frame(0);
    Cost shallow_lower = 0;
    Record record = main_.recall(root.node.rows.key, depth, &shallow_lower);
    if (record.interval.upper < context_.progress.interval().upper) restore(depth, record.interval.upper);
    const Cost assumed = context_.progress.interval().upper;
    const bool is_in_table = record.interval.upper == assumed;
    record.interval.upper = assumed;
    const bool opens = !record.interval.is_exact() && main_.open(0, depth, record, shallow_lower);
    if (opens) {
      std::vector<std::thread> threads;
      for (const auto& helper : helpers_)
        threads.emplace_back([&, worker = helper.get()] { drive(*worker, depth, is_last, record); });
      drive(main_, depth, is_last, record);
      for (std::thread& thread : threads) thread.join();
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

  // The table of an earlier solve may know a better tree than this one has found.
  void restore(std::int32_t depth, Cost value) {
    Tree tree;
    std::int32_t root = -1;
    if (main_.add_known_tree(0, depth, value, tree, &root)) context_.progress.improve(value, std::move(tree));
  }

  void drive(Worker& worker, std::int32_t depth, bool is_last, Record& record) {
    try {
      while (take_split(worker, depth, is_last, record)) {
      }
    } catch (const std::bad_alloc&) {
      context_.budget.stop(StopReason::memory);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      context_.budget.stop(StopReason::interrupted);
    }
  }

  bool take_split(Worker& worker, std::int32_t depth, bool is_last, Record& record) {
    Frame& root = main_.frame(0);
    std::int32_t split = -1;
    Cost bound = 0;
    {
      const std::lock_guard lock(mutex_);
      bound = record.interval.upper;
      split = worker.next_split(root);
      if (split < 0 || root.lower[static_cast<std::size_t>(split)] >= bound || worker.poll() || (is_last && is_done()))
        return false;
      root.closed[static_cast<std::size_t>(split)] = 1;  // taken
      worker.start_split(0, split);
    }
    const Interval found = worker.finish_split(0, split, depth, bound);
    ++worker.counters().splits_tried;
    if (found.upper < bound) publish(worker, split, depth, found.upper);
    const std::lock_guard lock(mutex_);
    const Cost before = record.interval.upper;
    worker.keep_children(0, split);
    worker.close_split(root, split, found, record);
    record.interval.upper = std::min(before, record.interval.upper);
    if (is_last) context_.progress.raise(std::min(record.interval.upper, Worker::least_lower(root)));
    return true;
  }

  // Rebuilds the better tree at once, while its parts are in the table.
  void publish(Worker& worker, std::int32_t split, std::int32_t depth, Cost value) {
    Tree tree;
    const std::int32_t index = tree.add({main_.frame(0).node.column[static_cast<std::size_t>(split)], -1, -1, -1});
    const Cost values[] = {worker.child(0, false).interval.upper, worker.child(0, true).interval.upper};
    for (const int holds : {1, 0}) {
      worker.descend(0, split, holds != 0);
      std::int32_t below = -1;
      if (!worker.add_known_tree(1, depth_below(depth), values[holds], tree, &below)) return;
      tree.nodes[static_cast<std::size_t>(index)].set_child(holds != 0, below);
    }
    context_.progress.improve(value, std::move(tree));
  }

  void make_canonical() {
    Tree tree;
    std::int32_t root = -1;
    const Cost value = context_.progress.interval().upper;
    if (main_.add_canonical_tree(0, depth_, value, tree, &root)) context_.progress.replace_tree(std::move(tree));
  }

  const Context& context_;
  std::int32_t depth_;
  Worker main_;
  std::vector<std::unique_ptr<Worker>> helpers_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void run_depth_first(const Context& context, std::int32_t depth, Counters& counters) {
  DepthFirst(context, depth).run(counters);
}

}  // namespace certree
