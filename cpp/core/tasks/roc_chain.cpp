#include "tasks/roc_chain.hpp"

#include <algorithm>

namespace certree {

ChainValue ChainObjective::value(const Edge* edges, std::size_t count, std::int64_t splits) const {
  const Cost end = most_x();
  Cost x = 0, y = 0;
  Exact twice = 0;
  ChainValue out;
  Exact part = 0;
  for (std::size_t k = 0; k < count && x < end; ++k) {
    const Cost width = fpr_den * edges[k].x;
    if (width <= end - x) {
      twice += Exact{width} * (2 * y + edges[k].y);
      x += width;
    } else {
      const Cost inside = end - x;
      twice += Exact{inside} * (2 * y);
      part = Exact{area_scale} * edges[k].y * inside * inside;
      out.of = width;
      x = end;
    }
    y += edges[k].y;
  }
  const Exact whole_part = part / out.of;
  out.whole = static_cast<Cost>(twice * area_scale + whole_part) - split_penalty * splits;
  out.rest = static_cast<Cost>(part - whole_part * out.of);
  return out;
}

void sort_by_slope(std::vector<Edge>& edges) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return is_steeper(a, b); });
}

std::size_t merge_chains(const Edge* a, std::size_t n_a, const Edge* b, std::size_t n_b, Edge* out) {
  std::size_t i = 0, j = 0, n = 0;
  while (i < n_a && j < n_b) {
    const Exact turn = cross(a[i], b[j]);
    if (turn == 0) {
      out[n++] = a[i++] + b[j++];
    } else {
      out[n++] = turn < 0 ? a[i++] : b[j++];
    }
  }
  while (i < n_a) out[n++] = a[i++];
  while (j < n_b) out[n++] = b[j++];
  return n;
}

// A concave chain is the least of the lines through its edges, so the other one is below it if, for each of these lines,
// its highest point in that direction is: the point where its slopes fall below the line's.
bool is_above(const Edge* a, std::size_t n_a, const Edge* b, std::size_t n_b) {
  Edge on_a, on_b;
  std::size_t j = 0;
  for (std::size_t i = 0; i < n_a; ++i) {
    while (j < n_b && is_steeper(b[j], a[i])) on_b = on_b + b[j++];
    if (cross(a[i], on_b - on_a) > 0) return false;
    on_a = on_a + a[i];
  }
  return true;
}

Exact doubled_area(const Edge* edges, std::size_t count) {
  Exact twice = 0;
  Cost y = 0;
  for (std::size_t k = 0; k < count; ++k) {
    twice += Exact{edges[k].x} * (2 * y + edges[k].y);
    y += edges[k].y;
  }
  return twice;
}

}  // namespace certree
