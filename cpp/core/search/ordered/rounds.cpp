// The rounds of the search over ordered features: which trees are looked for, below which ceiling, and the turns of the improver.
#include <algorithm>

#include "bounds/split_count.hpp"
#include "search/ordered/grower.hpp"
#include "search/ordered/search.hpp"
#include "search/shared/improver.hpp"

namespace certree {

namespace {

// The turns of proof and improver: work is depth-two evaluations, of which a feature's thresholds take so many at a node, and
// bounds close so many times as many as are left.
constexpr std::int64_t kFirstTurn = 5000;
constexpr std::int64_t kShortTurn = 1000;  // where the proof is far
constexpr std::int64_t kLongProof = 50'000;
constexpr std::int64_t kFarProof = 100'000;
constexpr std::int64_t kBranchesPerFeature = 8;
constexpr std::int64_t kPruned = 8;
constexpr std::int64_t kQuickValues = std::int64_t{1} << 20;  // at depth two: some hundredths of a second
constexpr std::int32_t kDeepRounds =
    8;  // deeper searches have rounds by the price of a split in place of rounds by depth

}  // namespace

void OrderedSearch::run(Shape shape, Counters& counters) {
  most_splits_ = shape.splits;
  const OrderedRows rows = all_rows(0);
  Tree leaf;
  std::int32_t label = 0;
  const Cost value = depth_two_->leaf_value(rows, &label);
  leaf.add({-1, -1, -1, label});
  goal_->improve(value, std::move(leaf));
  if (shape.depth == 0 || value == 0) {
    goal_->raise(value);
  } else {
    OrderedGrower grower(*this);
    ImproverState state;
    Improver improver(grower, std::min(shape.depth, kDeepestGrown), shape.is_full() ? -1 : shape.splits, options_,
                      objective_, budget_, *goal_, state);
    if (options_.use_greedy_incumbent && !is_quick(shape)) improver.start();
    search_depth(std::min(shape.depth, 2), shape, improver);
    // Where no depth is asked for, the price of a split limits it, and the rounds are those of `raise_bound`.
    for (std::int32_t d = shape.depth > kDeepRounds ? shape.depth : 3; d <= shape.depth && !is_done(); ++d)
      search_depth(d, shape, improver);
    if (options_.smallest && goal_->interval().is_exact()) lessen_depth(shape.splits);
  }
  add_counters(counters);
}

void OrderedSearch::add_counters(Counters& counters) {
  counters_.pair_tables = depth_two_->counters.pair_tables;
  counters_.bit_pairs = depth_two_->counters.bit_pairs;
  counters_.thresholds = depth_two_->counters.thresholds;
  counters.add(counters_);
}

// The best tree is there about as soon as a greedy one.
bool OrderedSearch::is_quick(Shape shape) const {
  const std::int64_t values = std::int64_t{data_.n_rows()} * data_.n_features();
  return shape.depth <= 2 && values <= kQuickValues && data_.leaves() == nullptr;
}

bool OrderedSearch::is_done() const {
  const Interval now = goal_->interval();
  return budget_.stopped() || now.upper - now.lower <= options_.gap;
}

// The best tree of depth d.
void OrderedSearch::search_depth(std::int32_t d, Shape shape, Improver& improver) {
  const Shape part = Shape::of(d, shape.splits);
  is_last_ = d == shape.depth;
  if (d <= 2) {
    search_shallow_root(part);
    if (!is_last_ && options_.use_split_count && !budget_.stopped())
      goal_->raise(std::min(left_out(part, shape), goal_->interval().upper));
    return;
  }
  prove(part, shape.depth, improver);
}

// The best tree of a shape, with turns of the improver before it and in between.  `depth`: of the whole problem.
void OrderedSearch::prove(Shape shape, std::int32_t depth, Improver& improver) {
  const std::int64_t branches = kBranchesPerFeature * data_.n_features();
  const std::int64_t guess = with_levels(1, branches, depth - 2) / kPruned;
  const bool is_last = shape.depth == depth;
  if (shape.depth == 3) improver.expect_proof(guess);
  improver.take_turn();
  const bool is_far = options_.turn_work > 0 || guess > kFarProof;
  if (is_far && !is_last && !improver.is_exhausted()) return;  // the improver solves for smaller depths, too
  std::int64_t done = 0;
  for (std::int64_t work = improver.first_turn(is_far ? kShortTurn : kFirstTurn); !is_done(); work *= 3) {
    {
      const Turn turn(budget_, improver.is_exhausted() ? kNoEnd : work);
      is_last_ = is_last;
      if (is_last_ && takes_rounds(is_far || done > kLongProof)) raise_bound(shape);
      search_root(shape);
      if (!budget_.is_paused()) return;
    }
    improver.expect_proof(with_levels((done += work) * branches / kPruned, branches, depth - shape.depth));
    improver.take_turn();
  }
}

// Best-first search over intervals of thresholds takes the form of rounds: each looks at all that may lie below its ceiling, and
// no memory is needed for what it leaves.  Leaving a threshold as soon as another looks better would leave it without a margin,
// and its neighbours would have to be solved one by one (docs/theory/ordered-features.md).
bool OrderedSearch::takes_rounds(bool is_long) const {
  if (options_.search != SearchKind::automatic) return options_.search == SearchKind::best_first;
  return options_.use_rising_bound && is_long;
}

// A bound that rises long before the proof ends: that no tree costs less than a part of the incumbent is shown sooner, and what
// is proven on the way stays in the table.
void OrderedSearch::raise_bound(Shape shape) {
  std::vector<Cost> by;
  Shape before;
  for (Cost ceiling = next_ceiling(); !is_done() && ceiling < goal_->interval().upper; ceiling = next_ceiling()) {
    const Shape part = worth_looking(shape, ceiling);
    if (part.key() != before.key() || by.empty()) by.assign(static_cast<std::size_t>(data_.n_features()), 0);
    before = part;
    beyond_ = left_out(part, shape);
    const Interval now = goal_->interval();
    slack_ = least_slack_ + (now.upper - ceiling) / 2;
    const Cost lower = part.depth > 2 ? search(0, part, ceiling, by.data(), now.upper).lower : now.upper;
    slack_ = least_slack_;
    goal_->raise(std::min({lower, beyond_, goal_->interval().upper}));
    if (goal_->interval().lower < ceiling) return;  // paused
  }
}

// Where splits have a price, each one more is a step of its own: trees of few splits are few.
Cost OrderedSearch::next_ceiling() const {
  const Interval now = goal_->interval();
  const Cost price = options_.use_split_count ? objective_.split_penalty : 0;
  if (price > 0) return now.lower + std::max(price, now.upper >> 4);
  for (int halves = 4; halves > 0; --halves)
    if (const Cost ceiling = std::max(now.upper >> halves, goal_->unit()); ceiling > now.lower) return ceiling;
  return kInfinite;
}

// The trees of a shape that can cost less: a tree with more splits pays more for these alone (bounds/split_count.hpp).
Shape OrderedSearch::worth_looking(Shape shape, Cost value) const {
  const Cost price = objective_.split_penalty;
  if (!options_.use_split_count || price <= 0) return shape;
  const std::int64_t most = value <= 0 ? 0 : (value - 1) / price;
  const auto depth = static_cast<std::int32_t>(std::min<std::int64_t>(shape.depth, most));
  if (shape.is_full()) return Shape::full(depth);
  return Shape::of(depth, std::min(shape.splits, most));
}

// What the other trees of the shape cost at least: a deeper tree may be a chain, with one split more than the part has levels.
Cost OrderedSearch::left_out(Shape part, Shape shape) const {
  if (part.depth == shape.depth && part.splits == shape.splits) return kInfinite;
  const std::int64_t most = part.depth < shape.depth ? part.depth : part.splits;
  return split_count_bound(objective_, kInfinite, 0, static_cast<int>(most));
}

// Of equal trees one of the least depth: rounds of less depth may have been left out.
void OrderedSearch::lessen_depth(std::int64_t splits) {
  const Cost value = goal_->interval().upper;
  const Fingerprint key = level(0).node.key();
  is_last_ = false;
  for (std::int32_t d = 3; has_deeper_tree(d) && !budget_.stopped(); ++d) {
    const Shape shape = Shape::of(d, splits);
    if (recall(key, shape, nullptr).lower > value) continue;
    std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
    const std::int64_t before = budget_.work();
    const OrderedFound found = search(0, shape, value + 1, by.data(), kInfinite);  // offers what it finds
    remember(key, shape, found, test_of(level(0).split), budget_.work() - before);
  }
}

bool OrderedSearch::has_deeper_tree(std::int32_t d) const {
  return !goal_->tree().nodes.empty() && goal_->tree().depth() > d;
}

// Trees of less depth than the problem's have another incumbent.
void OrderedSearch::search_root(Shape shape) {
  std::vector<Cost> by(static_cast<std::size_t>(data_.n_features()), 0);
  beyond_ = kInfinite;
  if (is_last_) {
    const Shape part = worth_looking(shape, goal_->interval().upper);
    beyond_ = left_out(part, shape);  // no less than the incumbent
    if (part.depth <= 2) return search_shallow_root(part);
    shape = part;
  }
  const Fingerprint key = level(0).node.key();
  const OrderedFound known = recall(key, shape, nullptr);
  if (known.lower >= known.upper && !is_last_) return;
  const std::int64_t before = budget_.work();
  OrderedFound found = search(0, shape, kInfinite, by.data(), is_last_ ? goal_->interval().upper : known.upper);
  if (is_last_) {
    goal_->raise(std::min(std::max(found.lower, known.lower), goal_->interval().upper));
  } else {
    remember(key, shape, found, test_of(level(0).split), budget_.work() - before);
  }
}

void OrderedSearch::search_shallow_root(Shape shape) {
  Tree tree;
  std::int32_t root = -1;
  const Cost value = add_shallow(0, shape, tree, &root);
  goal_->improve(value, std::move(tree));
}

}  // namespace certree
