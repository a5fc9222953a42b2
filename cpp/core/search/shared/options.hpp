// What a solve is asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "counts/kernels.hpp"
#include "search/shared/assignment.hpp"
#include "search/shared/tree.hpp"

namespace certree {

enum class SearchKind : std::uint8_t { automatic, depth_first, best_first };

struct Options {
  std::int32_t max_depth = -1;           // -1: no limit
  std::int64_t max_splits = -1;          // -1: no limit
  std::int64_t min_leaf = 1;             // rows
  std::vector<std::int64_t> row_counts;  // rows that each row stands for, for min_leaf; empty: one each
  Cost error_scale = 1;
  Cost split_penalty = 0;
  Cost gap = 0;           // stop once upper - lower <= gap
  Cost known_value = -1;  // a tree of this value and size is known; -1: none
  std::int64_t known_splits = 0;
  double time_limit_s = 0;
  std::int64_t memory_limit = 0;  // bytes
  std::int64_t work_limit = 0;    // depth-two evaluations
  // Proof and improver take turns of this much work from the start, as where the proof is far
  // (search/shared/improver.hpp); 0: the expected work decides.  For tests: small problems have no turns otherwise.
  std::int64_t turn_work = 0;
  std::int32_t threads = 1;
  SearchKind search = SearchKind::automatic;
  bool smallest = true;  // of the best trees, the one with the fewest splits, the least depth, the first columns
  Isa isa = best_isa();
  Assignment assignment;  // of a search that several processes share
  Tree debug_tree;  // builds with CERTREE_DEBUG_TREE: a tree over the caller's columns (search/columns/debug_tree.hpp)
  Cost debug_discount = 0;  // and by how much it is made to look better than it is, in the caller's units
#define CERTREE_SWITCH(name, help) bool name = true;
#include "options.def"
#undef CERTREE_SWITCH
};

struct Counters {
#define CERTREE_COUNTER(name, help) std::int64_t name = 0;
#include "counters.def"
#undef CERTREE_COUNTER
  void add(const Counters& other) {
#define CERTREE_COUNTER(name, help) name += other.name;
#include "counters.def"
#undef CERTREE_COUNTER
  }
};

}  // namespace certree
