// Sums of a vector per row, and leaf costs of such sums.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

#if defined(__AVX512BW__) || defined(__AVX2__)

#if defined(__AVX512BW__)

// A block is 16 columns: one register of 32-bit sums, two of 64-bit sums.
template <class V>
struct Sums;

template <>
struct Sums<std::int32_t> {
  __m512i all;
  void clear() { all = _mm512_setzero_si512(); }
  void load(const std::int32_t* from) { all = _mm512_loadu_si512(from); }
  void add(std::uint16_t holds, std::int32_t value) {
    all = _mm512_mask_add_epi32(all, holds, all, _mm512_set1_epi32(value));
  }
  void store(std::int32_t* out) const { _mm512_storeu_si512(out, all); }
};

template <>
struct Sums<std::int64_t> {
  __m512i low, high;
  void clear() { low = high = _mm512_setzero_si512(); }
  void load(const std::int64_t* from) {
    low = _mm512_loadu_si512(from);
    high = _mm512_loadu_si512(from + 8);
  }
  void add(std::uint16_t holds, std::int64_t value) {
    const __m512i v = _mm512_set1_epi64(value);
    low = _mm512_mask_add_epi64(low, static_cast<__mmask8>(holds), low, v);
    high = _mm512_mask_add_epi64(high, static_cast<__mmask8>(holds >> 8), high, v);
  }
  void store(std::int64_t* out) const {
    _mm512_storeu_si512(out, low);
    _mm512_storeu_si512(out + 8, high);
  }
};

#else

template <class V>
struct Sums;

template <>
struct Sums<std::int32_t> {
  __m256i part[2];
  void clear() { part[0] = part[1] = _mm256_setzero_si256(); }
  void load(const std::int32_t* from) {
    for (int k = 0; k < 2; ++k) part[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 8 * k));
  }
  void add(std::uint16_t holds, std::int32_t value) {
    const __m256i v = _mm256_set1_epi32(value);
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (int k = 0; k < 2; ++k) {
      const __m256i set = _mm256_and_si256(_mm256_set1_epi32(holds >> (8 * k)), bit);
      part[k] = _mm256_add_epi32(part[k], _mm256_and_si256(_mm256_cmpeq_epi32(set, bit), v));
    }
  }
  void store(std::int32_t* out) const {
    for (int k = 0; k < 2; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * k), part[k]);
  }
};

template <>
struct Sums<std::int64_t> {
  __m256i part[4];
  void clear() {
    for (__m256i& p : part) p = _mm256_setzero_si256();
  }
  void load(const std::int64_t* from) {
    for (int k = 0; k < 4; ++k) part[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 4 * k));
  }
  void add(std::uint16_t holds, std::int64_t value) {
    const __m256i v = _mm256_set1_epi64x(value);
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    for (int k = 0; k < 4; ++k) {
      const __m256i set = _mm256_and_si256(_mm256_set1_epi64x(holds >> (4 * k)), bit);
      part[k] = _mm256_add_epi64(part[k], _mm256_and_si256(_mm256_cmpeq_epi64(set, bit), v));
    }
  }
  void store(std::int64_t* out) const {
    for (int k = 0; k < 4; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 4 * k), part[k]);
  }
};

#endif

// `Blocks` blocks of columns from `block` on and `Statistics` statistics: all their sums stay in registers.
template <class V, int Blocks, int Statistics>
inline void add_tile(const VectorRows<V>& rows, const RowChange& change, std::int32_t block, std::int32_t statistic,
                     const V* known, V* out, std::size_t stride) {
  const auto place = [&](int b, int s) {
    return static_cast<std::size_t>(statistic + s) * stride + static_cast<std::size_t>(block + b) * 16;
  };
  Sums<V> sums[Blocks][Statistics];
  for (int b = 0; b < Blocks; ++b)
    for (int s = 0; s < Statistics; ++s) known != nullptr ? sums[b][s].load(known + place(b, s)) : sums[b][s].clear();
  const auto visit = [&](std::int32_t begin, std::int32_t end, V sign) {
    for (std::int32_t k = begin; k < end; ++k) {
      const auto row = static_cast<std::size_t>(change.rows[k]);
      const char* holds = reinterpret_cast<const char*>(rows.holds + row * static_cast<std::size_t>(rows.words));
      const V* values = rows.values + row * static_cast<std::size_t>(rows.value_stride) + statistic;
      for (int b = 0; b < Blocks; ++b) {
        std::uint16_t of_block;
        std::memcpy(&of_block, holds + 2 * (block + b), 2);
        for (int s = 0; s < Statistics; ++s) sums[b][s].add(of_block, static_cast<V>(sign * values[s]));
      }
    }
  };
  visit(0, change.n_added, V{1});
  visit(change.n_added, change.n, V{-1});
  for (int b = 0; b < Blocks; ++b)
    for (int s = 0; s < Statistics; ++s) sums[b][s].store(out + place(b, s));
}

template <class V, int Statistics>
inline void add_strip(const VectorRows<V>& rows, const RowChange& change, std::int32_t first, std::int32_t statistic,
                      const V* known, V* out, std::size_t stride) {
  const std::int32_t n_blocks = (rows.n_columns + 15) / 16;
  std::int32_t block = first / 16;
  for (; block + 4 <= n_blocks; block += 4)
    add_tile<V, 4, Statistics>(rows, change, block, statistic, known, out, stride);
  switch (n_blocks - block) {
    case 3:
      return add_tile<V, 3, Statistics>(rows, change, block, statistic, known, out, stride);
    case 2:
      return add_tile<V, 2, Statistics>(rows, change, block, statistic, known, out, stride);
    case 1:
      return add_tile<V, 1, Statistics>(rows, change, block, statistic, known, out, stride);
    default:
      return;
  }
}

template <class V>
void add_rows(const VectorRows<V>& rows, const RowChange& change, std::int32_t first, std::int32_t n_statistics,
              const V* known, V* out, std::size_t stride) {
  std::int32_t statistic = 0;
  for (; statistic + 4 <= n_statistics; statistic += 4)
    add_strip<V, 4>(rows, change, first, statistic, known, out, stride);
  switch (n_statistics - statistic) {
    case 3:
      return add_strip<V, 3>(rows, change, first, statistic, known, out, stride);
    case 2:
      return add_strip<V, 2>(rows, change, first, statistic, known, out, stride);
    case 1:
      return add_strip<V, 1>(rows, change, first, statistic, known, out, stride);
    default:
      return;
  }
}

#else

// Without masks: column by column of those that hold.
template <class V>
void add_rows(const VectorRows<V>& rows, const RowChange& change, std::int32_t first, std::int32_t n_statistics,
              const V* known, V* out, std::size_t stride) {
  const std::int32_t begin = first & ~15;
  for (std::int32_t s = 0; s < n_statistics; ++s)
    for (std::int32_t j = begin; j < ((rows.n_columns + 15) & ~15); ++j) {
      const std::size_t place = static_cast<std::size_t>(s) * stride + static_cast<std::size_t>(j);
      out[place] = known != nullptr ? known[place] : V{0};
    }
  for (std::int32_t k = 0; k < change.n; ++k) {
    const auto row = static_cast<std::size_t>(change.rows[k]);
    const V sign = k < change.n_added ? V{1} : V{-1};
    const Word* holds = rows.holds + row * static_cast<std::size_t>(rows.words);
    const V* values = rows.values + row * static_cast<std::size_t>(rows.value_stride);
    for (std::int32_t w = begin / kWordBits; w < rows.words; ++w) {
      Word rest = holds[w];
      if (w * kWordBits < begin) rest &= ~Word{0} << (begin - w * kWordBits);
      for (; rest != 0; rest &= rest - 1) {
        const std::size_t j = static_cast<std::size_t>(w) * kWordBits + static_cast<std::size_t>(__builtin_ctzll(rest));
        for (std::int32_t s = 0; s < n_statistics; ++s)
          out[static_cast<std::size_t>(s) * stride + j] += static_cast<V>(sign * values[s]);
      }
    }
  }
}

#endif

// Products of prices and weights: numbers of 64 bits that are less than 2^31 have products from one instruction.
template <class V, bool Small, class T>
inline T times(T price, T weight) {
#if defined(__AVX512BW__)
  if constexpr (Small && sizeof(V) == 8 && sizeof(T) == 64)
    return __builtin_bit_cast(
        T, _mm512_mul_epu32(__builtin_bit_cast(__m512i, price), __builtin_bit_cast(__m512i, weight)));
#endif
#if defined(__AVX2__)
  if constexpr (Small && sizeof(V) == 8 && sizeof(T) == 32)
    return __builtin_bit_cast(
        T, _mm256_mul_epu32(__builtin_bit_cast(__m256i, price), __builtin_bit_cast(__m256i, weight)));
#endif
  return price * weight;
}

enum class Prices { none, any, small };

// T is a vector of V, or V itself for a single column.  A cell is the sums of the rows where i and j do or do not hold.
// Several: the minima of several outputs are added.
template <class V, class T, bool Difference, Prices Priced, bool Several>
[[gnu::always_inline]] inline void least_lanes(const VectorInput<V>& in, std::int32_t i, const PairRow<V>& pairs,
                                               std::int32_t j, T& yes, T& no) {
  T both{}, only_i{}, only_j{}, neither{};
  const auto visit = [&](std::int32_t statistic, auto use) {
    const auto s = static_cast<std::size_t>(statistic);
    const V* column = in.columns + s * static_cast<std::size_t>(in.stride);
    T pair = load<T>(pairs.minuend + s * pairs.minuend_type_stride + j);
    if constexpr (Difference) pair = pair - load<T>(pairs.subtrahend + s * pairs.subtrahend_type_stride + j);
    const T rest_j = load<T>(column + j) - pair;
    use(pair, static_cast<T>(column[i] - pair), rest_j, static_cast<T>((in.totals[s] - column[i]) - rest_j));
  };
  const std::int32_t n_outputs = Several ? in.n_outputs : 1;
  std::int32_t begin = 0;
  for (std::int32_t output = 0; output < n_outputs; ++output) {
    const std::int32_t end = Several ? begin + static_cast<std::int32_t>(in.outputs[output]) : in.n_costs;
    T least_both{}, least_i{}, least_j{}, least_neither{};
    visit(begin, [&](T a, T b, T c, T d) { least_both = a, least_i = b, least_j = c, least_neither = d; });
    for (std::int32_t s = begin + 1; s < end; ++s)
      visit(s, [&](T a, T b, T c, T d) {
        least_both = lane_least(least_both, a);
        least_i = lane_least(least_i, b);
        least_j = lane_least(least_j, c);
        least_neither = lane_least(least_neither, d);
      });
    both = both + least_both;
    only_i = only_i + least_i;
    only_j = only_j + least_j;
    neither = neither + least_neither;
    begin = end;
  }
  if (in.count_statistic >= 0)
    visit(in.count_statistic, [&](T a, T b, T c, T d) {
      const T most = T{} + in.min_leaf, infeasible = T{} + kInfeasible<V>;
      both = a < most ? infeasible : both;
      only_i = b < most ? infeasible : only_i;
      only_j = c < most ? infeasible : only_j;
      neither = d < most ? infeasible : neither;
    });
  T yes_i = both + only_i, no_i = only_j + neither, yes_j = both + only_j, no_j = only_i + neither;
  if constexpr (Priced != Prices::none) {
    constexpr bool small = Priced == Prices::small;
    const V* weight = in.columns + static_cast<std::size_t>(in.weight_statistic) * static_cast<std::size_t>(in.stride);
    const V all = in.totals[in.weight_statistic];
    const T after = load<T>(in.after + j), before = load<T>(in.before + j), held = load<T>(weight + j);
    const T most = T{} + kInfeasible<V>;
    const T mine = T{} + weight[i], others = T{} + static_cast<V>(all - weight[i]);
    yes_i = lane_least(yes_i, most) + times<V, small>(after, mine);
    no_i = lane_least(no_i, most) + times<V, small>(after, others);
    yes_j = lane_least(yes_j, most) + times<V, small>(before, held);
    no_j = lane_least(no_j, most) + times<V, small>(before, static_cast<T>(all - held));
  }
  yes = lane_least(yes, yes_i);
  no = lane_least(no, no_i);
  yes_j = lane_least(load<T>(in.yes1 + j), yes_j);
  no_j = lane_least(load<T>(in.no1 + j), no_j);
  std::memcpy(in.yes1 + j, &yes_j, sizeof(T));
  std::memcpy(in.no1 + j, &no_j, sizeof(T));
}

template <class V, bool Difference, Prices Priced, bool Several = false>
inline void least_of_row(const VectorInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  V yes = kInfeasible<V>, no = kInfeasible<V>;
  const auto lanes = [&]<class T>(std::int32_t j, T& yes_lanes, T& no_lanes) {
    least_lanes<V, T, Difference, Priced, Several>(in, i, pairs, j, yes_lanes, no_lanes);
  };
  sweep<V>(lanes, i + 1, in.n_columns, yes, no);
  in.yes1[i] = least(in.yes1[i], yes);
  in.no1[i] = least(in.no1[i], no);
}

template <class V>
void least_of_pairs(const VectorInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  const bool is_difference = pairs.subtrahend != nullptr;
  if (in.n_outputs > 1)
    return is_difference ? least_of_row<V, true, Prices::none, true>(in, i, pairs)
                         : least_of_row<V, false, Prices::none, true>(in, i, pairs);
  if (in.after == nullptr)
    return is_difference ? least_of_row<V, true, Prices::none>(in, i, pairs)
                         : least_of_row<V, false, Prices::none>(in, i, pairs);
  if (in.has_small_prices)
    return is_difference ? least_of_row<V, true, Prices::small>(in, i, pairs)
                         : least_of_row<V, false, Prices::small>(in, i, pairs);
  return is_difference ? least_of_row<V, true, Prices::any>(in, i, pairs)
                       : least_of_row<V, false, Prices::any>(in, i, pairs);
}

// The same for several outputs, whose minima are added.
template <class V>
void least_sums_of_sides(const VectorInput<V>& in, V* yes0, V* no0) {
  for (std::int32_t j = 0; j < in.n_columns; ++j) yes0[j] = no0[j] = 0;
  std::int32_t s = 0;
  for (std::int32_t output = 0; output < in.n_outputs; ++output) {
    const std::int32_t end = s + static_cast<std::int32_t>(in.outputs[output]);
    for (std::int32_t j = 0; j < in.n_columns; ++j) {
      V yes = kInfeasible<V>, no = kInfeasible<V>;
      for (std::int32_t k = s; k < end; ++k) {
        const V held = in.columns[static_cast<std::ptrdiff_t>(k) * in.stride + j];
        yes = least(yes, held);
        no = least(no, static_cast<V>(in.totals[k] - held));
      }
      yes0[j] = static_cast<V>(yes0[j] + yes);
      no0[j] = static_cast<V>(no0[j] + no);
    }
    s = end;
  }
}

template <class V>
void least_of_sides(const VectorInput<V>& in, V* yes0, V* no0) {
  const auto stride = static_cast<std::size_t>(in.stride);
  if (in.n_outputs > 1) return least_sums_of_sides(in, yes0, no0);
  for (std::int32_t j = 0; j < in.n_columns; ++j) {
    yes0[j] = in.columns[j];
    no0[j] = in.totals[0] - in.columns[j];
  }
  for (std::int32_t s = 1; s < in.n_costs; ++s) {
    const V* column = in.columns + static_cast<std::size_t>(s) * stride;
    const V total = in.totals[s];
    for (std::int32_t j = 0; j < in.n_columns; ++j) {
      yes0[j] = least(yes0[j], column[j]);
      no0[j] = least(no0[j], static_cast<V>(total - column[j]));
    }
  }
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
