// Sets of chains: what is left of the trees of one subproblem.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "search/shared/plans.hpp"
#include "tasks/roc_chain.hpp"

namespace certree {

// Where a chain comes from: its tree, a plan whose sides are leaves, stumps or other plans.
inline constexpr std::int32_t kChainLeaf = kNoPlan;
inline constexpr std::int32_t kNotKept = std::numeric_limits<std::int32_t>::min();
// A split by the data set's column `c` into two leaves.
inline constexpr std::int32_t chain_stump(std::int32_t c) { return -2 - c; }
inline constexpr std::int32_t stump_column(std::int32_t origin) { return -2 - origin; }

struct Chain {
  const Edge* edges;
  std::size_t n_edges;
  std::int32_t splits;
  const Cost* scores;
};

// Chains of one row set with their scores under some tangents, in arrays.  Its memory is charged to the solve.
class ChainSet {
 public:
  ChainSet(MemoryBudget& memory, std::size_t n_scores) : memory_(memory), n_scores_(n_scores) {}
  ChainSet(const ChainSet&) = delete;
  ChainSet& operator=(const ChainSet&) = delete;
  ~ChainSet() { memory_.release(charged_); }

  std::size_t size() const { return items_.size(); }
  Chain operator[](std::size_t i) const {
    const Item& item = items_[i];
    return {edges_.data() + item.begin, item.n_edges, item.splits, scores_.data() + i * n_scores_};
  }
  const Plan& origin(std::size_t i) const { return items_[i].origin; }
  std::size_t n_scores() const { return n_scores_; }
  Cost best_score(std::size_t tangent) const;
  // Copies everything given.
  void add(const Chain& chain, const Plan& origin);
  void clear();
  // Drops a chain if another one is at or above it everywhere, with no more splits if `with_splits` (auc.md, theorem 1).
  // False: stopped.
  bool keep_undominated(bool with_splits, Budget& budget);
  // Keeps the chains whose every score is above the threshold.
  void keep_above(const std::vector<Cost>& thresholds);
  // By falling first score.
  void sort_by_score();

 private:
  struct Item {
    std::size_t begin;
    std::uint32_t n_edges;
    std::int32_t splits;
    Plan origin;
  };
  void keep(const std::vector<std::size_t>& indices);
  void charge();

  MemoryBudget& memory_;
  std::size_t n_scores_;
  std::vector<Edge> edges_;
  std::vector<Item> items_;
  std::vector<Cost> scores_;
  std::int64_t charged_ = 0;
};

}  // namespace certree
