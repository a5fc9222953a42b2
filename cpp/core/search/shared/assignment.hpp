// A part of a search that several processes share: the rows below some tests, and some of the splits there.  Row sets have
// the same fingerprints in every process that has the same table and is told the same seed, so what one proves of a row set
// serves all others.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"

namespace certree {

// An entry of the transposition table on its way from one process to another.
struct SharedEntry {
  Fingerprint key;
  Cost lower = 0;
  Cost upper = 0;
  std::int64_t column = 0;
  std::int64_t effort = 0;
};

struct Assignment {
  struct Step {
    std::int32_t column = 0;  // the caller's
    bool holds = false;
  };
  // Of the node that the path leads to, nothing but its splits and their bounds is asked for.
  bool opens_only = false;
  // Where the node is solved: the canonical tree is wanted, not any best one.
  bool is_canonical = false;
  std::vector<Step> path;
  std::vector<std::int32_t> only;    // the caller's columns that are tried at the node; empty: all
  Cost factor = 0;                   // of the whole search (search/shared/scale.hpp); 0: this is no part
  std::int64_t least_effort = 0;     // entries that took so much work are reported; 0: none
  std::vector<SharedEntry> entries;  // what others have proven
  bool has_seed = false;
  std::uint64_t seed = 0;  // of the fingerprints of all processes (base/bits.hpp)
};

// What is known of a split of the node, in the units of the search.
struct SplitBound {
  std::int32_t column = 0;  // the caller's
  Cost lower = 0;
  Cost guess = 0;  // value of its best tree of depth two
};

}  // namespace certree
