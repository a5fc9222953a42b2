// Chains of trees of depth at most two, and their best scores under tangents, from the counts of all pairs of columns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "bounds/tangent.hpp"
#include "data/node.hpp"
#include "search/chains/set.hpp"

namespace certree {

// Under one tangent, penalties deducted: the best score of at most one split on either side of every column (-kInfinite
// where a side is smaller than the minimum leaf), and the local column that attains it (-1: a leaf).
struct SideScores {
  std::vector<Cost> yes, no;
  Cost best = 0;  // of a tree of depth at most two
};

struct ChainPairSettings {
  std::int64_t min_leaf = 1;
  bool tracks_splits = false;  // chains with fewer splits are worth something
  bool drops_dominated = true;
  std::int64_t max_splits = -1;
  Isa isa = Isa::baseline;
};

// What must be exceeded: chains below any of these scores are not wanted.
struct ChainNeeds {
  std::vector<const Tangent*> tangents;
  std::vector<Cost> thresholds;
};

class ChainPairs {
 public:
  virtual ~ChainPairs() = default;

  // Counts the pairs of the node's columns; the node must stay as it is.  False: stopped.
  virtual bool count(const Node& node) = 0;
  // The column may be split upon: both sides have enough rows.
  virtual bool is_feasible(std::int32_t column) const = 0;
  virtual Edge total() const = 0;
  virtual bool score(const Tangent& tangent, SideScores& out) = 0;
  // All chains of trees of depth at most `depth` <= 2 that are wanted, dominated ones left out.  False: stopped.
  virtual bool chains(std::int32_t depth, const ChainNeeds& needs, ChainSet& out) = 0;
};

std::unique_ptr<ChainPairs> make_chain_pairs(const Dataset& data, const ChainPairSettings& settings, Budget& budget,
                                             MemoryBudget& memory);

}  // namespace certree
