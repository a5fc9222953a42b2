// A tree with its value, and the value of every node as a leaf, so that it can be cut to fewer splits.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "search/shared/tree.hpp"

namespace certree {

struct GrownNode {
  std::int32_t test = -1;  // -1: a leaf
  std::int32_t yes = -1, no = -1;
  std::int32_t label = -1;  // as a leaf
  Cost leaf = 0;            // value as a leaf
  Cost split = 0;           // value of the split alone, without its sides
};

struct GrownTree {
  Cost value = kInfinite;
  std::vector<GrownNode> nodes;  // node 0 is the root

  // A root above two trees; `node` has its test and values.
  static GrownTree join(GrownNode node, const GrownTree& yes, const GrownTree& no);
  std::int64_t n_splits() const;
  // The best tree with at most this many splits that is this one with subtrees replaced by leaves.
  GrownTree cut(std::int64_t max_splits) const;
  // The same for 0, 1, ... splits, up to this many or as many as it has.
  std::vector<GrownTree> cuts(std::int64_t max_splits) const;
  Tree tree() const;

 private:
  std::int32_t append(const GrownTree& other);
};

}  // namespace certree
