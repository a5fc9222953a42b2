// The ROC chain of a tree, from which (partial) AUC is computed.
//
// A leaf with n- negatives and n+ positives is the vector (n-, n+).  Sorted by falling slope and put end to end, the
// leaves of a tree form a concave chain from (0, 0) to (N, P), the ROC convex hull of the tree.  Two subtrees combine by
// merging their edges by slope, which is the Minkowski sum.  Everything here is an exact integer; docs/theory/auc.md
// states and proves what is used.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"

namespace certree {

// Products of two 64-bit integers.
__extension__ using Exact = __int128;

// One leaf, or one side of the chain of all leaves with the same slope.
struct Edge {
  Cost x = 0;  // weight of negatives
  Cost y = 0;  // weight of positives
  bool operator==(const Edge&) const = default;
};

inline Edge operator+(const Edge& a, const Edge& b) { return {a.x + b.x, a.y + b.y}; }
inline Edge operator-(const Edge& a, const Edge& b) { return {a.x - b.x, a.y - b.y}; }
// Positive: b turns left of a.
inline Exact cross(const Edge& a, const Edge& b) { return Exact{a.x} * b.y - Exact{a.y} * b.x; }
inline bool is_steeper(const Edge& a, const Edge& b) { return cross(a, b) < 0; }

// whole + rest / of, with 0 <= rest < of: partial areas may end inside an edge.
struct ChainValue {
  Cost whole = -kInfinite;
  Cost rest = 0;
  Cost of = 1;
};
inline bool operator<(const ChainValue& a, const ChainValue& b) {
  if (a.whole != b.whole) return a.whole < b.whole;
  return Exact{a.rest} * b.of < Exact{b.rest} * a.of;
}

// What is maximised:  area_scale * (twice the area under the chain up to most_x()) - split_penalty * splits,
// where x is measured in units of 1 / fpr_den negatives, so that most_x() is an integer.
struct ChainObjective {
  Cost negatives = 0;
  Cost positives = 0;
  Cost fpr_num = 1;
  Cost fpr_den = 1;
  Cost area_scale = 1;
  Cost split_penalty = 0;

  Cost most_x() const { return negatives * fpr_num; }
  // Every tree's value is an integer.
  bool is_integral() const { return fpr_num == fpr_den; }
  // The value of a perfect tree that costs no splits.
  Cost perfect() const { return 2 * area_scale * positives * most_x(); }
  // `edges` by falling slope.
  ChainValue value(const Edge* edges, std::size_t count, std::int64_t splits) const;
};

void sort_by_slope(std::vector<Edge>& edges);
// Merges two chains into `out`, which has room for both; edges of equal slope become one.  Returns their number.
std::size_t merge_chains(const Edge* a, std::size_t n_a, const Edge* b, std::size_t n_b, Edge* out);
// The first chain is nowhere below the second.  Both have the same ends.
bool is_above(const Edge* a, std::size_t n_a, const Edge* b, std::size_t n_b);
// Twice the area under the chain.
Exact doubled_area(const Edge* edges, std::size_t count);

}  // namespace certree
