// Leaf costs from a table, by gathers.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

// The entries at the places of all lanes; T is a vector of V, or V itself.
template <class V, class T>
inline T gather(const V* table, T places) {
  if constexpr (sizeof(T) == sizeof(V)) {
    return table[places];
#if defined(__AVX512BW__)
  } else if constexpr (sizeof(T) == 64 && sizeof(V) == 4) {
    return __builtin_bit_cast(T, _mm512_i32gather_epi32(__builtin_bit_cast(__m512i, places), table, 4));
  } else if constexpr (sizeof(T) == 64 && sizeof(V) == 8) {
    return __builtin_bit_cast(T, _mm512_i64gather_epi64(__builtin_bit_cast(__m512i, places), table, 8));
#endif
#if defined(__AVX2__)
  } else if constexpr (sizeof(T) == 32 && sizeof(V) == 4) {
    return __builtin_bit_cast(T, _mm256_i32gather_epi32(table, __builtin_bit_cast(__m256i, places), 4));
  } else if constexpr (sizeof(T) == 32 && sizeof(V) == 8) {
    const auto* entries = reinterpret_cast<const long long*>(table);
    return __builtin_bit_cast(T, _mm256_i64gather_epi64(entries, __builtin_bit_cast(__m256i, places), 8));
#endif
  } else {
    T out{};
    for (unsigned k = 0; k < sizeof(T) / sizeof(V); ++k) out[k] = table[places[k]];
    return out;
  }
}

// A number that is negative if one of the lanes is.
template <class V, class T>
inline V sign_of(T lanes) {
  if constexpr (sizeof(T) == sizeof(V)) {
    return lanes;
  } else if constexpr (sizeof(T) > 16) {
    Vector<V, sizeof(T) / 2> low, high;
    std::memcpy(&low, &lanes, sizeof(low));
    std::memcpy(&high, reinterpret_cast<const char*>(&lanes) + sizeof(low), sizeof(high));
    return sign_of<V>(static_cast<Vector<V, sizeof(T) / 2>>(low | high));
  } else {
    V out = 0;
    for (unsigned k = 0; k < sizeof(T) / sizeof(V); ++k) out |= lanes[k];
    return out;
  }
}

template <class V, class T, bool Difference>
inline void table_lanes(const TableInput<V>& in, std::int32_t i, const PairRow<V>& pairs, std::int32_t j, T& yes, T& no,
                        V& any) {
  T pair = load<T>(pairs.minuend + j);
  if constexpr (Difference) pair = pair - load<T>(pairs.subtrahend + j);
  const V held = in.columns[i], rest = in.total - held;
  const T rest_j = load<T>(in.columns + j) - pair;
  T both = ~gather<V, T>(in.inverted, pair), only_i = ~gather<V, T>(in.inverted, static_cast<T>(held - pair));
  T only_j = ~gather<V, T>(in.inverted, rest_j), neither = ~gather<V, T>(in.inverted, static_cast<T>(rest - rest_j));
  // An unknown cost is negative, and infeasible without its sign.
  const T signs = (both | only_i) | (only_j | neither);
  any |= sign_of<V>(signs);
  const T mask = T{} + kInfeasible<V>;
  both &= mask;
  only_i &= mask;
  only_j &= mask;
  neither &= mask;
  yes = lane_least(yes, static_cast<T>(both + only_i));
  no = lane_least(no, static_cast<T>(only_j + neither));
  const T yes_j = lane_least(load<T>(in.yes1 + j), static_cast<T>(both + only_j));
  const T no_j = lane_least(load<T>(in.no1 + j), static_cast<T>(only_i + neither));
  std::memcpy(in.yes1 + j, &yes_j, sizeof(T));
  std::memcpy(in.no1 + j, &no_j, sizeof(T));
}

template <class V, bool Difference>
inline bool table_of_row(const TableInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  V yes = kInfeasible<V>, no = kInfeasible<V>, any = 0;
  const auto lanes = [&]<class T>(std::int32_t j, T& yes_lanes, T& no_lanes) {
    table_lanes<V, T, Difference>(in, i, pairs, j, yes_lanes, no_lanes, any);
  };
  sweep<V>(lanes, i + 1, in.n_columns, yes, no);
  in.yes1[i] = least(in.yes1[i], yes);
  in.no1[i] = least(in.no1[i], no);
  return any >= 0;
}

template <class V>
bool table_of_pairs(const TableInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  return pairs.subtrahend != nullptr ? table_of_row<V, true>(in, i, pairs) : table_of_row<V, false>(in, i, pairs);
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
