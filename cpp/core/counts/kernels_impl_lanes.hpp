// The common forms of leaf cost without a minimum leaf size, in explicit vectors of 64, 32 and 16 bytes.  A
// row's last vector overlaps the one before it: a minimum taken twice does no harm, and no lane is wasted on a tail.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

template <class V, int Bytes>
struct VectorOf {
  typedef V type __attribute__((vector_size(Bytes)));
};
template <class V, int Bytes>
using Vector = typename VectorOf<V, Bytes>::type;

template <class T, class V>
inline T load(const V* from) {
  T v;
  std::memcpy(&v, from, sizeof(T));
  return v;
}

template <class T>
inline T lane_least(T a, T b) {
  return a < b ? a : b;
}

template <class T>
inline T lane_largest(T a, T b) {
  return a > b ? a : b;
}

template <class V, int Bytes>
inline V least_lane(Vector<V, Bytes> v) {
  if constexpr (Bytes > 16) {
    Vector<V, Bytes / 2> low, high;
    std::memcpy(&low, &v, Bytes / 2);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + Bytes / 2, Bytes / 2);
    return least_lane<V, Bytes / 2>(lane_least(low, high));
  } else {
#if defined(__SSE4_1__)
    // Costs are not negative, so the unsigned minimum is the minimum.
    if constexpr (sizeof(V) == 2) {
      __m128i lanes;
      std::memcpy(&lanes, &v, 16);
      return static_cast<V>(_mm_extract_epi16(_mm_minpos_epu16(lanes), 0));
    }
#endif
    V best = v[0];
    for (int k = 1; k < Bytes / static_cast<int>(sizeof(V)); ++k) best = least(best, static_cast<V>(v[k]));
    return best;
  }
}

#if defined(__AVX512BW__)
constexpr int kWidest = 64;
#elif defined(__AVX2__)
constexpr int kWidest = 32;
#else
constexpr int kWidest = 16;
#endif

// Applies `lanes(j, yes, no)` to the columns [begin, end) in the widest vectors that fit; returns the least of both.
template <class V, int Bytes, class Lanes>
inline void sweep_vectors(Lanes lanes, std::int32_t j, std::int32_t end, V& yes, V& no) {
  using T = Vector<V, Bytes>;
  constexpr std::int32_t width = Bytes / static_cast<int>(sizeof(V));
  T yes_lanes = T{} + kInfeasible<V>, no_lanes = T{} + kInfeasible<V>;
  for (; j + width <= end; j += width) lanes(j, yes_lanes, no_lanes);
  if (j < end) lanes(end - width, yes_lanes, no_lanes);
  yes = least(yes, least_lane<V, Bytes>(yes_lanes));
  no = least(no, least_lane<V, Bytes>(no_lanes));
}

template <class V, class Lanes>
inline void sweep(Lanes lanes, std::int32_t begin, std::int32_t end, V& yes, V& no) {
  constexpr std::int32_t per16 = 16 / static_cast<int>(sizeof(V));
  const std::int32_t count = end - begin;
  if (kWidest >= 64 && count >= 4 * per16) {
    sweep_vectors<V, kWidest>(lanes, begin, end, yes, no);
  } else if (kWidest >= 32 && count >= 2 * per16) {
    sweep_vectors<V, kWidest >= 32 ? 32 : 16>(lanes, begin, end, yes, no);
  } else if (count >= per16) {
    sweep_vectors<V, 16>(lanes, begin, end, yes, no);
  } else {
    for (std::int32_t j = begin; j < end; ++j) lanes(j, yes, no);
  }
}

// Two types, unit costs: a cell costs the smaller of its two counts.
template <class V>
struct UnitRow {
  const V *p_column, *q_column, *p_pair, *q_pair, *p_less, *q_less;
  V *yes1, *no1;
  V p_i, q_i, p_rest, q_rest;
};

// T is a vector of V, or V itself for a single column.
template <class V, class T, bool Difference>
inline void evaluate_lanes(const UnitRow<V>& r, std::int32_t j, T& yes, T& no) {
  T p_both = load<T>(r.p_pair + j), q_both = load<T>(r.q_pair + j);
  if constexpr (Difference) {
    p_both = static_cast<T>(p_both - load<T>(r.p_less + j));
    q_both = static_cast<T>(q_both - load<T>(r.q_less + j));
  }
  const T p_only_j = static_cast<T>(load<T>(r.p_column + j) - p_both);
  const T q_only_j = static_cast<T>(load<T>(r.q_column + j) - q_both);
  const T both = lane_least(p_both, q_both);
  const T only_i = lane_least(static_cast<T>(r.p_i - p_both), static_cast<T>(r.q_i - q_both));
  const T only_j = lane_least(p_only_j, q_only_j);
  const T neither = lane_least(static_cast<T>(r.p_rest - p_only_j), static_cast<T>(r.q_rest - q_only_j));
  yes = lane_least(yes, static_cast<T>(both + only_i));
  no = lane_least(no, static_cast<T>(only_j + neither));
  const T yes_j = lane_least(load<T>(r.yes1 + j), static_cast<T>(both + only_j));
  const T no_j = lane_least(load<T>(r.no1 + j), static_cast<T>(only_i + neither));
  std::memcpy(r.yes1 + j, &yes_j, sizeof(T));
  std::memcpy(r.no1 + j, &no_j, sizeof(T));
}

template <class V, bool Difference>
inline void evaluate_binary_unit(const PairInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  UnitRow<V> r;
  r.p_column = in.columns;
  r.q_column = in.columns + in.stride;
  r.p_pair = pairs.minuend;
  r.q_pair = pairs.minuend + pairs.minuend_type_stride;
  r.p_less = pairs.subtrahend;
  r.q_less = pairs.subtrahend + pairs.subtrahend_type_stride;
  r.yes1 = in.yes1;
  r.no1 = in.no1;
  r.p_i = r.p_column[i];
  r.q_i = r.q_column[i];
  r.p_rest = static_cast<V>(in.totals[0] - r.p_i);
  r.q_rest = static_cast<V>(in.totals[1] - r.q_i);
  V yes = kInfeasible<V>, no = kInfeasible<V>;
  const auto lanes = [&r]<class T>(std::int32_t j, T& yes_lanes, T& no_lanes) {
    evaluate_lanes<V, T, Difference>(r, j, yes_lanes, no_lanes);
  };
  sweep<V>(lanes, i + 1, in.n_columns, yes, no);
  in.yes1[i] = least(in.yes1[i], yes);
  in.no1[i] = least(in.no1[i], no);
}

// Any number of types, one label each: a cell costs the sum of its weighted counts less the largest of them.
template <class V, class T, bool Difference, bool Unit>
inline void evaluate_label_lanes(const PairInput<V>& in, std::int32_t i, const PairRow<V>& pairs, std::int32_t j,
                                 T& yes, T& no) {
  T sum_both{}, sum_i{}, sum_j{}, sum_neither{};
  T top_both{}, top_i{}, top_j{}, top_neither{};
  for (std::int32_t type = 0; type < in.rule.n_types; ++type) {
    const auto t = static_cast<std::size_t>(type);
    const V* column = in.columns + t * static_cast<std::size_t>(in.stride);
    T both = load<T>(pairs.minuend + t * pairs.minuend_type_stride + j);
    if constexpr (Difference)
      both = static_cast<T>(both - load<T>(pairs.subtrahend + t * pairs.subtrahend_type_stride + j));
    const V with_i = column[i], rest = static_cast<V>(in.totals[type] - with_i);
    T only_i = static_cast<T>(with_i - both);
    T only_j = static_cast<T>(load<T>(column + j) - both);
    T neither = static_cast<T>(rest - only_j);
    if constexpr (!Unit) {
      const V w = in.rule.weight[type];
      both = static_cast<T>(both * w);
      only_i = static_cast<T>(only_i * w);
      only_j = static_cast<T>(only_j * w);
      neither = static_cast<T>(neither * w);
    }
    sum_both = static_cast<T>(sum_both + both);
    sum_i = static_cast<T>(sum_i + only_i);
    sum_j = static_cast<T>(sum_j + only_j);
    sum_neither = static_cast<T>(sum_neither + neither);
    top_both = lane_largest(top_both, both);
    top_i = lane_largest(top_i, only_i);
    top_j = lane_largest(top_j, only_j);
    top_neither = lane_largest(top_neither, neither);
  }
  const T both = static_cast<T>(sum_both - top_both), only_i = static_cast<T>(sum_i - top_i);
  const T only_j = static_cast<T>(sum_j - top_j), neither = static_cast<T>(sum_neither - top_neither);
  yes = lane_least(yes, static_cast<T>(both + only_i));
  no = lane_least(no, static_cast<T>(only_j + neither));
  const T yes_j = lane_least(load<T>(in.yes1 + j), static_cast<T>(both + only_j));
  const T no_j = lane_least(load<T>(in.no1 + j), static_cast<T>(only_i + neither));
  std::memcpy(in.yes1 + j, &yes_j, sizeof(T));
  std::memcpy(in.no1 + j, &no_j, sizeof(T));
}

template <class V, bool Difference, bool Unit>
inline void evaluate_labels(const PairInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  V yes = kInfeasible<V>, no = kInfeasible<V>;
  const auto lanes = [&]<class T>(std::int32_t j, T& yes_lanes, T& no_lanes) {
    evaluate_label_lanes<V, T, Difference, Unit>(in, i, pairs, j, yes_lanes, no_lanes);
  };
  sweep<V>(lanes, i + 1, in.n_columns, yes, no);
  in.yes1[i] = least(in.yes1[i], yes);
  in.no1[i] = least(in.no1[i], no);
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
