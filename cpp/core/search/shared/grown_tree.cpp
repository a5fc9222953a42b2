#include "search/shared/grown_tree.hpp"

#include <algorithm>
#include <cstddef>

namespace certree {

namespace {

// Least values of a node with at most k splits below it, k = 0, 1, ..., and how many of them the side where the test holds
// then has.
struct Cuts {
  std::vector<Cost> value;
  std::vector<std::size_t> yes_splits;
};

std::vector<Cuts> all_cuts(const std::vector<GrownNode>& nodes, std::size_t most) {
  std::vector<Cuts> cuts(nodes.size());
  // Children come after their parents.
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const GrownNode& node = nodes[i];
    Cuts& here = cuts[i];
    here.value = {node.leaf};
    here.yes_splits = {0};
    if (node.test < 0) continue;
    const Cuts &yes = cuts[static_cast<std::size_t>(node.yes)], &no = cuts[static_cast<std::size_t>(node.no)];
    const std::size_t largest = std::min(most, yes.value.size() + no.value.size() - 1);
    here.value.resize(largest + 1, node.leaf);
    here.yes_splits.resize(largest + 1, 0);
    for (std::size_t k = 1; k <= largest; ++k) {
      here.value[k] = here.value[k - 1];
      here.yes_splits[k] = here.yes_splits[k - 1];
      for (std::size_t y = 0; y < std::min(k, yes.value.size()); ++y) {
        const std::size_t n = k - 1 - y;
        if (n >= no.value.size()) continue;
        const Cost value = node.split + yes.value[y] + no.value[n];
        if (value >= here.value[k]) continue;
        here.value[k] = value;
        here.yes_splits[k] = y;
      }
    }
  }
  return cuts;
}

std::int32_t add_cut(const std::vector<GrownNode>& nodes, const std::vector<Cuts>& cuts, std::int32_t node,
                     std::size_t splits, GrownTree& out) {
  const auto at = static_cast<std::size_t>(node);
  const Cuts& here = cuts[at];
  splits = std::min(splits, here.value.size() - 1);
  while (splits > 0 && here.value[splits - 1] == here.value[splits]) --splits;
  const auto index = static_cast<std::int32_t>(out.nodes.size());
  out.nodes.push_back(nodes[at]);
  if (splits == 0) {
    out.nodes.back().test = out.nodes.back().yes = out.nodes.back().no = -1;
    return index;
  }
  const std::size_t yes_splits = here.yes_splits[splits];
  const std::int32_t yes = add_cut(nodes, cuts, nodes[at].yes, yes_splits, out);
  const std::int32_t no = add_cut(nodes, cuts, nodes[at].no, splits - 1 - yes_splits, out);
  out.nodes[static_cast<std::size_t>(index)].yes = yes;
  out.nodes[static_cast<std::size_t>(index)].no = no;
  return index;
}

GrownTree make_cut(const std::vector<GrownNode>& nodes, const std::vector<Cuts>& cuts, std::size_t splits) {
  GrownTree out;
  out.value = cuts[0].value[splits];
  add_cut(nodes, cuts, 0, splits, out);
  return out;
}

}  // namespace

std::int32_t GrownTree::append(const GrownTree& other) {
  const auto first = static_cast<std::int32_t>(nodes.size());
  for (GrownNode node : other.nodes) {
    if (node.test >= 0) {
      node.yes += first;
      node.no += first;
    }
    nodes.push_back(node);
  }
  return first;
}

GrownTree GrownTree::join(GrownNode node, const GrownTree& yes, const GrownTree& no) {
  GrownTree out;
  out.nodes.reserve(1 + yes.nodes.size() + no.nodes.size());
  out.nodes.push_back(node);
  out.nodes[0].yes = out.append(yes);
  out.nodes[0].no = out.append(no);
  out.value = node.split + yes.value + no.value;
  return out;
}

std::int64_t GrownTree::n_splits() const {
  return std::count_if(nodes.begin(), nodes.end(), [](const GrownNode& node) { return node.test >= 0; });
}

GrownTree GrownTree::cut(std::int64_t max_splits) const {
  const std::vector<Cuts> all = all_cuts(nodes, static_cast<std::size_t>(std::max<std::int64_t>(max_splits, 0)));
  return make_cut(nodes, all, all[0].value.size() - 1);
}

std::vector<GrownTree> GrownTree::cuts(std::int64_t max_splits) const {
  const std::vector<Cuts> all = all_cuts(nodes, static_cast<std::size_t>(std::max<std::int64_t>(max_splits, 0)));
  std::vector<GrownTree> out;
  for (std::size_t k = 0; k < all[0].value.size(); ++k) out.push_back(make_cut(nodes, all, k));
  return out;
}

Tree GrownTree::tree() const {
  Tree out;
  for (const GrownNode& node : nodes) out.add({node.test, node.yes, node.no, node.test < 0 ? node.label : -1});
  return out;
}

}  // namespace certree
