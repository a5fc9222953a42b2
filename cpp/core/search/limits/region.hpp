// What is still wanted of a subproblem: trees whose plane values stay within the budgets of at least one corner.
// The budgets of a child are those of its parent less the split and less the least that the sibling adds.  A tree that is
// part of a wanted tree is within them, so the search finds only these (docs/theory/limits.md, theorem 2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cost.hpp"

namespace certree {

struct LimitRegion {
  std::size_t n_planes = 0;
  std::vector<Cost> budgets;  // [corner][plane]
  std::vector<Cost> sure;     // [plane]: a tree that adds at most this keeps the limit, for any rest of the tree

  std::size_t n_corners() const { return n_planes == 0 ? 0 : budgets.size() / n_planes; }
  bool is_empty() const { return budgets.empty(); }

  // Is a point, or a bound, with these values within the budgets of some corner?
  bool admits(const Cost* values) const { return admits(values, n_planes); }
  // The same for the first `n` planes.
  bool admits(const Cost* values, std::size_t n) const {
    for (std::size_t c = 0; c < budgets.size(); c += n_planes) {
      std::size_t m = 0;
      while (m < n && values[m] <= budgets[c + m]) ++m;
      if (m == n) return true;
    }
    return false;
  }
  Cost most(std::size_t plane) const {
    Cost out = -kInfinite;
    for (std::size_t c = 0; c < budgets.size(); c += n_planes) out = std::max(out, budgets[c + plane]);
    return out;
  }
  // Everything within `other` is within this.
  bool contains(const LimitRegion& other) const {
    for (std::size_t c = 0; c < other.budgets.size(); c += n_planes)
      if (!admits(other.budgets.data() + c)) return false;
    return true;
  }
};

// What is left for a child: `own` and `rest` are lower bounds of it and of its sibling, `split` what the split adds, `most`
// the most that the sibling adds.
inline void leave(const LimitRegion& parent, const Cost* own, const Cost* rest, const Cost* split, const Cost* most,
                  LimitRegion& out) {
  const std::size_t n = parent.n_planes;
  out.n_planes = n;
  out.budgets.clear();
  for (std::size_t c = 0; c < parent.budgets.size(); c += n) {
    const std::size_t at = out.budgets.size();
    out.budgets.resize(at + n);
    bool is_open = true;
    for (std::size_t m = 0; m < n; ++m) {
      out.budgets[at + m] = parent.budgets[c + m] - split[m] - rest[m];
      is_open = is_open && own[m] <= out.budgets[at + m];
    }
    if (!is_open) out.budgets.resize(at);
  }
  out.sure.resize(n);
  for (std::size_t m = 0; m < n; ++m) out.sure[m] = parent.sure[m] - split[m] - most[m];
}

}  // namespace certree
