#include "search/shared/improver.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace certree {

namespace {

// Tests that are scored.
constexpr std::size_t kFewCandidates = 8;
constexpr std::size_t kSomeCandidates = 48;
constexpr std::size_t kAllCandidates = std::size_t{1} << 30;
// Trees of windows beyond this would be proofs of their own.
constexpr std::int32_t kLargestWindow = 16;
// Work of a turn, in depth-two evaluations, and one part in so many of all work.
constexpr std::int64_t kLeastTurn = 20000;
constexpr std::int64_t kSmallerShare = 50;
constexpr std::int64_t kLargerShare = 25;

}  // namespace

std::int64_t with_levels(std::int64_t work, std::int64_t factor, std::int32_t levels) {
  for (; levels > 0 && work < kNoEnd / factor; --levels) work *= factor;
  return work;
}

Improver::Improver(Grower& grower, std::int32_t depth, std::int64_t max_splits, const Options& options,
                   const Objective& objective, Budget& budget, Progress& progress, ImproverState& state)
    : grower_(grower),
      depth_(depth),
      max_splits_(max_splits),
      options_(options),
      objective_(objective),
      budget_(budget),
      progress_(progress),
      state_(state) {}

std::vector<Improver::Step> Improver::steps() const {
  std::vector<Step> out;
  const auto add = [&](Step step, std::int32_t window) {
    out.push_back(step);
    out.push_back({Kind::polish, window});
  };
  const auto score_greedily = [&](std::size_t candidates, std::int32_t window) {
    for (const Impurity impurity : impurities()) add({Kind::scored, kGreedy, candidates, impurity}, window);
  };
  for (std::int32_t window = 2; window < std::min(depth_, kLargestWindow); ++window) {
    if (window == 3) score_greedily(kAllCandidates, window - 1);
    add({Kind::rolling, window}, window);
    if (window == 2) score_greedily(kSomeCandidates, window);
    if (window >= 3) add({Kind::scored, window - 1, window == 3 ? kSomeCandidates : kFewCandidates}, window);
  }
  return out;
}

std::vector<Impurity> Improver::impurities() const {
  if (!grower_.has_impurities()) return {Impurity::gini};
  return {Impurity::gini, Impurity::entropy};
}

void Improver::offer(GrownTree found) {
  if (watcher_) watcher_(found);
  if (found.value < state_.best.value) state_.best = found;
  if (max_splits_ >= 0) found = found.cut(max_splits_);
  progress_.improve(found.value, found.tree());
}

void Improver::start() {
  if (!state_.best.nodes.empty()) return;  // an earlier run of the search has them
  within_memory([&] {
    for (const Impurity impurity : impurities()) offer(greedy(0, depth_, impurity));
  });
}

// Trees can be had without more memory, if not as good ones.
template <class Grow>
void Improver::within_memory(Grow&& grow) {
  try {
    grow();
  } catch (const std::bad_alloc&) {
    grower_.release();
    state_.is_exhausted = true;
  }
}

// Each level multiplies the work by what the last one did.
std::int64_t Improver::likely_proof() const {
  const std::int32_t known = state_.deepest_known;
  if (known < 4) return state_.expected;
  const std::int64_t last = state_.root_work[static_cast<std::size_t>(known)];
  const std::int64_t before = std::max<std::int64_t>(state_.root_work[static_cast<std::size_t>(known - 1)], 1);
  return std::max(state_.expected, with_levels(last, std::max<std::int64_t>(last / before, 2), depth_ - known));
}

void Improver::take_turn() {
  const std::int64_t before = budget_.work();
  const std::int64_t allowed = std::max(likely_proof(), before) / (has_improved() ? kLargerShare : kSmallerShare);
  const std::int64_t left = options_.turn_work > 0 ? options_.turn_work : allowed - state_.work;
  if (is_exhausted() || left <= 0) return;
  state_.value_before = progress_.interval().upper;
  {
    const Turn turn(budget_, std::min(left, std::max(before, kLeastTurn)));
    within_memory([&] { run(); });
  }
  state_.work += budget_.work() - before;
}

void Improver::run() {
  const std::vector<Step> all = steps();
  while (state_.step < all.size() && !progress_.is_closed(options_.gap) && !grower_.poll()) {
    offer(take(all[state_.step]));
    if (!budget_.stopped()) ++state_.step;
  }
  state_.is_exhausted = state_.is_exhausted || state_.step >= all.size();
}

GrownTree Improver::take(const Step& step) {
  if (step.kind == Kind::rolling) return rolling(0, depth_, step.window);
  if (step.kind == Kind::scored) return scored(0, depth_, step);
  // The proof may have found a better tree.
  const bool is_mine = max_splits_ >= 0 || progress_.tree().nodes.empty();
  const GrownTree old = is_mine ? state_.best : measure(grower_, 0, progress_.tree());
  return polished(0, depth_, step.window, old, 0);
}

GrownTree Improver::complete(std::size_t level, std::int32_t depth, const Step& step) {
  return step.window == kGreedy ? greedy(level, depth, step.impurity) : rolling(level, depth, step.window);
}

GrownTree Improver::greedy(std::size_t level, std::int32_t depth, Impurity impurity) {
  std::int32_t label = 0;
  if (depth <= 0 || grower_.leaf(level, &label) <= objective_.split_penalty || grower_.poll())
    return grow_leaf(grower_, level);
  const std::int32_t test = depth == 1 ? grower_.cheapest_test(level) : grower_.purest_test(level, impurity);
  return grow_split(grower_, level, test, [&](bool) { return greedy(level + 1, depth - 1, impurity); });
}

GrownTree Improver::rolling(std::size_t level, std::int32_t depth, std::int32_t window) {
  std::int32_t label = 0;
  if (depth <= 1 || grower_.leaf(level, &label) <= objective_.split_penalty) return greedy(level, depth);
  Tree exact;
  Cost floor = 0;
  const std::int64_t before = budget_.work();
  const Cost value = grower_.solve(level, std::min(depth, window), exact, &floor);
  if (level == 0) keep_work(std::min(depth, window), budget_.work() - before, value < kInfinite);
  if (value >= kInfinite) return greedy(level, depth);
  if (depth <= window || value <= floor) return measure(grower_, level, exact);
  // A leaf is best within the window: beyond it, the purest test may still pay.
  const std::int32_t test =
      exact.nodes[0].column >= 0 ? exact.nodes[0].column : grower_.purest_test(level, Impurity::gini);
  GrownTree out = grow_split(grower_, level, test, [&](bool) { return rolling(level + 1, depth - 1, window); });
  return out.value < value ? out : measure(grower_, level, exact);
}

void Improver::keep_work(std::int32_t depth, std::int64_t work, bool is_known) {
  auto& all = state_.root_work;
  if (all.size() <= static_cast<std::size_t>(depth)) all.resize(static_cast<std::size_t>(depth) + 1, 0);
  if (depth <= state_.deepest_known) return;
  all[static_cast<std::size_t>(depth)] += work;
  if (is_known) state_.deepest_known = depth;
}

// A greedy tree takes a pass over single tests per level; as many as there are tests are a unit of work, which is a pass over
// pairs.
void Improver::count_passes(std::int32_t passes, std::int64_t n_tests) {
  state_.passes += passes;
  for (; state_.passes >= n_tests; state_.passes -= n_tests) budget_.add_work();
}

// A tree that cannot beat the best one so far is not finished.
std::int32_t Improver::best_scored(std::size_t level, std::int32_t depth, const Step& step) {
  std::vector<std::int32_t> tests;
  grower_.candidates(level, step.candidates, tests);
  std::int32_t best = -1;
  Cost least = kInfinite;
  for (const std::int32_t test : tests) {
    if (grower_.poll()) break;
    Cost value = grower_.split_value(level, test);
    for (const bool holds : {true, false}) {
      if (value >= least) break;
      grower_.descend(level, test, holds);
      value += complete(level + 1, depth - 1, step).value;
    }
    if (step.window == kGreedy) count_passes(depth, static_cast<std::int64_t>(tests.size()));
    if (value >= least) continue;
    least = value;
    best = test;
  }
  return best;
}

GrownTree Improver::scored(std::size_t level, std::int32_t depth, const Step& step) {
  std::int32_t label = 0;
  if (grower_.poll() || grower_.leaf(level, &label) <= objective_.split_penalty) return greedy(level, depth);
  if (depth <= std::max(step.window, 2)) return rolling(level, depth, std::max(step.window, 2));
  const std::int32_t test = best_scored(level, depth, step);
  return grow_split(grower_, level, test, [&](bool) { return scored(level + 1, depth - 1, step); });
}

// Every subtree against the one that the rolling window gives there; from the leaves up.
GrownTree Improver::polished(std::size_t level, std::int32_t depth, std::int32_t window, const GrownTree& old,
                             std::int32_t node) {
  const GrownNode& here = old.nodes[static_cast<std::size_t>(node)];
  if (here.test < 0 && here.leaf <= objective_.split_penalty) return grow_leaf(grower_, level);
  GrownTree kept = grow_split(grower_, level, here.test, [&](bool holds) {
    return polished(level + 1, depth - 1, window, old, holds ? here.yes : here.no);
  });
  if (kept.value <= objective_.split_penalty || grower_.poll()) return kept;
  GrownTree other = rolling(level, depth, window);
  return other.value < kept.value ? other : kept;
}

}  // namespace certree
