// Empty outcomes.  A multiway test has a child for every outcome, but at a node only the outcomes with rows count: an empty
// outcome costs nothing and its size is not checked.  The bounds that apply a tree for the rows A to other rows B (nested
// sets, similarity, leaf support) then need an additional condition: an outcome that is empty in A may have rows in B.
//
// Theorem.  Let t be a tree for A, n its value's penalties, and B any row set.  If leaves are not paid for, and a leaf may
// have one row, t is a tree for B with penalties at most n.
// Proof.  Give an outcome that is empty in A and not in B a leaf with any label: the test above it is there already, so no
// split is added, and its rows cost at most their worst, which is what the bounds allow for every row outside of A.  A test
// of t with rows of B in one outcome only can be dropped, which removes a split.
//
// With a penalty per leaf the new leaf would be paid for, and with a minimum leaf size it might be too small.  If every test
// has two outcomes neither happens when A is a subset of B: both outcomes have rows in A, so they have more in B; and for
// any B no leaf is added, so only the leaf size matters.  docs/theory/multiway.md
#pragma once

#include <cstdint>

#include "base/cost.hpp"

namespace certree {

struct EmptyOutcomes {
  bool only_binary = true;  // every test has two outcomes
  Cost leaf_penalty = 0;
  std::int64_t min_leaf = 1;
  bool has_prices = false;  // the other rows would pay for the tests of the tree

  // A subset of B: nested sets, leaf support.
  bool extends_to_supersets() const { return !has_prices && (only_binary || (leaf_penalty == 0 && min_leaf <= 1)); }
  // Any A and B: similarity.
  bool extends_to_all() const { return !has_prices && min_leaf <= 1 && (only_binary || leaf_penalty == 0); }
};

}  // namespace certree
