// Good trees before there is a proof.
//
// The incumbent of a deep search is the best tree of a few constructions, each of which fills the whole depth:
//
//   greedy          the purest test at every node, as CART does, and the cheapest one at the last level;
//   rolling window  the root of the exact best tree of depth w for the rows of a node, then the same below it; the last w
//                   levels are exact;
//   scored tests    the test whose two sides cost least after both were completed by one of the above, then the same below
//                   it (LicketySPLIT of Babbar et al., ICML 2025, scores by greedy trees);
//   polish          every subtree of the incumbent against the rolling window from its root.
//
// Windows grow from step to step; the last one would be the proof itself.  Exact solves go through the table, so what they
// prove serves the proof.  Steps are counted in work: the same work gives the same tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "search/shared/grower.hpp"
#include "search/shared/grown_tree.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"

namespace certree {

// Trees are grown by recursion: no deeper than this.
inline constexpr std::int32_t kDeepestGrown = 200;

// Work that grows by a factor at each of some levels.
std::int64_t with_levels(std::int64_t work, std::int64_t factor, std::int32_t levels);

// How far the steps are; kept between turns.
struct ImproverState {
  std::size_t step = 0;
  bool is_exhausted = false;
  GrownTree best;                 // the best tree of all steps
  std::int64_t passes = 0;        // over single tests, since the last unit of work
  std::int64_t work = 0;          // of all turns
  Cost value_before = kInfinite;  // of the incumbent, before the last turn
  // By depth: what the best tree of all rows took, once it is known.
  std::vector<std::int64_t> root_work;
  std::int32_t deepest_known = 2;
  std::int64_t expected = 0;  // work of the proof, by whoever searches for it
};

class Improver {
 public:
  // `max_splits` < 0: any number.
  Improver(Grower& grower, std::int32_t depth, std::int64_t max_splits, const Options& options,
           const Objective& objective, Budget& budget, Progress& progress, ImproverState& state);

  // Is called with every tree that is grown, before it is cut to the number of splits.
  void watch(std::function<void(const GrownTree&)> watcher) { watcher_ = std::move(watcher); }
  // Greedy trees: they need no pass over pairs of columns.
  void start();
  // A guess at the work of the proof.
  void expect_proof(std::int64_t work) { state_.expected = work; }
  // Takes a small part of the work that is done or that the proof is likely to take, so that a proof that is near takes hardly
  // longer; twice as much while trees get better.
  void take_turn();
  // No more turns.
  bool is_exhausted() const { return state_.is_exhausted || !options_.use_greedy_incumbent; }
  // Work of the first turn of the proof.
  std::int64_t first_turn(std::int64_t usual) const { return options_.turn_work > 0 ? options_.turn_work : usual; }
  std::int64_t likely_proof() const;

 private:
  bool has_improved() const { return progress_.interval().upper < state_.value_before; }
  // Steps until the budget ends or pauses, the gap closes, or nothing is left to try.  A step that was cut short starts again
  // next time.
  void run();

  enum class Kind { rolling, scored, polish };
  struct Step {
    Kind kind;
    std::int32_t window;         // kGreedy: complete trees greedily
    std::size_t candidates = 0;  // scored
    Impurity impurity = Impurity::gini;
  };
  static constexpr std::int32_t kGreedy = 0;

  std::vector<Step> steps() const;
  std::vector<Impurity> impurities() const;
  void offer(GrownTree found);
  // Each grows a tree for the node at a level.  Once the budget ends they go on greedily.
  GrownTree take(const Step& step);
  GrownTree complete(std::size_t level, std::int32_t depth, const Step& step);
  GrownTree greedy(std::size_t level, std::int32_t depth, Impurity impurity = Impurity::gini);
  GrownTree rolling(std::size_t level, std::int32_t depth, std::int32_t window);
  GrownTree scored(std::size_t level, std::int32_t depth, const Step& step);
  GrownTree polished(std::size_t level, std::int32_t depth, std::int32_t window, const GrownTree& old,
                     std::int32_t node);
  template <class Grow>
  void within_memory(Grow&& grow);
  void count_passes(std::int32_t passes, std::int64_t n_tests);
  void keep_work(std::int32_t depth, std::int64_t work, bool is_known);
  std::int32_t best_scored(std::size_t level, std::int32_t depth, const Step& step);

  Grower& grower_;
  std::int32_t depth_;
  std::int64_t max_splits_;
  const Options& options_;
  const Objective& objective_;
  Budget& budget_;
  Progress& progress_;
  ImproverState& state_;
  std::function<void(const GrownTree&)> watcher_;
};

}  // namespace certree
