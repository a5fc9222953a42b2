// Sums of vectors from the counts of row types.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

#if defined(__AVX512BW__) || defined(__AVX2__)

// Two types are one register: counts of 16 bits side by side for every column, so that one instruction multiplies both by
// their coefficients and adds the products.
#if defined(__AVX512BW__)

struct TypePair {
  static constexpr int kColumns = 16;
  __m512i all;
  void clear() { all = _mm512_setzero_si512(); }
  void set(const std::int16_t* first, const std::int16_t* second) {
    const auto read = [](const std::int16_t* from) {
      return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    };
    all = _mm512_or_si512(read(first), _mm512_slli_epi32(read(second), 16));
  }
  void add(const TypePair& counts, std::int32_t coefficients) {
    all = _mm512_add_epi32(all, _mm512_madd_epi16(counts.all, _mm512_set1_epi32(coefficients)));
  }
  template <bool Adds>
  void store(std::int32_t* out, std::int32_t factor) const {
    __m512i sums = factor == 1 ? all : _mm512_mullo_epi32(all, _mm512_set1_epi32(factor));
    if constexpr (Adds) sums = _mm512_add_epi32(sums, _mm512_loadu_si512(out));
    _mm512_storeu_si512(out, sums);
  }
  template <bool Adds>
  void store(std::int64_t* out, std::int64_t factor) const {
    const __m512i f = _mm512_set1_epi64(factor);
    for (int half = 0; half < 2; ++half) {
      const __m256i part = half == 0 ? _mm512_castsi512_si256(all) : _mm512_extracti64x4_epi64(all, 1);
      __m512i sums = _mm512_mul_epi32(_mm512_cvtepi32_epi64(part), f);
      if constexpr (Adds) sums = _mm512_add_epi64(sums, _mm512_loadu_si512(out + 8 * half));
      _mm512_storeu_si512(out + 8 * half, sums);
    }
  }
};

#else

struct TypePair {
  static constexpr int kColumns = 8;
  __m256i all;
  void clear() { all = _mm256_setzero_si256(); }
  void set(const std::int16_t* first, const std::int16_t* second) {
    const auto read = [](const std::int16_t* from) {
      return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    };
    all = _mm256_or_si256(read(first), _mm256_slli_epi32(read(second), 16));
  }
  void add(const TypePair& counts, std::int32_t coefficients) {
    all = _mm256_add_epi32(all, _mm256_madd_epi16(counts.all, _mm256_set1_epi32(coefficients)));
  }
  template <bool Adds>
  void store(std::int32_t* out, std::int32_t factor) const {
    __m256i* target = reinterpret_cast<__m256i*>(out);
    __m256i sums = factor == 1 ? all : _mm256_mullo_epi32(all, _mm256_set1_epi32(factor));
    if constexpr (Adds) sums = _mm256_add_epi32(sums, _mm256_loadu_si256(target));
    _mm256_storeu_si256(target, sums);
  }
  template <bool Adds>
  void store(std::int64_t* out, std::int64_t factor) const {
    const __m256i f = _mm256_set1_epi64x(factor);
    for (int half = 0; half < 2; ++half) {
      __m256i* target = reinterpret_cast<__m256i*>(out + 4 * half);
      const __m128i part = half == 0 ? _mm256_castsi256_si128(all) : _mm256_extracti128_si256(all, 1);
      __m256i sums = _mm256_mul_epi32(_mm256_cvtepi32_epi64(part), f);
      if constexpr (Adds) sums = _mm256_add_epi64(sums, _mm256_loadu_si256(target));
      _mm256_storeu_si256(target, sums);
    }
  }
};

#endif

// `Blocks` blocks of columns from j on: their sums stay in registers, their counts near by.
template <class V, int Blocks>
inline void add_type_tile(const TypeTerms<V>& in, const std::int16_t* counts, std::size_t type_stride, std::int32_t j,
                          std::int32_t n_terms, V* out, std::size_t stride) {
  TypePair pairs[kMostTypes / 2][Blocks];
  for (std::int32_t p = 0; p < in.n_pairs; ++p) {
    const std::int16_t* first = counts + static_cast<std::size_t>(in.type[2 * p]) * type_stride + j;
    const std::int16_t* second = counts + static_cast<std::size_t>(in.type[2 * p + 1]) * type_stride + j;
    for (int b = 0; b < Blocks; ++b) pairs[p][b].set(first + b * TypePair::kColumns, second + b * TypePair::kColumns);
  }
  for (std::int32_t term = 0; term < n_terms; ++term) {
    const std::int32_t* coefficients = in.coefficients + static_cast<std::size_t>(term) * in.n_pairs;
    TypePair sums[Blocks];
    for (TypePair& s : sums) s.clear();
    for (std::int32_t p = 0; p < in.n_pairs; ++p)
      for (int b = 0; b < Blocks; ++b) sums[b].add(pairs[p][b], coefficients[p]);
    const std::int32_t statistic = in.statistic[term];
    V* target = out + static_cast<std::size_t>(statistic) * stride + static_cast<std::size_t>(j);
    const bool adds = term > 0 && in.statistic[term - 1] == statistic;
    for (int b = 0; b < Blocks; ++b) {
      V* block = target + b * TypePair::kColumns;
      adds ? sums[b].template store<true>(block, in.factor[term])
           : sums[b].template store<false>(block, in.factor[term]);
    }
  }
}

template <class V>
void add_types(const TypeTerms<V>& in, const std::int16_t* counts, std::size_t type_stride, std::int32_t first,
               std::int32_t n_columns, std::int32_t n_terms, V* out, std::size_t stride) {
  constexpr std::int32_t width = TypePair::kColumns;
  std::int32_t j = first / width * width;
  for (; j + 3 * width < n_columns; j += 4 * width)
    add_type_tile<V, 4>(in, counts, type_stride, j, n_terms, out, stride);
  if (j + 2 * width < n_columns) return add_type_tile<V, 3>(in, counts, type_stride, j, n_terms, out, stride);
  if (j + width < n_columns) return add_type_tile<V, 2>(in, counts, type_stride, j, n_terms, out, stride);
  if (j < n_columns) add_type_tile<V, 1>(in, counts, type_stride, j, n_terms, out, stride);
}

#else

template <class V>
void add_types(const TypeTerms<V>& in, const std::int16_t* counts, std::size_t type_stride, std::int32_t first,
               std::int32_t n_columns, std::int32_t n_terms, V* out, std::size_t stride) {
  for (std::int32_t term = 0; term < n_terms; ++term) {
    const std::int32_t* coefficients = in.coefficients + static_cast<std::size_t>(term) * in.n_pairs;
    const std::int32_t statistic = in.statistic[term];
    V* target = out + static_cast<std::size_t>(statistic) * stride;
    const bool adds = term > 0 && in.statistic[term - 1] == statistic;
    for (std::int32_t j = first; j < n_columns; ++j) {
      std::int32_t sum = 0;
      for (std::int32_t p = 0; p < in.n_pairs; ++p) {
        const auto mine = static_cast<std::size_t>(in.type[2 * p]) * type_stride + static_cast<std::size_t>(j);
        const auto other = static_cast<std::size_t>(in.type[2 * p + 1]) * type_stride + static_cast<std::size_t>(j);
        sum += static_cast<std::int16_t>(coefficients[p] & 0xffff) * counts[mine];
        sum += (coefficients[p] >> 16) * counts[other];
      }
      target[j] = (adds ? target[j] : V{0}) + in.factor[term] * sum;
    }
  }
}

#endif

// The same for counts and vectors of any size: `values` has the vectors, `value_stride` apart.
template <class V>
void add_wide_types(const V* counts, std::size_t type_stride, std::int32_t n_types, const V* values,
                    std::int32_t value_stride, std::int32_t first, std::int32_t n_columns, std::int32_t n_statistics,
                    V* out, std::size_t stride) {
  for (std::int32_t s = 0; s < n_statistics; ++s) {
    V* target = out + static_cast<std::size_t>(s) * stride;
    for (std::int32_t j = first; j < n_columns; ++j) target[j] = 0;
    for (std::int32_t t = 0; t < n_types; ++t) {
      const V value = values[t * value_stride + s];
      const V* mine = counts + static_cast<std::size_t>(t) * type_stride;
      if (value == 0) continue;
      for (std::int32_t j = first; j < n_columns; ++j) target[j] += value * mine[j];
    }
  }
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
