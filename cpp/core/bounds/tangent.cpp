#include "bounds/tangent.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace certree {

namespace {

// Each is a label in the scalar problem: more of them cost time and sharpen the bound little.
constexpr std::size_t kReferenceEdges = 16;

}  // namespace

Tangent::Tangent(const ChainObjective& objective, ReferenceChain reference)
    : objective_(objective), reference_(std::move(reference)) {
  const Cost multiplier = reference_.unit;
  // Twice the area, with x in units of 1 / (multiplier * fpr_den) negatives: over an edge of width w and height v the
  // bound is  2 w h(v / w) + (v / w) (end^2 - start^2) / (multiplier * fpr_den).
  const Cost scale = objective.area_scale, den = objective.fpr_den;
  const Cost end = multiplier * objective.most_x();
  Cost x = 0;
  Exact moment = 0;  // of 2 * multiplier * fpr_den times the constant
  for (const Edge& edge : reference_.edges) {
    const Cost width = std::min(den * edge.x, end - x);
    if (width <= 0) continue;
    // Any slope is valid, so the slope of an edge that the limit cuts off is rounded to integers.
    const Cost rise = width == den * edge.x ? 2 * scale * den * edge.y
                                            : static_cast<Cost>(Exact{2} * scale * edge.y * width / edge.x);
    terms_.push_back({rise, 2 * scale * width});
    moment += Exact{rise} * (2 * x + width);
    ceiling_ += 2 * scale * width;
    x += width;
  }
  CERTREE_DCHECK(x == end);
  const Exact unit = Exact{2} * multiplier * den;
  constant_ = static_cast<Cost>((moment + unit - 1) / unit);
  std::stable_sort(terms_.begin(), terms_.end(),
                   [](const Term& a, const Term& b) { return Exact{a.x} * b.y < Exact{b.x} * a.y; });
}

// Label j takes the j flattest slopes.
CountTask Tangent::task() const {
  const auto labels = static_cast<std::int32_t>(terms_.size()) + 1;
  std::vector<Cost> matrix(2 * static_cast<std::size_t>(labels));
  Cost x = 0, y = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(labels); ++j) {
    matrix[j] = x;
    matrix[static_cast<std::size_t>(labels) + j] = ceiling_ - y;
    if (j < terms_.size()) {
      x += terms_[j].x;
      y += terms_[j].y;
    }
  }
  return CountTask(2, labels, std::move(matrix));
}

std::vector<Edge> coarsen(std::vector<Edge> chain, std::size_t most) {
  while (chain.size() > most && chain.size() > 1) {
    std::size_t least = 0;
    for (std::size_t k = 1; k + 1 < chain.size(); ++k)
      if (-cross(chain[k], chain[k + 1]) < -cross(chain[least], chain[least + 1])) least = k;
    chain[least] = chain[least] + chain[least + 1];
    chain.erase(chain.begin() + static_cast<std::ptrdiff_t>(least) + 1);
  }
  return chain;
}

namespace {

struct Point {
  double x = 0, y = 0;
};

// Vertices of a mixture with these shares, in rows, without the origin.
std::vector<Point> mixed_vertices(const std::vector<ReferenceChain>& chains, const std::vector<double>& shares) {
  std::vector<Point> edges;
  for (std::size_t k = 0; k < chains.size(); ++k) {
    const double factor = shares[k] / static_cast<double>(chains[k].unit);
    if (factor <= 0) continue;
    for (const Edge& e : chains[k].edges)
      edges.push_back({factor * static_cast<double>(e.x), factor * static_cast<double>(e.y)});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Point& a, const Point& b) { return a.y * b.x > b.y * a.x; });
  Point at;
  for (Point& e : edges) {
    at = {at.x + e.x, at.y + e.y};
    e = at;
  }
  return edges;
}

double area_until(const std::vector<Point>& vertices, double end) {
  double area = 0;
  Point at;
  for (const Point& p : vertices) {
    const double width = p.x - at.x;
    if (p.x > end) {
      const double inside = end - at.x;
      return area + inside * (at.y + 0.5 * (p.y - at.y) * (width > 0 ? inside / width : 0));
    }
    area += width * 0.5 * (p.y + at.y);
    at = p;
  }
  return area;
}

}  // namespace

namespace {

// The mixture on the grid of 1 / unit rows, with few edges.
ReferenceChain mix_chains(const std::vector<ReferenceChain>& chains, const std::vector<double>& shares, Cost unit) {
  Edge total;
  for (const Edge& e : chains.front().edges) total = total + e;
  const Edge end{total.x / chains.front().unit * unit, total.y / chains.front().unit * unit};
  const std::vector<Point> vertices = mixed_vertices(chains, shares);
  const auto round = [&](double value, Cost least, Cost most) {
    return std::clamp(static_cast<Cost>(std::llround(value * static_cast<double>(unit))), least, most);
  };
  ReferenceChain out{{}, unit};
  Edge at;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Edge next =
        k + 1 < vertices.size() ? Edge{round(vertices[k].x, at.x, end.x), round(vertices[k].y, at.y, end.y)} : end;
    if (next == at) continue;
    out.edges.push_back(next - at);
    at = next;
  }
  out.edges = coarsen(std::move(out.edges), kReferenceEdges);
  return out;
}

}  // namespace

// Coordinate ascent on the shares.  The area of a mixture is concave in the shares, being the least of its tangent bounds,
// which are linear in them, and penalties are linear: steps towards and away from single chains get close to the largest.
ReferenceChain best_mixture(const ChainObjective& objective, const std::vector<ReferenceChain>& chains, Cost unit) {
  constexpr int kSweeps = 12;
  const double end = static_cast<double>(objective.most_x()) / static_cast<double>(objective.fpr_den);
  // A split in units of the area.
  const double penalty = static_cast<double>(objective.split_penalty) / 2 /
                         (static_cast<double>(objective.area_scale) * static_cast<double>(objective.fpr_den));
  const auto value = [&](const std::vector<double>& shares) {
    double sum = area_until(mixed_vertices(chains, shares), end);
    for (std::size_t k = 0; k < chains.size(); ++k) sum -= penalty * shares[k] * static_cast<double>(chains[k].splits);
    return sum;
  };
  std::vector<double> shares(chains.size(), 1.0 / static_cast<double>(chains.size())), tried;
  double best = value(shares);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const double before = best;
    for (std::size_t k = 0; k < chains.size() && chains.size() > 1; ++k) {
      std::vector<double> better;
      for (const double step : {0.5, 0.25, 0.125, 0.03125, -0.25, -0.5, -1.0}) {
        const double to = step > 0 ? shares[k] + step * (1 - shares[k]) : shares[k] * (1 + step);
        if (shares[k] >= 1 || to == shares[k]) continue;
        tried = shares;
        for (double& share : tried) share *= (1 - to) / (1 - shares[k]);
        tried[k] = to;
        if (const double found = value(tried); found > best) {
          best = found;
          better = tried;
        }
      }
      if (!better.empty()) shares = std::move(better);
    }
    if (best - before <= 1e-6 * std::abs(before)) break;
  }
  return mix_chains(chains, shares, unit);
}

}  // namespace certree
