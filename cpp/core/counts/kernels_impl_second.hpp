// The best splits of both sides of a threshold by another feature, from all rows in its order.  Part of kernels_impl.hpp:
// included once per instruction set.
//
// A split's leaves follow from prefix sums along the second feature.  The rows are cut into as many runs as a register has
// lanes, and every lane goes through its own run, so that there is no sum across lanes in the loop.
#include "counts/kernels_impl_base.hpp"
#include "counts/kernels_impl_lane_types.hpp"
#include "counts/kernels_impl_squares.hpp"
#include "counts/pair_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

// Two labels: with d the weight of label 1 less that of label 0 below a threshold, the errors of its split are the weight of
// label 0 plus d, or the weight of label 1 less d, whichever is less (docs/theory/ordered-features.md).
template <class V>
SecondSplit<V> scan_two_labels(const SecondRows<V>& in) {
  const Lanes<V> far = all_lanes(kInfeasible<V>), threshold = all_lanes(in.threshold);
  Lanes<V> sum[2] = {}, low[2] = {far, far}, high[2] = {-far, -far};
  for (std::int32_t k = 0; k < in.length; ++k) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(k) * kLanes<V>;
    const Lanes<V> value = lanes_at(in.values + at), parts = lanes_at(in.parts + at);
    const Lanes<V> holds = lanes_at(in.position + at) < threshold;
    sum[0] += value & holds;
    sum[1] += value & ~holds;
    for (int side = 0; side < 2; ++side) {
      const Lanes<V> below = (sum[side] & parts) | (far & ~parts), above = (sum[side] & parts) | (-far & ~parts);
      low[side] = below < low[side] ? below : low[side];
      high[side] = above > high[side] ? above : high[side];
    }
  }
  SecondSplit<V> out;
  for (int side = 0; side < 2; ++side) {
    V before = 0, least_sum = kInfeasible<V>, most_sum = -kInfeasible<V>;
    for (int l = 0; l < kLanes<V>; ++l) {
      if (low[side][l] < kInfeasible<V>) {
        least_sum = least(least_sum, static_cast<V>(before + low[side][l]));
        most_sum = -least(static_cast<V>(-most_sum), static_cast<V>(-(before + high[side][l])));
      }
      before = static_cast<V>(before + sum[side][l]);
    }
    if (least_sum < kInfeasible<V>)
      out.loose[side] =
          least(static_cast<V>(in.totals[side][0] + least_sum), static_cast<V>(in.totals[side][1] - most_sum));
    out.limited[side] = out.loose[side];
  }
  return out;
}

// What entry k adds to plane d.
template <class V, PlaneForm kForm>
[[gnu::always_inline]] inline Lanes<V> plane_values(const SecondRows<V>& in, std::int32_t k, std::int32_t d) {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(k) * kLanes<V>;
  if constexpr (kForm != PlaneForm::labels)
    return lanes_at(in.values + static_cast<std::ptrdiff_t>(d) * in.length * kLanes<V> + at);
  return lanes_at(in.values + at) & (lanes_at(in.label + at) == all_lanes(static_cast<V>(d)));
}

// Sums below the thresholds that a lane has reached, on both sides.
template <class V>
struct SideSums {
  Lanes<V> held, rest;
};

// From the sums over whole lanes to those with which each lane begins.
template <class V>
inline void begin_lanes(SideSums<V>& sums) {
  V held = 0, rest = 0;
  for (int l = 0; l < kLanes<V>; ++l) {
    const V more_held = sums.held[l], more_rest = sums.rest[l];
    sums.held[l] = held;
    sums.rest[l] = rest;
    held = static_cast<V>(held + more_held);
    rest = static_cast<V>(rest + more_rest);
  }
}

// The better of two planes of a leaf: the larger weight, or the lower cost.
template <class V, PlaneForm kForm>
[[gnu::always_inline]] inline Lanes<V> better(const Lanes<V>& a, const Lanes<V>& b) {
  if constexpr (kForm == PlaneForm::labels) return a > b ? a : b;
  return a < b ? a : b;
}

// Any planes.  With labels, what a split saves is the largest plane of each leaf.  With several outputs, `before` is what those
// before cost.
template <class V, PlaneForm kForm, bool kLimits, int kPlanes>
SecondSplit<V> scan_planes(const SecondRows<V>& in, V* scratch) {
  const std::int32_t planes = kPlanes > 0 ? kPlanes : in.rule.n_planes;
  SideSums<V> own[kPlanes > 0 ? kPlanes : 1];
  auto* sums = kPlanes > 0 ? own : reinterpret_cast<SideSums<V>*>(scratch);
  const Lanes<V> far = all_lanes(kInfeasible<V>), threshold = all_lanes(in.threshold), one = all_lanes(V{1});
  SideSums<V> sizes{};
  for (std::int32_t d = 0; d < planes; ++d) sums[d].held = sums[d].rest = Lanes<V>{};
  for (std::int32_t k = 0; k < in.length; ++k) {
    const Lanes<V> position = lanes_at(in.position + static_cast<std::ptrdiff_t>(k) * kLanes<V>);
    const Lanes<V> holds = position < threshold;
    for (std::int32_t d = 0; d < planes; ++d) {
      const Lanes<V> value = plane_values<V, kForm>(in, k, d);
      sums[d].held += value & holds;
      sums[d].rest += value & ~holds;
    }
    if constexpr (kLimits) {
      sizes.held += one & holds;
      sizes.rest += one & ~holds & (position < far);
    }
  }
  for (std::int32_t d = 0; d < planes; ++d) begin_lanes(sums[d]);
  if constexpr (kLimits) begin_lanes(sizes);
  Lanes<V> limited[2] = {far, far}, loose[2] = {far, far};
  const V all[2] = {static_cast<V>(in.n_rows[0]), static_cast<V>(in.n_rows[1])};
  V weight[2] = {0, 0};
  for (std::int32_t d = 0; d < planes && kForm == PlaneForm::labels; ++d)
    for (int side = 0; side < 2; ++side) weight[side] = static_cast<V>(weight[side] + in.totals[side][d]);
  for (std::int32_t k = 0; k < in.length; ++k) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(k) * kLanes<V>;
    const Lanes<V> position = lanes_at(in.position + at), parts = lanes_at(in.parts + at);
    const Lanes<V> holds = position < threshold;
    Lanes<V> below[2] = {}, above[2] = {}, before[2] = {};
    std::int32_t output = 0, next = kForm == PlaneForm::outputs ? static_cast<std::int32_t>(in.rule.outputs[0]) : 0;
    for (std::int32_t d = 0; d < planes; ++d) {
      bool is_first = d == 0;
      if (kForm == PlaneForm::outputs && d == next) {
        is_first = true;
        for (int side = 0; side < 2; ++side) before[side] += below[side] + above[side];
        next += static_cast<std::int32_t>(in.rule.outputs[++output]);
      }
      const Lanes<V> value = plane_values<V, kForm>(in, k, d);
      sums[d].held += value & holds;
      sums[d].rest += value & ~holds;
      const Lanes<V> beyond[2] = {all_lanes(in.totals[0][d]) - sums[d].held, all_lanes(in.totals[1][d]) - sums[d].rest};
      below[0] = is_first ? sums[d].held : better<V, kForm>(below[0], sums[d].held);
      below[1] = is_first ? sums[d].rest : better<V, kForm>(below[1], sums[d].rest);
      for (int side = 0; side < 2; ++side)
        above[side] = is_first ? beyond[side] : better<V, kForm>(above[side], beyond[side]);
    }
    Lanes<V> small[2] = {};
    if constexpr (kLimits) {
      sizes.held += one & holds;
      sizes.rest += one & ~holds & (position < far);
      const Lanes<V> least_size = all_lanes(in.min_leaf);
      small[0] = (sizes.held < least_size) | (all_lanes(all[0]) - sizes.held < least_size);
      small[1] = (sizes.rest < least_size) | (all_lanes(all[1]) - sizes.rest < least_size);
    }
    for (int side = 0; side < 2; ++side) {
      Lanes<V> cost = below[side] + above[side];
      if constexpr (kForm == PlaneForm::labels) cost = all_lanes(weight[side]) - cost;
      if constexpr (kForm == PlaneForm::outputs) cost += before[side];
      const Lanes<V> any = (cost & parts) | (far & ~parts);
      loose[side] = any < loose[side] ? any : loose[side];
      if constexpr (kLimits) {
        const Lanes<V> fits = (any & ~small[side]) | (far & small[side]);
        limited[side] = fits < limited[side] ? fits : limited[side];
      }
    }
  }
  SecondSplit<V> out;
  for (int side = 0; side < 2; ++side) {
    for (int l = 0; l < kLanes<V>; ++l) {
      out.loose[side] = least(out.loose[side], static_cast<V>(loose[side][l]));
      out.limited[side] = least(out.limited[side], static_cast<V>(limited[side][l]));
    }
    if constexpr (!kLimits) out.limited[side] = out.loose[side];
  }
  return out;
}

template <class V, PlaneForm kForm>
SecondSplit<V> scan_form(const SecondRows<V>& in, V* scratch) {
  if (in.min_leaf > 1) return scan_planes<V, kForm, true, 0>(in, scratch);
  switch (in.rule.n_planes) {
    case 2:
      return scan_planes<V, kForm, false, 2>(in, scratch);
    case 3:
      return scan_planes<V, kForm, false, 3>(in, scratch);
    case 4:
      return scan_planes<V, kForm, false, 4>(in, scratch);
    case 5:
      return scan_planes<V, kForm, false, 5>(in, scratch);
    case 6:
      return scan_planes<V, kForm, false, 6>(in, scratch);
    case 7:
      return scan_planes<V, kForm, false, 7>(in, scratch);
    default:
      return scan_planes<V, kForm, false, 0>(in, scratch);
  }
}

// A sum for each lane.
using SquareLine = std::int64_t[kLanes<std::int64_t>];

// The weight, and the weighted target of every output.  Few outputs stay in registers; kOutputs 0: any number.
template <int kOutputs>
struct SquareLines {
  SquareLine own[kOutputs + 1] = {};
  SquareLines(const PlaneRule&, std::int64_t*) {}
  static constexpr int count() { return kOutputs + 1; }
  std::int64_t* line(int d) { return own[d]; }
  const std::int64_t* line(int d) const { return own[d]; }
};
template <>
struct SquareLines<0> {
  SquareLine* sums;
  int n_sums;
  SquareLines(const PlaneRule& rule, std::int64_t* scratch)
      : sums(reinterpret_cast<SquareLine*>(scratch)), n_sums(rule.n_outputs + 1) {
    std::memset(sums, 0, static_cast<std::size_t>(n_sums) * sizeof(SquareLine));
  }
  int count() const { return n_sums; }
  std::int64_t* line(int d) { return sums[d]; }
  const std::int64_t* line(int d) const { return sums[d]; }
};

// Sums of the rows up to a threshold of each lane, on one side.
template <int kOutputs>
struct SquareSums : SquareLines<kOutputs> {
  using V = std::int64_t;
  using SquareLines<kOutputs>::SquareLines, SquareLines<kOutputs>::count, SquareLines<kOutputs>::line;
  V size[kLanes<V>] = {};

  // Adds entry k of the rows whose position is on the side.
  void add(const SecondRows<V>& in, std::ptrdiff_t at, std::ptrdiff_t plane, int side) {
    for (int l = 0; l < kLanes<V>; ++l) {
      const V position = in.position[at + l];
      const V is_here =
          -static_cast<V>(side == 0 ? position < in.threshold : position >= in.threshold && position < kInfeasible<V>);
      for (int d = 0; d < count(); ++d) line(d)[l] += in.values[d * plane + at + l] & is_here;
      size[l] -= is_here;
    }
  }
  // From the sums over whole lanes to those with which each lane begins.
  void begin() {
    for (int d = 0; d <= count(); ++d) {
      V* of_lanes = d < count() ? line(d) : size;
      V before = 0;
      for (int l = 0; l < kLanes<V>; ++l) {
        const V more = of_lanes[l];
        of_lanes[l] = before;
        before += more;
      }
    }
  }
  template <bool kNarrow>
  void costs(const SecondRows<V>& in, int side, V* out) const {
    const V* all = in.totals[side];
    for (int l = 0; l < kLanes<V>; ++l) out[l] = in.rule.scale * all[count()];
    for (int d = 1; d < count(); ++d) {
      const V scale = in.rule.outputs[d - 1];
      for (int l = 0; l < kLanes<V>; ++l) {
        const V w = line(0)[l], u = line(d)[l], rest_w = all[0] - w, rest_u = all[d] - u;
        out[l] -= kNarrow ? narrow_saving(scale, u, w) + narrow_saving(scale, rest_u, rest_w)
                          : wide_saving(scale, u, w) + wide_saving(scale, rest_u, rest_w);
      }
    }
  }
};

template <bool kNarrow, int kOutputs>
SecondSplit<std::int64_t> scan_squares(const SecondRows<std::int64_t>& in, std::int64_t* scratch) {
  using V = std::int64_t;
  SecondSplit<V> out;
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(in.length) * kLanes<V>;
  for (int side = 0; side < 2; ++side) {
    SquareSums<kOutputs> below(in.rule, scratch);
    for (std::ptrdiff_t at = 0; at < plane; at += kLanes<V>) below.add(in, at, plane, side);
    below.begin();
    V loose[kLanes<V>], limited[kLanes<V>], cost[kLanes<V>];
    for (int l = 0; l < kLanes<V>; ++l) loose[l] = limited[l] = kInfeasible<V>;
    for (std::ptrdiff_t at = 0; at < plane; at += kLanes<V>) {
      below.add(in, at, plane, side);
      below.template costs<kNarrow>(in, side, cost);
      for (int l = 0; l < kLanes<V>; ++l) {
        const V any = in.parts[at + l] != 0 ? cost[l] : kInfeasible<V>;
        loose[l] = least(loose[l], any);
        const bool is_small = below.size[l] < in.min_leaf || in.n_rows[side] - below.size[l] < in.min_leaf;
        limited[l] = is_small ? limited[l] : least(limited[l], any);
      }
    }
    for (int l = 0; l < kLanes<V>; ++l) {
      out.loose[side] = least(out.loose[side], loose[l]);
      out.limited[side] = least(out.limited[side], limited[l]);
    }
  }
  return out;
}

template <bool kNarrow>
SecondSplit<std::int64_t> scan_squares(const SecondRows<std::int64_t>& in, std::int64_t* scratch) {
  switch (in.rule.n_outputs) {
    case 1:
      return scan_squares<kNarrow, 1>(in, scratch);
    case 2:
      return scan_squares<kNarrow, 2>(in, scratch);
    case 3:
      return scan_squares<kNarrow, 3>(in, scratch);
    default:
      return scan_squares<kNarrow, 0>(in, scratch);
  }
}

template <class V>
SecondSplit<V> scan_second(const SecondRows<V>& in, V* scratch) {
  if constexpr (sizeof(V) == 8)
    if (in.rule.form == PlaneForm::squares)
      return in.rule.is_narrow ? scan_squares<true>(in, scratch) : scan_squares<false>(in, scratch);
  if (in.rule.form == PlaneForm::outputs) return scan_form<V, PlaneForm::outputs>(in, scratch);
  if (in.rule.form == PlaneForm::costs) return scan_form<V, PlaneForm::costs>(in, scratch);
  if (in.rule.n_planes == 2 && in.min_leaf <= 1) return scan_two_labels(in);
  return scan_form<V, PlaneForm::labels>(in, scratch);
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
