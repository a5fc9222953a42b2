// The proof for (partial) AUC: chains of the two sides of every root split that the tangents leave open.
//
// A tree that beats the incumbent scores more than the incumbent's value under every tangent (bounds/tangent.hpp).  Scores
// add up over leaves, so a root split is closed when the best scores of its sides do not reach that under some tangent;
// otherwise the chains of one side are listed that reach it together with the best of the other, then those of the other
// side, and the pairs are evaluated.  A chain is dropped if another chain of the same row set is at or above it everywhere.
//
// Root splits are shared by threads.  Which of several trees of the largest value is found first depends on the clock, so
// that in the end the first split that has one is searched again, from where the proof began.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/budget.hpp"
#include "base/lock.hpp"
#include "base/memory.hpp"
#include "bounds/tangent.hpp"
#include "data/node.hpp"
#include "search/chains/pairs.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"

namespace certree {

// A tree's chain becomes its value in Progress as  perfect() - value,  rounded up to an integer.
struct ChainIncumbent {
  ChainValue value;
  std::vector<Edge> chain;
  Tree tree;  // over the caller's columns
  std::int64_t splits = 0;
};

struct ChainContext {
  const Dataset& data;
  const Options& options;
  const ChainObjective& objective;
  Budget& budget;
  MemoryBudget& memory;
  Progress& progress;
};

// What the threads of a search share.
struct ChainShared {
  std::mutex mutex;
  ChainIncumbent incumbent;
  std::unordered_map<Fingerprint, std::vector<Cost>, FingerprintHash> known;  // best scores under the first tangents
};

// One thread's part.
class ChainSearch {
 public:
  // `is_main`: the thread that called.
  ChainSearch(const ChainContext& context, ChainShared& shared, const std::vector<Tangent>& tangents, bool is_main);

  // All trees of depth at most two.  False: stopped.
  bool solve_shallow(std::int32_t depth);
  // Bounds of root splits that leaves of the least size do not allow become -kInfinite.  False: stopped.
  bool close_infeasible(const Node& root, std::vector<Cost>& bounds);
  // No tree below a root split has a larger value.
  bool bound_root_split(const Node& root, std::int32_t column, std::int32_t depth, Cost& bound);
  // Finds the best tree below a root split, if it is better than the incumbent; `bound` becomes -kInfinite, or what is
  // known when stopped.  `from`: an incumbent to start from, in place of the best that anybody has.
  bool explore_split(const Node& root, std::int32_t column, std::int32_t depth, Cost& bound,
                     const ChainIncumbent* from = nullptr);
  // The best tree that this thread knows.
  const ChainIncumbent& incumbent() const { return incumbent_; }
  const Counters& counters() const { return counters_; }
  // The incumbent at the beginning of explore_split.
  const ChainValue& began_with() const { return began_with_; }

 private:
  // One child of a split, with the pairs of its columns.
  struct Side {
    Side(const ChainContext& context, const ChainPairSettings& settings);
    Node node;
    std::unique_ptr<ChainPairs> pairs;
  };
  struct Level {
    std::unique_ptr<Side> sides[2];  // where the split does not hold, and where it does
  };
  using Scores = std::vector<Cost>;

  Level& level_at(std::size_t level);
  bool make_sides(const Node& parent, std::int32_t column, std::size_t level);
  // Bounds (bounds.cpp).  Best scores of trees of a depth under the active tangents; false: stopped.
  bool best_scores(Side& side, std::int32_t depth, std::size_t level, Scores& out);
  bool search_best_scores(Side& side, std::int32_t depth, std::size_t level, Scores& out);
  void cap_scores(const Node& node, Scores& out) const;
  // Lists (lists.cpp); false: stopped.
  bool list_both(std::int32_t depth, std::size_t level, const Scores& thresholds, ChainSet& yes, ChainSet& no);
  bool list_chains(Side& side, std::int32_t depth, std::size_t level, const Scores& thresholds, ChainSet& out);
  bool list_deep_chains(Side& side, std::int32_t depth, std::size_t level, const Scores& thresholds, ChainSet& out);
  bool combine(std::int32_t column, const ChainSet& yes, const ChainSet& no, const Scores& thresholds, ChainSet& out);
  bool combine_at_root(std::int32_t column, ChainSet& yes, ChainSet& no);
  bool explore(const Node& root, std::int32_t column, std::int32_t depth);
  std::int32_t keep_origin(const Plan& origin, std::int32_t splits);
  void offer(const Edge* edges, std::size_t count, std::int32_t splits, const Plan& origin);
  Plan look(std::int32_t origin) const;
  Scores root_thresholds() const;
  void observe() {
    if (is_main_) context_.progress.observe();
  }

  const ChainContext& context_;
  ChainShared& shared_;
  bool is_main_;
  bool is_alone_ = false;  // finds are kept from the others
  ChainIncumbent incumbent_;
  ChainValue began_with_;
  ChainPairSettings settings_;
  NodeFactory factory_;
  std::vector<const Tangent*> active_;
  std::vector<std::vector<Cost>> group_scores_;  // of the active tangents, where equivalent points are used
  std::vector<std::unique_ptr<Level>> levels_;
  std::vector<Plan> origins_;
  Counters counters_;
};

// Proves or improves the incumbent for trees of depth at most `depth`, with these tangents to start from.  `bound`: no
// tree's value is larger.  What is proven goes to context.progress.
void search_chains(const ChainContext& context, const ChainIncumbent& incumbent, std::int32_t depth,
                   const std::vector<Tangent>& tangents, Cost bound, Counters& counters);

}  // namespace certree
