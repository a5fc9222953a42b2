#include "search/ordered/rounds.hpp"

#include <algorithm>
#include <utility>

#include "search/ordered/grower.hpp"
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
constexpr std::int32_t kDeepRounds = 8;  // deeper searches have rounds by the price of a split, none by depth

// The best tree is there about as soon as a greedy one.
bool is_quick(const OrderedData& data, Shape shape) {
  const std::int64_t values = std::int64_t{data.n_rows()} * data.n_features();
  return shape.depth <= 2 && values <= kQuickValues && data.leaves() == nullptr;
}

}  // namespace

void run_ordered(const OrderedContext& context, Shape shape, Counters& counters) {
  OrderedSearch search(context);
  Tree leaf;
  std::int32_t label = 0;
  const Cost value = search.depth_two().leaf_value(search.all_rows(0), &label);
  leaf.add({-1, -1, -1, label});
  context.progress.improve(value, std::move(leaf));
  if (shape.depth == 0 || value == 0) {
    context.progress.raise(value);
  } else {
    OrderedRounds rounds(search, context.progress, shape);
    OrderedGrower grower(search);
    grower.tell(&rounds);
    ImproverState state;
    Improver improver(grower, std::min(shape.depth, kDeepestGrown), shape.is_full() ? -1 : shape.splits,
                      context.options, context.objective, context.budget, context.progress, state);
    if (context.options.use_greedy_incumbent && !is_quick(context.data, shape)) improver.start();
    rounds.search_all_depths(improver);
  }
  counters.add(search.counters());
}

bool OrderedRounds::is_done() const {
  const Interval now = goal_.interval();
  return search_.context().budget.stopped() || now.upper - now.lower <= search_.context().options.gap;
}

OrderedQuestion OrderedRounds::ask(Shape shape, Cost ceiling, Cost known_upper) {
  return {shape, ceiling, search_.least_slack(), known_upper, this};
}

// A better tree at the whole problem.  Solving its sides again may find an even better one, or, where the budget ends, a
// worse one.  The improver asks about trees with more splits than are allowed, and cuts them itself.
Cost OrderedRounds::found(const OrderedQuestion& question, OrderedSplit split, Cost value) {
  if (question.shape.splits > shape_.splits) return value;
  OrderedQuestion known = question;
  known.known_upper = value;
  Tree tree;
  std::int32_t root = -1;
  const Cost actual = trees_.add_sides(0, known, split, tree, &root);
  goal_.improve(actual, std::move(tree));
  return actual;
}

void OrderedRounds::search_all_depths(Improver& improver) {
  search_depth(std::min(shape_.depth, 2), improver);
  // Where no depth is asked for, the price of a split limits it, and the rounds are those of `raise_bound`.
  for (std::int32_t d = shape_.depth > kDeepRounds ? shape_.depth : 3; d <= shape_.depth && !is_done(); ++d)
    search_depth(d, improver);
  if (search_.context().options.smallest && goal_.interval().is_exact()) lessen_depth();
}

void OrderedRounds::search_whole_depth(Improver& improver) {
  if (shape_.depth <= 2) {
    search_shallow(shape_, true);
  } else {
    prove(shape_, improver);
  }
  if (search_.context().options.smallest && goal_.interval().is_exact()) lessen_depth();
}

// The best tree of depth d.
void OrderedRounds::search_depth(std::int32_t d, Improver& improver) {
  const Shape part = Shape::of(d, shape_.splits);
  if (d > 2) return prove(part, improver);
  search_shallow(part, d == shape_.depth);
  if (d < shape_.depth && search_.context().options.use_split_count && !search_.context().budget.stopped())
    goal_.raise(std::min(search_.left_out(part, shape_), goal_.interval().upper));
}

// The best tree of two levels at most.  `is_whole`: other trees of the problem cost no less than the incumbent.
void OrderedRounds::search_shallow(Shape shape, bool is_whole) {
  Tree tree;
  std::int32_t root = -1;
  Cost lower = 0;
  const Cost value = trees_.add_shallow(0, shape, tree, &root, &lower);
  if (is_whole) goal_.raise(lower);
  goal_.improve(value, std::move(tree));
}

// The best tree of a shape, with turns of the improver before it and in between.
void OrderedRounds::prove(Shape shape, Improver& improver) {
  const Options& options = search_.context().options;
  Budget& budget = search_.context().budget;
  const std::int64_t branches = kBranchesPerFeature * search_.context().data.n_features();
  const std::int64_t guess = with_levels(1, branches, shape_.depth - 2) / kPruned;
  const bool is_whole = shape.depth == shape_.depth;
  if (shape.depth == 3) improver.expect_proof(guess);
  improver.take_turn();
  const bool is_far = options.turn_work > 0 || guess > kFarProof;
  if (is_far && !is_whole && !improver.is_exhausted()) return;  // the improver solves for smaller depths, too
  std::int64_t done = 0;
  for (std::int64_t work = improver.first_turn(is_far ? kShortTurn : kFirstTurn); !is_done(); work *= 3) {
    {
      const Turn turn(budget, improver.is_exhausted() ? kNoEnd : work);
      if (is_whole && takes_rounds(is_far || done > kLongProof)) raise_bound(shape);
      is_whole ? search_whole(shape) : search_part(shape);
      if (!budget.is_paused()) return;
    }
    improver.expect_proof(with_levels((done += work) * branches / kPruned, branches, shape_.depth - shape.depth));
    improver.take_turn();
  }
}

// Best-first search over intervals of thresholds takes the form of rounds: each looks at all that may lie below its
// ceiling, and needs no memory for what it leaves.  Leaving a threshold as soon as another looks better would leave it
// without a margin, and its neighbours would have to be solved one by one (docs/theory/ordered-features.md).
bool OrderedRounds::takes_rounds(bool is_long) const {
  const Options& options = search_.context().options;
  if (options.search != SearchKind::automatic) return options.search == SearchKind::best_first;
  return options.use_rising_bound && is_long;
}

// A bound that rises long before the proof ends: it takes less to show that no tree costs less than a part of the incumbent,
// and what is proven on the way stays in the table.
void OrderedRounds::raise_bound(Shape shape) {
  std::vector<Cost> by;
  Shape before;
  for (Cost ceiling = next_ceiling(); !is_done() && ceiling < goal_.interval().upper; ceiling = next_ceiling()) {
    const Shape part = search_.worth_looking(shape, ceiling);
    if (part.key() != before.key() || by.empty())
      by.assign(static_cast<std::size_t>(search_.context().data.n_features()), 0);
    before = part;
    const Interval now = goal_.interval();
    OrderedQuestion question = ask(part, ceiling, now.upper);
    question.slack += (now.upper - ceiling) / 2;
    question.is_whole = true;
    question.left_out = search_.left_out(part, shape);
    OrderedSplit split;
    const Cost lower = part.depth > 2 ? search_.search(0, question, by.data(), &split).lower : now.upper;
    goal_.raise(std::min({lower, question.left_out, goal_.interval().upper}));
    if (goal_.interval().lower < ceiling) return;  // paused
  }
}

// Where splits have a price, each one more is a step of its own: trees of few splits are few.
Cost OrderedRounds::next_ceiling() const {
  const Interval now = goal_.interval();
  const Cost price = search_.context().options.use_split_count ? search_.context().objective.split_penalty : 0;
  if (price > 0) return now.lower + std::max(price, now.upper >> 4);
  for (int halves = 4; halves > 0; --halves)
    if (const Cost ceiling = std::max(now.upper >> halves, goal_.unit()); ceiling > now.lower) return ceiling;
  return kInfinite;
}

// Of equal trees one of the least depth: rounds of less depth may have been left out.
void OrderedRounds::lessen_depth() {
  const Cost value = goal_.interval().upper;
  for (std::int32_t d = 3; has_deeper_tree(d) && !search_.context().budget.stopped(); ++d) {
    const Shape shape = Shape::of(d, shape_.splits);
    if (search_.recall(search_.node(0).key(), shape, nullptr).lower > value) continue;
    OrderedSplit split;
    search_.search_and_remember(0, ask(shape, value + 1, kInfinite), &split);  // tells of what it finds
  }
}

bool OrderedRounds::has_deeper_tree(std::int32_t d) const {
  return !goal_.tree().nodes.empty() && goal_.tree().depth() > d;
}

// Trees of less depth than the problem's have another incumbent.
void OrderedRounds::search_part(Shape shape) {
  const OrderedFound known = search_.recall(search_.node(0).key(), shape, nullptr);
  if (known.lower >= known.upper) return;
  OrderedSplit split;
  search_.search_and_remember(0, ask(shape, kInfinite, known.upper), &split);
}

void OrderedRounds::search_whole(Shape shape) {
  const Shape part = search_.worth_looking(shape, goal_.interval().upper);
  if (part.depth <= 2) return search_shallow(part, true);
  const OrderedFound known = search_.recall(search_.node(0).key(), part, nullptr);
  OrderedQuestion question = ask(part, kInfinite, goal_.interval().upper);
  question.is_whole = true;
  question.left_out = search_.left_out(part, shape);  // no less than the incumbent
  std::vector<Cost> by(static_cast<std::size_t>(search_.context().data.n_features()), 0);
  OrderedSplit split;
  const OrderedFound found = search_.search(0, question, by.data(), &split);
  goal_.raise(std::min(std::max(found.lower, known.lower), goal_.interval().upper));
}

}  // namespace certree
