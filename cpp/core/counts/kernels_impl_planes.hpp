// Sums of vectors by counting the rows that have the same one.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

template <class V>
void plane_totals(const PlaneRows<V>& in, std::int32_t n_statistics, V* totals) {
  for (std::int32_t p = 0; p < in.n_planes; ++p) {
    V rows = 0;
    for (std::int32_t k = in.begin[p]; k < in.begin[p + 1]; ++k) rows += static_cast<V>(popcount(in.mask[k]));
    for (std::int32_t s = 0; s < n_statistics; ++s) totals[s] += rows * in.values[in.plane[p] * in.value_stride + s];
  }
}

// Appends the rows that are set in word(w) for all w; gives the end of the list.
template <class WordAt>
inline std::int32_t list_rows(std::int32_t n_words, WordAt word, std::int32_t* list, std::int32_t count) {
  for (std::int32_t w = 0; w < n_words; ++w) {
    Word rest = word(w);
#if defined(__AVX512BW__)
    __m512i place = _mm512_add_epi32(_mm512_set1_epi32(w * kWordBits),
                                     _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (; rest != 0; rest >>= 16) {
      const auto part = static_cast<__mmask16>(rest);
      _mm512_storeu_si512(list + count, _mm512_maskz_compress_epi32(part, place));
      count += popcount(part);
      place = _mm512_add_epi32(place, _mm512_set1_epi32(16));
    }
#else
    for (; rest != 0; rest &= rest - 1) list[count++] = w * kWordBits + __builtin_ctzll(rest);
#endif
  }
  return count;
}

PairBase list_change(const Word* bits, const Word* before, const Word* among, std::int32_t n_words,
                     std::int32_t n_among, std::int32_t* list, RowChange& change) {
  const bool knows_before = before != nullptr;
  if (!knows_before) before = bits;
  std::int64_t held = 0, different = 0;
  for (std::int32_t w = 0; w < n_words; ++w) {
    held += popcount(bits[w] & among[w]);
    different += popcount((bits[w] ^ before[w]) & among[w]);
  }
  change = {list, 0, 0};
  if (knows_before && different < held && different < n_among - held) {
    const auto added = [&](std::int32_t w) { return bits[w] & ~before[w] & among[w]; };
    const auto taken = [&](std::int32_t w) { return before[w] & ~bits[w] & among[w]; };
    change.n_added = list_rows(n_words, added, list, 0);
    change.n = change.n_added == different ? change.n_added : list_rows(n_words, taken, list, change.n_added);
    return PairBase::previous;
  }
  if (2 * held <= n_among) {
    change.n_added = change.n = list_rows(n_words, [&](std::int32_t w) { return bits[w] & among[w]; }, list, 0);
    return PairBase::nothing;
  }
  change.n = list_rows(n_words, [&](std::int32_t w) { return ~bits[w] & among[w]; }, list, 0);
  return PairBase::columns;
}

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)

// Sums of one statistic in eight columns; `add` takes the rows of a plane in each of them, and what a row adds.
template <class V>
struct PlaneSums;

template <>
struct PlaneSums<std::int32_t> {
  __m256i all;
  void clear() { all = _mm256_setzero_si256(); }
  template <bool Small>
  void add(__m512i rows, std::int32_t value) {
    all = _mm256_add_epi32(all, _mm256_mullo_epi32(_mm512_cvtepi64_epi32(rows), _mm256_set1_epi32(value)));
  }
  void store(std::int32_t* out) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), all); }
};

template <>
struct PlaneSums<std::int64_t> {
  __m512i all;
  void clear() { all = _mm512_setzero_si512(); }
  template <bool Small>
  void add(__m512i rows, std::int64_t value) {
    const __m512i v = _mm512_set1_epi64(value);
    all = _mm512_add_epi64(all, Small ? _mm512_mul_epi32(rows, v) : _mm512_mullo_epi64(rows, v));
  }
  void store(std::int64_t* out) const { _mm512_storeu_si512(out, all); }
};

// `Blocks` blocks of eight columns and `Statistics` statistics: all their sums stay in registers.
template <class V, int Blocks, int Statistics, bool Small>
inline void add_plane_tile(const PlaneRows<V>& in, std::int32_t j, std::int32_t statistic, V* out, std::size_t stride) {
  PlaneSums<V> sums[Blocks][Statistics];
  for (auto& of_block : sums)
    for (PlaneSums<V>& s : of_block) s.clear();
  for (std::int32_t p = 0; p < in.n_planes; ++p) {
    __m512i rows[Blocks];
    for (__m512i& r : rows) r = _mm512_setzero_si512();
    std::int32_t k = in.begin[p];
    do {
      const Word* row = in.bits + static_cast<std::size_t>(in.word[k]) * static_cast<std::size_t>(in.stride) + j;
      const __m512i mine = _mm512_set1_epi64(static_cast<long long>(in.mask[k]));
      for (int b = 0; b < Blocks; ++b)
        rows[b] =
            _mm512_add_epi64(rows[b], _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(row + 8 * b), mine)));
    } while (++k < in.begin[p + 1]);
    const V* values = in.values + in.plane[p] * in.value_stride + statistic;
    for (int s = 0; s < Statistics; ++s)
      for (int b = 0; b < Blocks; ++b) sums[b][s].template add<Small>(rows[b], values[s]);
  }
  for (int b = 0; b < Blocks; ++b)
    for (int s = 0; s < Statistics; ++s)
      sums[b][s].store(out + static_cast<std::size_t>(statistic + s) * stride + static_cast<std::size_t>(j + 8 * b));
}

template <class V, int Statistics, bool Small>
inline void add_plane_strip(const PlaneRows<V>& in, std::int32_t first, std::int32_t statistic, V* out,
                            std::size_t stride) {
  std::int32_t j = first & ~7;
  for (; j + 24 < in.n_columns; j += 32) add_plane_tile<V, 4, Statistics, Small>(in, j, statistic, out, stride);
  if (j + 16 < in.n_columns) return add_plane_tile<V, 3, Statistics, Small>(in, j, statistic, out, stride);
  if (j + 8 < in.n_columns) return add_plane_tile<V, 2, Statistics, Small>(in, j, statistic, out, stride);
  if (j < in.n_columns) add_plane_tile<V, 1, Statistics, Small>(in, j, statistic, out, stride);
}

template <class V, bool Small>
inline void add_plane_strips(const PlaneRows<V>& in, std::int32_t first, std::int32_t n_statistics, V* out,
                             std::size_t stride) {
  std::int32_t statistic = 0;
  for (; statistic + 4 <= n_statistics; statistic += 4) add_plane_strip<V, 4, Small>(in, first, statistic, out, stride);
  switch (n_statistics - statistic) {
    case 3:
      return add_plane_strip<V, 3, Small>(in, first, statistic, out, stride);
    case 2:
      return add_plane_strip<V, 2, Small>(in, first, statistic, out, stride);
    case 1:
      return add_plane_strip<V, 1, Small>(in, first, statistic, out, stride);
    default:
      return;
  }
}

template <class V>
void add_planes(const PlaneRows<V>& in, std::int32_t first, std::int32_t n_statistics, V* out, std::size_t stride) {
  return sizeof(V) == 8 && in.has_small_values ? add_plane_strips<V, true>(in, first, n_statistics, out, stride)
                                               : add_plane_strips<V, false>(in, first, n_statistics, out, stride);
}

template <class V>
constexpr auto kAddPlanes = &add_planes<V>;

#else

// Without an instruction that counts bits in vectors, rows are added one by one.
template <class V>
constexpr decltype(VectorKernels<V>::add_planes) kAddPlanes = nullptr;

#endif

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
