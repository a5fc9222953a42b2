// The best split of one side of a threshold by another feature, from all rows in its order.  Part of kernels_impl.hpp:
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

// Which rows of a register are on the side; padding is beyond all positions, on side 1, and adds nothing.
template <class V>
[[gnu::always_inline]] inline Lanes<V> is_on_side(const SecondRows<V>& in, std::ptrdiff_t at, int side) {
  const Lanes<V> position = lanes_at(in.position + at), threshold = all_lanes(in.threshold);
  return side == 0 ? position < threshold : position >= threshold;
}

// What all lanes before each one add up to.
template <class V>
[[gnu::always_inline]] inline Lanes<V> before_lanes(const Lanes<V>& sums) {
  return running_sums<V>(sums) - sums;
}

// Two labels: with d the weight of label 1 less that of label 0 below a threshold, the errors of its split are the weight of
// label 0 plus d, or the weight of label 1 less d, whichever is less (docs/theory/ordered-features.md).
template <class V, int kSide>
SecondSplit<V> scan_two_labels(const SecondRows<V>& in) {
  const Lanes<V> far = all_lanes(kInfeasible<V>);
  Lanes<V> sum{}, low = far, high = far;  // `high` is negated
  for (std::int32_t k = 0; k < in.length; ++k) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(k) * kLanes<V>;
    const Lanes<V> none = lanes_at(in.none + at);
    sum += lanes_at(in.values + at) & is_on_side(in, at, kSide);
    low = lesser<V>(low, sum + none);
    high = lesser<V>(high, none - sum);
  }
  // A lane without a threshold has a value that is too large for both: a sum up to a threshold is at most the weight of label 1,
  // and this is less than kInfeasible less the weight of label 0.
  const Lanes<V> before = before_lanes<V>(sum);
  const V least_sum = least_lane<V>(low + before), most_sum = least_lane<V>(high - before);
  SecondSplit<V> out;
  if (least_sum <= in.totals[1])
    out.loose = least(static_cast<V>(in.totals[0] + least_sum), static_cast<V>(in.totals[1] + most_sum));
  out.limited = out.loose;
  return out;
}

// Entry k of all lanes: where it is on the side, and what it adds to the planes.
template <class V, PlaneForm kForm, bool kUnit>
struct SecondEntry {
  std::ptrdiff_t at;
  Lanes<V> is_here;
  Lanes<V> label;  // labels: beyond all planes where it is not on the side

  [[gnu::always_inline]] SecondEntry(const SecondRows<V>& in, std::int32_t k, int side)
      : at(static_cast<std::ptrdiff_t>(k) * kLanes<V>), is_here(is_on_side(in, at, side)) {
    if constexpr (kForm == PlaneForm::labels) label = lanes_at(in.label + at) | ~is_here;
  }
  [[gnu::always_inline]] void add(const SecondRows<V>& in, std::int32_t d, Lanes<V>& sum) const {
    if constexpr (kForm != PlaneForm::labels) {
      sum += lanes_at(in.values + static_cast<std::ptrdiff_t>(d) * in.length * kLanes<V> + at) & is_here;
    } else if constexpr (kUnit) {
      sum -= label == all_lanes(static_cast<V>(d));
    } else {
      sum += lanes_at(in.values + at) & (label == all_lanes(static_cast<V>(d)));
    }
  }
};

// The better of two planes of a leaf: the larger weight, or the lower cost.
template <class V, PlaneForm kForm>
[[gnu::always_inline]] inline Lanes<V> better(const Lanes<V>& a, const Lanes<V>& b) {
  if constexpr (kForm == PlaneForm::labels) return a > b ? a : b;
  return a < b ? a : b;
}

// Any planes.  With labels, what a split saves is the largest plane of each leaf.  With several outputs, `before` is what those
// before cost.
template <class V, PlaneForm kForm, bool kUnit, bool kLimits, int kPlanes, int kSide>
SecondSplit<V> scan_planes(const SecondRows<V>& in, V* scratch) {
  const std::int32_t planes = kPlanes > 0 ? kPlanes : in.rule.n_planes;
  Lanes<V> own[kPlanes > 0 ? kPlanes : 1];
  auto* sums = kPlanes > 0 ? own : reinterpret_cast<Lanes<V>*>(scratch);
  const Lanes<V> far = all_lanes(kInfeasible<V>), one = all_lanes(V{1});
  Lanes<V> sizes{};
  for (std::int32_t d = 0; d < planes; ++d) sums[d] = Lanes<V>{};
  const auto sized = [&](std::ptrdiff_t at, const Lanes<V>& is_here) {
    return one & is_here & (lanes_at(in.position + at) < far);
  };
  for (std::int32_t k = 0; k < in.length; ++k) {
    const SecondEntry<V, kForm, kUnit> entry(in, k, kSide);
    for (std::int32_t d = 0; d < planes; ++d) entry.add(in, d, sums[d]);
    if constexpr (kLimits) sizes += sized(entry.at, entry.is_here);
  }
  for (std::int32_t d = 0; d < planes; ++d) sums[d] = before_lanes<V>(sums[d]);
  if constexpr (kLimits) sizes = before_lanes<V>(sizes);
  Lanes<V> limited = far, loose = far;
  V weight = 0;
  for (std::int32_t d = 0; d < planes && kForm == PlaneForm::labels; ++d)
    weight = static_cast<V>(weight + in.totals[d]);
  for (std::int32_t k = 0; k < in.length; ++k) {
    const SecondEntry<V, kForm, kUnit> entry(in, k, kSide);
    const Lanes<V> none = lanes_at(in.none + entry.at);
    Lanes<V> below{}, above{}, before{};
    std::int32_t output = 0, next = kForm == PlaneForm::outputs ? static_cast<std::int32_t>(in.rule.outputs[0]) : 0;
    for (std::int32_t d = 0; d < planes; ++d) {
      bool is_first = d == 0;
      if (kForm == PlaneForm::outputs && d == next) {
        is_first = true;
        before += below + above;
        next += static_cast<std::int32_t>(in.rule.outputs[++output]);
      }
      entry.add(in, d, sums[d]);
      const Lanes<V> beyond = all_lanes(in.totals[d]) - sums[d];
      below = is_first ? sums[d] : better<V, kForm>(below, sums[d]);
      above = is_first ? beyond : better<V, kForm>(above, beyond);
    }
    Lanes<V> cost = below + above;
    if constexpr (kForm == PlaneForm::labels) cost = all_lanes(weight) - cost;
    if constexpr (kForm == PlaneForm::outputs) cost += before;
    const Lanes<V> any = cost > none ? cost : none;
    loose = lesser<V>(any, loose);
    if constexpr (kLimits) {
      sizes += sized(entry.at, entry.is_here);
      const Lanes<V> least_size = all_lanes(in.min_leaf);
      const Lanes<V> small = (sizes < least_size) | (all_lanes(in.n_rows) - sizes < least_size);
      limited = lesser<V>((any & ~small) | (far & small), limited);
    }
  }
  SecondSplit<V> out;
  out.loose = least_lane<V>(loose);
  out.limited = kLimits ? least_lane<V>(limited) : out.loose;
  return out;
}

template <class V, PlaneForm kForm, bool kUnit, bool kLimits, int kPlanes>
SecondSplit<V> scan_planes(const SecondRows<V>& in, V* scratch) {
  return in.side == 0 ? scan_planes<V, kForm, kUnit, kLimits, kPlanes, 0>(in, scratch)
                      : scan_planes<V, kForm, kUnit, kLimits, kPlanes, 1>(in, scratch);
}

template <class V, PlaneForm kForm, bool kUnit = false>
SecondSplit<V> scan_form(const SecondRows<V>& in, V* scratch) {
  if (in.min_leaf > 1) return scan_planes<V, kForm, kUnit, true, 0>(in, scratch);
  switch (in.rule.n_planes) {
    case 2:
      return scan_planes<V, kForm, kUnit, false, 2>(in, scratch);
    case 3:
      return scan_planes<V, kForm, kUnit, false, 3>(in, scratch);
    case 4:
      return scan_planes<V, kForm, kUnit, false, 4>(in, scratch);
    case 5:
      return scan_planes<V, kForm, kUnit, false, 5>(in, scratch);
    case 6:
      return scan_planes<V, kForm, kUnit, false, 6>(in, scratch);
    case 7:
      return scan_planes<V, kForm, kUnit, false, 7>(in, scratch);
    default:
      return scan_planes<V, kForm, kUnit, false, 0>(in, scratch);
  }
}

// Sums w, and w y of every output, of the rows up to a threshold of each lane, on one side.  Few outputs stay in registers;
// kOutputs 0: any number.
template <int kOutputs>
struct SquareLines {
  Lanes<std::int64_t> own[kOutputs + 1] = {};
  SquareLines(const PlaneRule&, std::int64_t*) {}
  static constexpr int count() { return kOutputs + 1; }
  Lanes<std::int64_t>& line(int d) { return own[d]; }
};
template <>
struct SquareLines<0> {
  Lanes<std::int64_t>* sums;
  int n_sums;
  SquareLines(const PlaneRule& rule, std::int64_t* scratch)
      : sums(reinterpret_cast<Lanes<std::int64_t>*>(scratch)), n_sums(rule.n_outputs + 1) {
    for (int d = 0; d < n_sums; ++d) sums[d] = Lanes<std::int64_t>{};
  }
  int count() const { return n_sums; }
  Lanes<std::int64_t>& line(int d) { return sums[d]; }
};

template <int kOutputs>
struct SquareSums : SquareLines<kOutputs> {
  using V = std::int64_t;
  using SquareLines<kOutputs>::SquareLines, SquareLines<kOutputs>::count, SquareLines<kOutputs>::line;
  Lanes<V> size = {};

  // Adds the entries at a place of the rows whose position is on the side.
  [[gnu::always_inline]] void add(const SecondRows<V>& in, std::ptrdiff_t at, std::ptrdiff_t plane) {
    const Lanes<V> is_here = is_on_side(in, at, in.side) & (lanes_at(in.position + at) < all_lanes(kInfeasible<V>));
    for (int d = 0; d < count(); ++d) line(d) += lanes_at(in.values + d * plane + at) & is_here;
    size -= is_here;
  }
  // From the sums over whole lanes to those with which each lane begins.
  void begin() {
    for (int d = 0; d < count(); ++d) line(d) = before_lanes<V>(line(d));
    size = before_lanes<V>(size);
  }
  template <bool kNarrow>
  [[gnu::always_inline]] void costs(const SecondRows<V>& in, V* out) {
    const V* all = in.totals;
    V w[kLanes<V>], u[kLanes<V>];
    std::memcpy(w, &line(0), sizeof(w));
    for (int l = 0; l < kLanes<V>; ++l) out[l] = in.rule.scale * all[count()];
    for (int d = 1; d < count(); ++d) {
      const V scale = in.rule.outputs[d - 1];
      std::memcpy(u, &line(d), sizeof(u));
      for (int l = 0; l < kLanes<V>; ++l) {
        const V rest_w = all[0] - w[l], rest_u = all[d] - u[l];
        out[l] -= kNarrow ? narrow_saving(scale, u[l], w[l]) + narrow_saving(scale, rest_u, rest_w)
                          : wide_saving(scale, u[l], w[l]) + wide_saving(scale, rest_u, rest_w);
      }
    }
  }
};

template <bool kNarrow, int kOutputs>
SecondSplit<std::int64_t> scan_squares(const SecondRows<std::int64_t>& in, std::int64_t* scratch) {
  using V = std::int64_t;
  SecondSplit<V> out;
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(in.length) * kLanes<V>;
  SquareSums<kOutputs> below(in.rule, scratch);
  for (std::ptrdiff_t at = 0; at < plane; at += kLanes<V>) below.add(in, at, plane);
  below.begin();
  V loose[kLanes<V>], limited[kLanes<V>], cost[kLanes<V>];
  for (int l = 0; l < kLanes<V>; ++l) loose[l] = limited[l] = kInfeasible<V>;
  for (std::ptrdiff_t at = 0; at < plane; at += kLanes<V>) {
    below.add(in, at, plane);
    below.template costs<kNarrow>(in, cost);
    for (int l = 0; l < kLanes<V>; ++l) {
      const V any = in.none[at + l] == 0 ? cost[l] : kInfeasible<V>;
      loose[l] = least(loose[l], any);
      const bool is_small = below.size[l] < in.min_leaf || in.n_rows - below.size[l] < in.min_leaf;
      limited[l] = is_small ? limited[l] : least(limited[l], any);
    }
  }
  for (int l = 0; l < kLanes<V>; ++l) {
    out.loose = least(out.loose, loose[l]);
    out.limited = least(out.limited, limited[l]);
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
  if (in.rule.n_planes == 2 && in.min_leaf <= 1)
    return in.side == 0 ? scan_two_labels<V, 0>(in) : scan_two_labels<V, 1>(in);
  return in.values == nullptr ? scan_form<V, PlaneForm::labels, true>(in, scratch)
                              : scan_form<V, PlaneForm::labels>(in, scratch);
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
