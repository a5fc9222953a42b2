#include "search/columns/debug_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/check.hpp"
#include "base/memory.hpp"
#include "data/node.hpp"

namespace certree {

// Sends the rows down the known tree.  The baseline kernels and memory of its own: what is checked is not used.
class DebugTree::Reader {
 public:
  Reader(const Dataset& data, const CountTask& task, const Tree& tree, DebugTree& out)
      : data_(data),
        task_(task),
        tree_(tree),
        out_(out),
        memory_(0),
        factory_(data, bit_kernels_for(Isa::baseline), memory_, false) {}

  Known read_root() {
    require(!tree_.nodes.empty(), "debug_tree has no nodes");
    Node root(memory_);
    factory_.make_root(root);
    return read(0, root);
  }

 private:
  Known read(std::int32_t index, const Node& node) {
    require(index >= 0 && static_cast<std::size_t>(index) < tree_.nodes.size(), "debug_tree names a node it lacks");
    const TreeNode& split = tree_.nodes[static_cast<std::size_t>(index)];
    Known known;
    if (split.column < 0) {
      const auto types = node.totals.begin() + task_.n_types();
      require(std::any_of(node.totals.begin(), types, [](Cost c) { return c > 0; }), "debug_tree has an empty leaf");
      known.errors = task_.leaf_cost(node.totals.data());
    } else {
      known = read_children(split, node);
    }
    out_.known_.emplace(node.rows.key, known);
    return known;
  }

  Known read_children(const TreeNode& split, const Node& node) {
    Known known;
    known.column = column_in_data(split.column);
    known.splits = 1;
    for (const bool holds : {true, false}) {
      Node child(memory_);
      factory_.child_rows(node, known.column, holds, child.rows);
      factory_.make_child(node, known.column, holds, false, child);
      const Known below = read(holds ? split.yes : split.no, child);
      known.depth = std::max(known.depth, below.depth + 1);
      known.splits += below.splits;
      known.errors += below.errors;
    }
    return known;
  }

  std::int32_t column_in_data(std::int32_t original) const {
    for (std::int32_t c = 0; c < data_.n_columns(); ++c)
      if (data_.original_column(c) == original) return c;
    throw std::invalid_argument("debug_tree tests column " + std::to_string(original) +
                                ", which is constant or repeats another one; use the first of equal columns");
  }

  const Dataset& data_;
  const CountTask& task_;
  const Tree& tree_;
  DebugTree& out_;
  MemoryBudget memory_;
  NodeFactory factory_;
};

namespace {

[[noreturn]] void fail(const std::string& place, Cost lower, Cost value) {
  throw std::logic_error("certree: " + place + ": the lower bound " + std::to_string(lower) + " exceeds the value " +
                         std::to_string(value) + " of a known tree");
}

}  // namespace

DebugTree::DebugTree(const Dataset& data, const CountTask& task, const Objective& objective, const Tree& tree,
                     Cost discount)
    : objective_(objective), discount_(discount) {
  root_ = Reader(data, task, tree, *this).read_root();
}

Cost DebugTree::value(const Known& known) const {
  return objective_.leaf(known.errors) + known.splits * objective_.split_penalty - discount_;
}

void DebugTree::check(const Fingerprint& rows, std::int32_t depth, Cost lower, const char* place) const {
  const auto [begin, end] = known_.equal_range(rows);
  for (auto it = begin; it != end; ++it)
    if (depth >= it->second.depth && lower > value(it->second)) fail(place, lower, value(it->second));
}

void DebugTree::check_root(Cost lower) const {
  if (lower > value(root_)) fail("result", lower, value(root_));
}

void DebugTree::check_split(const Fingerprint& rows, std::int32_t depth, std::int32_t column, Cost lower) const {
  const auto [begin, end] = known_.equal_range(rows);
  for (auto it = begin; it != end; ++it) {
    const Known& known = it->second;
    if (known.column == column && depth >= known.depth && lower > value(known))
      fail("split on column " + std::to_string(column), lower, value(known));
  }
}

void DebugTree::check_curve(const Fingerprint& rows, std::int32_t depth, const std::vector<Cost>& lower) const {
  const auto [begin, end] = known_.equal_range(rows);
  for (auto it = begin; it != end; ++it) {
    const Known& known = it->second;
    if (depth < known.depth) continue;
    const Cost errors = known.errors - (discount_ > 0 ? 1 : 0);
    for (auto k = static_cast<std::size_t>(known.splits); k < lower.size(); ++k)
      if (lower[k] > errors) fail("curve at " + std::to_string(k) + " splits", lower[k], errors);
  }
}

}  // namespace certree
