// Pair tables of ordered features.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"
#include "counts/kernels_impl_lane_types.hpp"
#include "counts/kernels_impl_squares.hpp"
#include "counts/pair_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

template <class V>
void count_cells(const std::uint8_t* first, const std::uint8_t* second, std::int32_t n_rows, std::int32_t stride,
                 const V* weight, V* cells) {
  if (weight == nullptr) {
    // Two runs at once: neighbours often fall into the same cell, and would wait for each other.
    const std::int32_t half = n_rows / 2;
    for (std::int32_t k = 0; k < half; ++k) {
      ++cells[first[k] * stride + second[k]];
      ++cells[first[half + k] * stride + second[half + k]];
    }
    if (n_rows % 2 != 0) ++cells[first[n_rows - 1] * stride + second[n_rows - 1]];
  } else {
    for (std::int32_t k = 0; k < n_rows; ++k) {
      V& cell = cells[first[k] * stride + second[k]];
      cell = static_cast<V>(cell + weight[k]);
    }
  }
}

// The four leaves of a root edge and every second edge.
enum Corner { kHoldsHolds, kHoldsNot, kNotHolds, kNotNot, kCorners };

constexpr int kLead = 32;  // entries before the first: index -1 stands for the empty set

template <class V>
class PairScan {
 public:
  PairScan(const PairTable<V>& table, V* scratch)
      : t_(table),
        n_(table.n_second),
        width_(padded<V>(table.n_second)),
        planes_(table.rule.n_planes + (table.min_leaf > 1 ? 1 : 0)) {
    const auto take = [&](int count) {
      V* at = scratch;
      scratch += count;
      return at;
    };
    below_ = take(planes_ * width_);
    all_ = take(planes_ * width_);
    if (table.rule.form == PlaneForm::asked) asked_ = take((table.rule.n_planes + 1) * kAskedAtOnce);
    for (int c = 0; c < kCorners; ++c) {
      cost_[c] = take(width_ + kLead) + kLead;
      before_[c] = take(width_ + kLead) + kLead;
      limited_[c] = take(width_ + kLead) + kLead;
      for (int k = -kLead; k < 0; ++k) cost_[c][k] = before_[c][k] = limited_[c][k] = 0;
    }
    for (int j = 0; j < width_; ++j)
      for (int c = 0; c < kCorners; ++c) cost_[c][j] = before_[c][j] = limited_[c][j] = 0;
  }

  void run() {
    start();
    if constexpr (sizeof(V) == 8)
      if (t_.rule.form == PlaneForm::asked) return run_asked();
    for (int i = 0; i < t_.n_first; ++i) {
      add_bin(i);
      next_edge();
      set_costs();
      if (t_.min_leaf > 1) limit_sizes();
      fold_first(i);
      fold_second(i);
    }
  }

 private:
  void next_edge() {
    for (int c = 0; c < kCorners; ++c) {
      V* spare = before_[c];
      before_[c] = cost_[c];
      cost_[c] = spare;
    }
  }

  // Costs that are asked for, about all corners of some edges at once.
  void run_asked() {
    const int corners_of_edge = kCorners * n_, most = kAskedAtOnce / corners_of_edge;
    V* costs = asked_ + t_.rule.n_planes * kAskedAtOnce;
    for (int first = 0; first < t_.n_first; first += most) {
      const int edges = t_.n_first - first < most ? t_.n_first - first : most, n = edges * corners_of_edge;
      for (int k = 0; k < edges; ++k) {
        add_bin(first + k);
        for (int d = 0; d < t_.rule.n_planes; ++d) {
          V* sums = asked_ + d * kAskedAtOnce + k * corners_of_edge;
          corners(d, [=, this](int j, V w, V x, V y, V z) {
            if (j >= n_) return;
            sums[j] = w;
            sums[n_ + j] = x;
            sums[2 * n_ + j] = y;
            sums[3 * n_ + j] = z;
          });
        }
      }
      t_.rule.costs->ask(asked_, static_cast<std::size_t>(n), kAskedAtOnce, costs);
      const V* sizes = asked_ + (t_.rule.n_planes - 1) * kAskedAtOnce;
      for (int k = 0; k < edges; ++k) {
        next_edge();
        take_answers(costs + k * corners_of_edge, sizes + k * corners_of_edge);
        fold_first(first + k);
        fold_second(first + k);
      }
    }
  }
  void take_answers(const V* costs, const V* sizes) {
    for (int c = 0; c < kCorners; ++c)
      for (int j = 0; j < width_; ++j) {
        const int at = c * n_ + (j < n_ ? j : n_ - 1);
        cost_[c][j] = costs[at];
        limited_[c][j] = sizes[at] < t_.min_leaf ? kInfeasible<V> : costs[at];
      }
  }

  // Sums over all bins of the first feature, as prefix sums over the second.
  void start() {
    for (int d = 0; d < planes_; ++d) {
      V* all = all_ + d * width_;
      V* below = below_ + d * width_;
      const V* line = t_.second_line + static_cast<std::ptrdiff_t>(d) * t_.second_stride;
      for (int j = 0; j < width_; ++j) below[j] = 0;
      for (int j = 0; j < n_; ++j) all[j] = line[j];
      for (int j = 1; j < n_; ++j) all[j] = static_cast<V>(all[j] + all[j - 1]);
      for (int j = n_; j < width_; ++j) all[j] = all[n_ - 1];
    }
    for (int side = 0; side < 2; ++side) {
      const SideSplits<V>& s = t_.second[side];
      for (int j = 0; j < width_; ++j) s.edge[j] = s.inner[j] = kInfeasible<V>;
      if (s.loose != nullptr)
        for (int j = 0; j < width_; ++j) s.loose[j] = kInfeasible<V>;
    }
  }

  // below: prefix sums over the second feature of the rows in bins up to i, a register at a time.
  void add_bin(int i) {
    for (int d = 0; d < planes_; ++d) {
      const std::ptrdiff_t at = (static_cast<std::ptrdiff_t>(d) * t_.n_first + i) * t_.stride;
      V* below = below_ + d * width_;
      V before = 0;
      for (int j = 0; j < width_; j += kLanes<V>) {
        Lanes<V> cells = lanes_at(t_.cells + at + j);
        if (t_.less != nullptr) cells -= lanes_at(t_.less + at + j);
        const Lanes<V> sums = running_sums<V>(cells) + before;
        before = sums[kLanes<V> - 1];
        const Lanes<V> all = lanes_at(below + j) + sums;
        std::memcpy(below + j, &all, sizeof(all));
      }
    }
  }

  // The counts of plane d in the four corners.
  template <class Use>
  void corners(int d, Use use) const {
    const V* below = below_ + d * width_;
    const V* all = all_ + d * width_;
    const V holds = below[n_ - 1], rest = static_cast<V>(all[n_ - 1] - holds);
    for (int j = 0; j < width_; ++j) {
      const V hh = below[j], nh = static_cast<V>(all[j] - hh);
      use(j, hh, static_cast<V>(holds - hh), nh, static_cast<V>(rest - nh));
    }
  }

  void set_costs() {
    V* __restrict a = cost_[0], * __restrict b = cost_[1], * __restrict c = cost_[2], * __restrict e = cost_[3];
    if (t_.rule.form == PlaneForm::labels && t_.rule.n_planes == 2) return set_two_labels(a, b, c, e);
    if constexpr (sizeof(V) == 8)
      if (t_.rule.form == PlaneForm::squares) return set_squares(a, b, c, e);
    if (t_.rule.form == PlaneForm::costs) {
      set_planes<PlaneForm::costs>();
    } else if (t_.rule.form == PlaneForm::outputs) {
      set_planes<PlaneForm::outputs>();
    } else {
      set_planes<PlaneForm::labels>();
    }
  }

  // Costs of the four corners from all planes, a register of edges at a time.
  template <PlaneForm kForm>
  void set_planes() {
    for (int j = 0; j < width_; j += kLanes<V>) {
      Lanes<V> sum[kCorners] = {}, best[kCorners] = {};
      V held = 0, total = 0;
      int output = 0, next = kForm == PlaneForm::outputs ? static_cast<int>(t_.rule.outputs[0]) : 0;
      for (int d = 0; d < t_.rule.n_planes; ++d) {
        bool is_first = d == 0;
        if (kForm == PlaneForm::outputs && d == next) {
          is_first = true;
          for (int c = 0; c < kCorners; ++c) sum[c] += best[c];
          next += static_cast<int>(t_.rule.outputs[++output]);
        }
        const V *below = below_ + d * width_, *all = all_ + d * width_;
        const Lanes<V> hh = lanes_at(below + j), nh = lanes_at(all + j) - hh;
        const V holds = below[n_ - 1], rest = static_cast<V>(all[n_ - 1] - holds);
        const Lanes<V> corner[kCorners] = {hh, all_lanes(holds) - hh, nh, all_lanes(rest) - nh};
        if constexpr (kForm == PlaneForm::labels) {
          // The weight of one corner gives that of the others.
          sum[kHoldsHolds] += hh;
          sum[kNotHolds] += lanes_at(all + j);
          held = static_cast<V>(held + holds);
          total = static_cast<V>(total + all[n_ - 1]);
        }
        for (int c = 0; c < kCorners; ++c) {
          if constexpr (kForm == PlaneForm::labels) {
            best[c] = is_first ? corner[c] : (corner[c] > best[c] ? corner[c] : best[c]);
          } else {
            best[c] = is_first ? corner[c] : (corner[c] < best[c] ? corner[c] : best[c]);
          }
        }
      }
      if constexpr (kForm == PlaneForm::labels) {
        sum[kNotHolds] -= sum[kHoldsHolds];
        sum[kHoldsNot] = all_lanes(held) - sum[kHoldsHolds];
        sum[kNotNot] = all_lanes(static_cast<V>(total - held)) - sum[kNotHolds];
      }
      for (int c = 0; c < kCorners; ++c) {
        const Lanes<V> cost = kForm == PlaneForm::labels ? sum[c] - best[c] : sum[c] + best[c];
        std::memcpy(cost_[c] + j, &cost, sizeof(cost));
      }
    }
  }

  void set_two_labels(V* __restrict a, V* __restrict b, V* __restrict c, V* __restrict e) const {
    const V* __restrict x = below_, * __restrict y = below_ + width_, * __restrict u = all_, * __restrict v = all_ + width_;
    const V x_all = x[n_ - 1], y_all = y[n_ - 1];
    const V x_rest = static_cast<V>(u[n_ - 1] - x_all), y_rest = static_cast<V>(v[n_ - 1] - y_all);
    for (int j = 0; j < width_; ++j) {
      const V xn = static_cast<V>(u[j] - x[j]), yn = static_cast<V>(v[j] - y[j]);
      a[j] = least(x[j], y[j]);
      b[j] = least(static_cast<V>(x_all - x[j]), static_cast<V>(y_all - y[j]));
      c[j] = least(xn, yn);
      e[j] = least(static_cast<V>(x_rest - xn), static_cast<V>(y_rest - yn));
    }
  }

  void set_squares(V* a, V* b, V* c, V* e) const {
    if (t_.rule.is_narrow) {
      set_savings<true, true>(0, a, b, c, e);
      for (int k = 1; k < t_.rule.n_outputs; ++k) set_savings<true, false>(k, a, b, c, e);
    } else {
      set_savings<false, true>(0, a, b, c, e);
      for (int k = 1; k < t_.rule.n_outputs; ++k) set_savings<false, false>(k, a, b, c, e);
    }
  }
  // Subtracts what the means of an output save in the four corners: the first from the squares of all outputs.
  template <bool kNarrow, bool kFirst>
  void set_savings(int output, V* a, V* b, V* c, V* e) const {
    const V *w = below_, *u = below_ + (output + 1) * width_, *q = below_ + (t_.rule.n_planes - 1) * width_;
    const V *all_w = all_, *all_u = all_ + (output + 1) * width_, *all_q = all_ + (t_.rule.n_planes - 1) * width_;
    const V scale = t_.rule.scale, factor = t_.rule.outputs[output];
    const int last = n_ - 1;
    const auto cost = [=](V before, V weight, V sum, V squares) {
      const V saved = kNarrow ? narrow_saving(factor, sum, weight) : wide_saving(factor, sum, weight);
      return (kFirst ? scale * squares : before) - saved;
    };
    for (int j = 0; j < width_; ++j) {
      a[j] = cost(a[j], w[j], u[j], q[j]);
      b[j] = cost(b[j], w[last] - w[j], u[last] - u[j], q[last] - q[j]);
      const V nw = all_w[j] - w[j], nu = all_u[j] - u[j], nq = all_q[j] - q[j];
      c[j] = cost(c[j], nw, nu, nq);
      e[j] = cost(e[j], all_w[last] - w[last] - nw, all_u[last] - u[last] - nu, all_q[last] - q[last] - nq);
    }
  }

  void limit_sizes() {
    const V least_size = t_.min_leaf;
    V *a = limited_[0], *b = limited_[1], *c = limited_[2], *e = limited_[3];
    const V *p = cost_[0], *q = cost_[1], *r = cost_[2], *s = cost_[3];
    corners(t_.rule.n_planes, [=](int j, V w, V x, V y, V z) {
      a[j] = w < least_size ? kInfeasible<V> : p[j];
      b[j] = x < least_size ? kInfeasible<V> : q[j];
      c[j] = y < least_size ? kInfeasible<V> : r[j];
      e[j] = z < least_size ? kInfeasible<V> : s[j];
    });
  }

  // Sums of two infeasible costs stay infeasible, and are brought back to one.
  static V least_sum(const V* __restrict x, const V* __restrict y, int n) {
    V best = kInfeasible<V>;
    for (int j = 0; j < n; ++j) best = least(best, static_cast<V>(x[j] + y[j]));
    return best;
  }
  static V least_inner(const V* __restrict x, const V* __restrict y, const V* __restrict is_inner, int n) {
    V best = kInfeasible<V>;
    for (int j = 0; j < n; ++j) {
      const V sum = static_cast<V>(x[j - 1] + y[j]);
      best = least(best, sum < is_inner[j] ? is_inner[j] : sum);
    }
    return best;
  }

  void fold_first(int i) const {
    V* const* edge = t_.min_leaf > 1 ? limited_ : cost_;
    for (int side = 0; side < 2; ++side) {
      const SideSplits<V>& s = t_.first[side];
      const int x = side == 0 ? kHoldsHolds : kNotHolds, y = x + 1;
      s.edge[i] = least_sum(edge[x], edge[y], width_);
      s.inner[i] = t_.has_inner ? least_inner(cost_[x], cost_[y], t_.second_inner, n_) : kInfeasible<V>;
      if (s.loose != nullptr) s.loose[i] = least_sum(cost_[x], cost_[y], width_);
    }
  }

  static void fold(const V* __restrict x, const V* __restrict y, V* __restrict out, int n) {
    for (int j = 0; j < n; ++j) out[j] = least(out[j], static_cast<V>(x[j] + y[j]));
  }

  void fold_second(int i) {
    V* const* edge = t_.min_leaf > 1 ? limited_ : cost_;
    const bool is_inner = t_.first_inner[i] == 0;
    for (int side = 0; side < 2; ++side) {
      const SideSplits<V>& s = t_.second[side];
      const int x = side == 0 ? kHoldsHolds : kHoldsNot, y = side == 0 ? kNotHolds : kNotNot;
      fold(edge[x], edge[y], s.edge, width_);
      if (is_inner) fold(before_[x], cost_[y], s.inner, width_);
      if (s.loose != nullptr) fold(cost_[x], cost_[y], s.loose, width_);
    }
  }

  const PairTable<V>& t_;
  int n_, width_, planes_;
  V *below_, *all_, *asked_ = nullptr;
  V* cost_[kCorners];    // of this bin's edge
  V* before_[kCorners];  // of the edge before it
  V* limited_[kCorners];
};

// Two labels, every rank a bin, leaves of any size: the case of few thresholds per feature, in registers.  Only edges
// between bins matter, so the last bins are left out; the sums over them are the totals.
template <class V>
void scan_two_labels_exact(const PairTable<V>& t) {
  constexpr int kMostVectors = (kMostBins + kLanes<V>) / kLanes<V>;
  const int vectors = (t.n_second - 1 + kLanes<V> - 1) / kLanes<V>;
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(t.n_first) * t.stride;
  const Lanes<V> far = all_lanes(kInfeasible<V>);
  const auto cells_at = [&](std::ptrdiff_t at) {
    const Lanes<V> cells = lanes_at(t.cells + at);
    return t.less != nullptr ? cells - lanes_at(t.less + at) : cells;
  };
  Lanes<V> all[2][kMostVectors], below[2][kMostVectors], left[kMostVectors], right[kMostVectors];
  V total[2] = {0, 0};
  for (int d = 0; d < 2; ++d) {
    const V *first = t.first_line + static_cast<std::ptrdiff_t>(d) * t.first_stride,
            *second = t.second_line + static_cast<std::ptrdiff_t>(d) * t.second_stride;
    for (int i = 0; i < t.n_first; ++i) total[d] = static_cast<V>(total[d] + first[i]);
    for (int v = 0; v < vectors; ++v) {
      all[d][v] = lanes_at(second + v * kLanes<V>);
      below[d][v] = Lanes<V>{};
    }
    V before = 0;
    for (int v = 0; v < vectors; ++v) {
      all[d][v] = running_sums<V>(all[d][v]) + before;
      before = all[d][v][kLanes<V> - 1];
    }
  }
  for (int v = 0; v < vectors; ++v) left[v] = right[v] = far;
  V held[2] = {0, 0};
  for (int i = 0; i + 1 < t.n_first; ++i) {
    Lanes<V> best[2] = {far, far};
    V before[2] = {0, 0};
    for (int d = 0; d < 2; ++d)
      held[d] = static_cast<V>(held[d] + t.first_line[static_cast<std::ptrdiff_t>(d) * t.first_stride + i]);
    for (int v = 0; v < vectors; ++v) {
      Lanes<V> x[2];
      for (int d = 0; d < 2; ++d) {
        const Lanes<V> sums =
            running_sums<V>(cells_at(d * plane + static_cast<std::ptrdiff_t>(i) * t.stride + v * kLanes<V>)) +
            before[d];
        before[d] = sums[kLanes<V> - 1];
        x[d] = below[d][v] += sums;
      }
      const Lanes<V> hh = lesser<V>(x[0], x[1]), hn = lesser<V>(held[0] - x[0], held[1] - x[1]);
      const Lanes<V> y0 = all[0][v] - x[0], y1 = all[1][v] - x[1];
      const Lanes<V> nh = lesser<V>(y0, y1),
                     nn = lesser<V>(static_cast<V>(total[0] - held[0]) - y0, static_cast<V>(total[1] - held[1]) - y1);
      best[0] = lesser<V>(best[0], hh + hn);
      best[1] = lesser<V>(best[1], nh + nn);
      left[v] = lesser<V>(left[v], hh + nh);
      right[v] = lesser<V>(right[v], hn + nn);
    }
    for (int side = 0; side < 2; ++side) t.first[side].edge[i] = least_lane<V>(best[side]);
  }
  for (int side = 0; side < 2; ++side) {
    t.first[side].edge[t.n_first - 1] = kInfeasible<V>;
    for (int i = 0; i < t.n_first; ++i) t.first[side].inner[i] = kInfeasible<V>;
    for (int j = 0; j < t.n_second; ++j) t.second[side].edge[j] = t.second[side].inner[j] = kInfeasible<V>;
    for (int v = 0; v < vectors; ++v) {
      const Lanes<V> out = side == 0 ? left[v] : right[v];
      for (int l = 0; l < kLanes<V> && v * kLanes<V> + l + 1 < t.n_second; ++l)
        t.second[side].edge[v * kLanes<V> + l] = out[l];
    }
  }
}

template <class V>
void scan_pair(const PairTable<V>& table, V* scratch) {
  const bool is_exact = !table.has_inner && table.min_leaf <= 1;
  if (is_exact && table.rule.form == PlaneForm::labels && table.rule.n_planes == 2) return scan_two_labels_exact(table);
  PairScan<V>(table, scratch).run();
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
