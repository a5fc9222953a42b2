// Trees of the search over ordered features.  The search knows their values and root tests; their nodes are made here, by
// solving sides again as far as the table has forgotten them.
#pragma once

#include <cstdint>
#include <vector>

#include "search/ordered/question.hpp"
#include "search/ordered/search.hpp"
#include "search/shared/tree.hpp"

namespace certree {

// Every function adds a tree, says where its root is, and returns the value of what was added.
class OrderedTrees {
 public:
  explicit OrderedTrees(OrderedSearch& search)
      : search_(search), data_(search.context().data), objective_(search.context().objective) {}

  // The best tree of depth two at most of the node at level k; once the budget is used up, the best that is known.
  // `lower`: no tree of the shape costs less.
  Cost add_shallow(std::size_t k, Shape shape, Tree& tree, std::int32_t* root, Cost* lower);
  // The best tree with this root test that the table or a search knows.  One of value question.known_upper exists.
  Cost add_sides(std::size_t k, const OrderedQuestion& question, OrderedSplit split, Tree& tree, std::int32_t* root);
  // The best tree of the node at level k.  kInfinite: stopped.
  Cost add_best(std::size_t k, const OrderedQuestion& question, Tree& tree, std::int32_t* root);

 private:
  Cost add_stump(OrderedNode& node, const std::vector<std::int32_t>& rows, std::int32_t depth, Tree& tree,
                 std::int32_t* root);
  Cost add_stumps(std::size_t k, Shape shape, OrderedSplit split, std::int32_t position, Tree& tree, std::int32_t root);
  Cost add_known(std::size_t k, const OrderedQuestion& question, Tree& tree, std::int32_t* root);

  OrderedSearch& search_;
  const OrderedData& data_;
  const Objective& objective_;
};

}  // namespace certree
