#include "search/chains/search.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/thread_pool.hpp"

namespace certree {

ChainSearch::Side::Side(const ChainContext& context, const ChainPairSettings& settings)
    : node(context.memory), pairs(make_chain_pairs(context.data, settings, context.budget, context.memory)) {}

ChainSearch::ChainSearch(const ChainContext& context, ChainShared& shared, const std::vector<Tangent>& tangents,
                         bool is_main)
    : context_(context),
      shared_(shared),
      is_main_(is_main),
      incumbent_(shared.incumbent),
      factory_(context.data, bit_kernels_for(context.options.isa), context.memory,
               context.options.use_column_reduction) {
  const Options& options = context.options;
  settings_.min_leaf = options.min_leaf;
  settings_.tracks_splits = context.objective.split_penalty > 0 || options.max_splits >= 0;
  settings_.drops_dominated = options.use_chain_dominance;
  settings_.max_splits = options.max_splits;
  settings_.isa = options.isa;
  for (const Tangent& tangent : tangents) active_.push_back(&tangent);
  if (!options.use_chain_equivalent_points) return;
  const auto n_types = static_cast<std::size_t>(context.data.n_pair_types());
  const std::vector<Cost>& weights = context.data.group_weights();
  for (const Tangent* tangent : active_) {
    std::vector<Cost>& scores = group_scores_.emplace_back();
    for (std::size_t g = 0; g < static_cast<std::size_t>(context.data.n_groups()); ++g)
      scores.push_back(tangent->score(weights[g * n_types], weights[g * n_types + 1]));
  }
}

ChainSearch::Level& ChainSearch::level_at(std::size_t level) {
  while (levels_.size() <= level) {
    levels_.push_back(std::make_unique<Level>());
    for (auto& side : levels_.back()->sides) side = std::make_unique<Side>(context_, settings_);
  }
  return *levels_[level];
}

bool ChainSearch::make_sides(const Node& parent, std::int32_t column, std::size_t level) {
  Level& at = level_at(level);
  for (const int holds : {0, 1}) {
    factory_.child_rows(parent, column, holds != 0, at.sides[holds]->node.rows);
    factory_.make_child(parent, column, holds != 0, true, at.sides[holds]->node);
  }
  return !context_.budget.poll();
}

ChainSearch::Scores ChainSearch::root_thresholds() const {
  Scores out;
  for (const Tangent* t : active_) out.push_back(t->threshold(incumbent_.value));
  return out;
}

void ChainSearch::offer(const Edge* edges, std::size_t count, std::int32_t splits, const Plan& origin) {
  const ChainValue value = context_.objective.value(edges, count, splits);
  if (!(incumbent_.value < value)) return;
  incumbent_.value = value;
  incumbent_.chain.assign(edges, edges + count);
  incumbent_.splits = splits;
  incumbent_.tree = {};
  plant(splits == 0 ? Plan{} : origin, [this](std::int32_t plan) { return look(plan); }, incumbent_.tree);
  name_columns(context_.data, incumbent_.tree);
  if (is_alone_) return;
  const SharedLock lock(shared_.mutex, context_.budget);
  if (!(shared_.incumbent.value < value)) return;
  shared_.incumbent = incumbent_;
  context_.progress.improve(context_.objective.perfect() - value.whole, incumbent_.tree);
  context_.progress.replace_tree(incumbent_.tree);
}

Plan ChainSearch::look(std::int32_t origin) const {
  if (origin == kChainLeaf) return {};
  return origin < 0 ? Plan{stump_column(origin), kChainLeaf, kChainLeaf} : origins_[static_cast<std::size_t>(origin)];
}

bool ChainSearch::solve_shallow(std::int32_t depth) {
  Side root(context_, settings_);
  factory_.make_root(root.node);
  ChainSet chains(context_.memory, active_.size());
  if (!list_chains(root, depth, 0, root_thresholds(), chains)) return false;
  for (std::size_t i = 0; i < chains.size(); ++i)
    offer(chains[i].edges, chains[i].n_edges, chains[i].splits, chains.origin(i));
  return true;
}

bool ChainSearch::explore_split(const Node& root, std::int32_t column, std::int32_t depth, Cost& bound,
                                const ChainIncumbent* from) {
  is_alone_ = from != nullptr;
  if (is_alone_) {
    incumbent_ = *from;
  } else {
    const SharedLock lock(shared_.mutex, context_.budget);
    incumbent_ = shared_.incumbent;
  }
  began_with_ = incumbent_.value;
  observe();
  if (context_.budget.poll()) return false;
  if (bound <= incumbent_.value.whole) {
    ++counters_.splits_pruned;
    return true;
  }
  ++counters_.splits_tried;
  const bool is_done = explore(root, column, depth);
  if (is_done) bound = -kInfinite;
  origins_.clear();
  return is_done;
}

bool ChainSearch::explore(const Node& root, std::int32_t column, std::int32_t depth) {
  if (!make_sides(root, column, 0)) return false;
  ChainSet yes(context_.memory, active_.size()), no(context_.memory, active_.size());
  if (!list_both(depth, 0, root_thresholds(), yes, no)) return false;
  return combine_at_root(root.column[static_cast<std::size_t>(column)], yes, no);
}

namespace {

bool are_equal(const ChainValue& a, const ChainValue& b) { return !(a < b) && !(b < a); }

// The next smaller value with the same denominator.
ChainValue just_below(const ChainValue& value) {
  if (value.rest > 0) return {value.whole, value.rest - 1, value.of};
  return {value.whole - 1, value.of - 1, value.of};
}

// The root splits, handed out to the threads.
class ChainRoot {
 public:
  ChainRoot(const ChainContext& context, const ChainIncumbent& incumbent, const std::vector<Tangent>& tangents,
            std::int32_t depth)
      : context_(context),
        began_with_(incumbent),
        depth_(depth),
        threads_(depth > 2 ? context.options.threads : 1),
        root_(context.memory) {
    shared_.incumbent = incumbent;
    for (int k = 0; k < threads_.size(); ++k)
      searches_.push_back(std::make_unique<ChainSearch>(context, shared_, tangents, k == 0));
    NodeFactory(context.data, bit_kernels_for(context.options.isa), context.memory, false).make_root(root_);
  }

  void run(Cost bound) {
    if (depth_ <= 2) {
      if (searches_[0]->solve_shallow(depth_)) publish();
      return;
    }
    bounds_.assign(static_cast<std::size_t>(root_.n_columns), bound);
    if (!searches_[0]->close_infeasible(root_, bounds_)) return;
    share([&](ChainSearch& search, std::size_t split) {
      Cost mine = bounds_[split];
      if (mine > -kInfinite && search.bound_root_split(root_, static_cast<std::int32_t>(split), depth_, mine))
        bounds_[split] = mine;
    });
    publish();
    if (context_.budget.stopped()) return;
    first_bounds_ = bounds_;
    order_.resize(bounds_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return bounds_[a] > bounds_[b]; });
    explore();
    if (!context_.budget.stopped() && began_with_.value < shared_.incumbent.value) settle();
  }

  void add_counters(Counters& counters) const {
    for (const auto& search : searches_) counters.add(search->counters());
    if (depth_ > 2) ++counters.nodes_expanded;
  }

 private:
  // Whether a split has a tree of the best value: unknown if that value was known before the split was searched.
  enum class BestTree : std::uint8_t { unknown, lacks, has };

  template <class Task>
  void share(const Task& task) {
    threads_.run(
        static_cast<std::int64_t>(bounds_.size()),
        [&](int worker, std::int64_t number) {
          if (!context_.budget.poll())
            task(*searches_[static_cast<std::size_t>(worker)], static_cast<std::size_t>(number));
        },
        [&] { context_.progress.observe(); });
  }

  // Tells of the bound: no tree has a larger value.
  void publish() {
    Cost open = -kInfinite;
    for (const Cost bound : bounds_) open = std::max(open, bound);
    context_.progress.raise(context_.objective.perfect() - std::max(open, shared_.incumbent.value.whole));
  }

  void explore() {
    before_.resize(bounds_.size());
    after_.resize(bounds_.size());
    share([&](ChainSearch& search, std::size_t place) {
      const std::size_t split = order_[place];
      Cost bound = first_bounds_[split];
      search.explore_split(root_, static_cast<std::int32_t>(split), depth_, bound);
      before_[place] = search.began_with();
      after_[place] = search.incumbent().value;
      const SharedLock lock(shared_.mutex, context_.budget);
      bounds_[split] = bound;
      publish();
    });
  }

  BestTree fate(std::size_t place) const {
    const ChainValue& best = shared_.incumbent.value;
    if (before_[place] < best) return after_[place] < best ? BestTree::lacks : BestTree::has;
    return first_bounds_[order_[place]] <= just_below(best).whole ? BestTree::lacks : BestTree::unknown;
  }

  // The tree of the first split that has one of the best value: found again, from where the proof began, so that it is the
  // same for all threads.
  void settle() {
    ChainIncumbent from = began_with_;
    from.value = just_below(shared_.incumbent.value);
    std::atomic<std::size_t> winner{bounds_.size()};
    Tree tree;
    share([&](ChainSearch& search, std::size_t place) {
      if (place > winner.load() || fate(place) == BestTree::lacks) return;
      const std::size_t split = order_[place];
      Cost bound = first_bounds_[split];
      if (!search.explore_split(root_, static_cast<std::int32_t>(split), depth_, bound, &from)) return;
      if (!are_equal(search.incumbent().value, shared_.incumbent.value)) return;
      const SharedLock lock(shared_.mutex, context_.budget);
      if (place >= winner.load()) return;
      winner.store(place);
      tree = search.incumbent().tree;
    });
    if (!context_.budget.stopped() && !tree.nodes.empty()) context_.progress.replace_tree(tree);
  }

  const ChainContext& context_;
  const ChainIncumbent began_with_;
  std::int32_t depth_;
  ThreadPool threads_;
  ChainShared shared_;
  std::vector<std::unique_ptr<ChainSearch>> searches_;
  Node root_;
  std::vector<Cost> bounds_, first_bounds_;  // [split]
  std::vector<std::size_t> order_;           // splits by place
  std::vector<ChainValue> before_, after_;   // [place]: what a thread had when it began a split, and when it ended
};

}  // namespace

void search_chains(const ChainContext& context, const ChainIncumbent& incumbent, std::int32_t depth,
                   const std::vector<Tangent>& tangents, Cost bound, Counters& counters) {
  ChainRoot root(context, incumbent, tangents, depth);
  root.run(bound);
  root.add_counters(counters);
}

}  // namespace certree
