// A known tree, carried through the search to catch bounds that are too high.
//
// A prune that cuts the best tree off is hard to see: the search returns another tree and calls it optimal.  Given a tree
// that is known to be feasible, its subtree below any of its nodes is a tree for the rows that reach the node, so that for
// these rows and at least the subtree's depth
//
//     lower bound <= optimum <= value of the subtree.
//
// Builds with CERTREE_DEBUG_TREE accept such a tree (option debug_tree) and check every lower bound that is remembered or
// returned for one of its row sets.  With an optimal tree the check is tight: a prune that loses it raises the bound of
// one of its nodes above the value of its subtree, and the message says where.  Other builds do not contain this check.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"
#include "data/dataset.hpp"
#include "search/shared/tree.hpp"
#include "tasks/count_task.hpp"

namespace certree {

#ifdef CERTREE_DEBUG_TREE
inline constexpr bool kChecksKnownTree = true;
#else
inline constexpr bool kChecksKnownTree = false;
#endif

class DebugTree {
 public:
  // `tree` is over the caller's columns.  `discount`, in units of `objective`, makes the tree look better than it is: the
  // check must then fail, which is how it is tested.  Throws std::invalid_argument if a column of the tree is not in the
  // data, or a leaf is empty.
  DebugTree(const Dataset& data, const CountTask& task, const Objective& objective, const Tree& tree, Cost discount);

  // Throws std::logic_error if a known tree for these rows, within the depth, has a value below `lower`.
  void check(const Fingerprint& rows, std::int32_t depth, Cost lower, const char* place) const;
  // The same for the root; `lower` bounds the whole problem.
  void check_root(Cost lower) const;
  // The same for the bound of the trees that have the data set's column `column` at their root.
  void check_split(const Fingerprint& rows, std::int32_t depth, std::int32_t column, Cost lower) const;
  // The same for the leaf cost of trees with at most k splits, for all k.
  void check_curve(const Fingerprint& rows, std::int32_t depth, const std::vector<Cost>& lower) const;

 private:
  struct Known {
    std::int32_t depth = 0;
    std::int32_t column = -1;  // the data set's, -1: a leaf
    std::int64_t splits = 0;
    Cost errors = 0;
  };
  class Reader;
  Cost value(const Known& known) const;

  Objective objective_;
  Cost discount_;
  Known root_;
  std::unordered_multimap<Fingerprint, Known, FingerprintHash> known_;
};

}  // namespace certree
