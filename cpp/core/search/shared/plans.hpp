// Trees that share their subtrees: a plan is an index into one array of splits and leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "search/shared/tree.hpp"

namespace certree {

inline constexpr std::int32_t kNoPlan = -1;

// A split whose sides are plans, or a leaf.
struct Plan {
  std::int32_t column = -1;  // the data set's; -1: a leaf
  std::int32_t yes = -1;     // of a leaf: its label
  std::int32_t no = -1;
};

// Adds the tree of a split or leaf and returns its root.  `look(plan)` finds what the sides stand for.
template <class Look>
std::int32_t plant(const Plan& plan, const Look& look, Tree& tree) {
  if (plan.column < 0) return tree.add({-1, -1, -1, plan.yes});
  const std::int32_t root = tree.add({plan.column, -1, -1, -1});
  const std::int32_t yes = plant(look(plan.yes), look, tree), no = plant(look(plan.no), look, tree);
  tree.set_children(root, yes, no);
  return root;
}

class Plans {
 public:
  // Starts with one leaf per label; its plan is the label.
  explicit Plans(std::size_t n_labels) : nodes_(n_labels) {
    for (std::size_t label = 0; label < n_labels; ++label) nodes_[label].yes = static_cast<std::int32_t>(label);
  }
  std::int32_t add(const Plan& plan) {
    nodes_.push_back(plan);
    return static_cast<std::int32_t>(nodes_.size()) - 1;
  }
  const Plan& operator[](std::int32_t plan) const { return nodes_[static_cast<std::size_t>(plan)]; }
  std::size_t size() const { return nodes_.size(); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(nodes_.capacity() * sizeof(Plan)); }
  Tree tree(const Plan& root) const {
    Tree out;
    plant(root, [this](std::int32_t plan) { return (*this)[plan]; }, out);
    return out;
  }

 private:
  std::vector<Plan> nodes_;
};

}  // namespace certree
