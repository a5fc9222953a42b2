// Counting pairs of columns.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

// Counting.  `Lanes` columns at a time; accumulators take the planes of a type from the highest shift down (Horner).

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)

inline void store(std::int16_t* out, __m512i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi64_epi16(v));
}
inline void store(std::int32_t* out, __m512i v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi64_epi32(v));
}
inline void store(std::int64_t* out, __m512i v) { _mm512_storeu_si512(out, v); }

// R rows against 8 * J columns starting at j.
template <class V, int R, int J>
inline void count_tile(const BitColumns& c, std::int32_t first, std::int32_t j, V* out, std::size_t type_stride) {
  std::int32_t plane = 0;
  for (std::int32_t type = 0; type < c.n_types; ++type) {
    __m512i sum[R][J];
    for (int r = 0; r < R; ++r)
      for (int k = 0; k < J; ++k) sum[r][k] = _mm512_setzero_si512();
    std::int32_t shift = 0;
    for (; plane < c.n_planes && c.planes[plane].type == type; ++plane) {
      const Plane p = c.planes[plane];
      if (shift > p.shift) {
        for (int r = 0; r < R; ++r)
          for (int k = 0; k < J; ++k) sum[r][k] = _mm512_slli_epi64(sum[r][k], static_cast<unsigned>(shift - p.shift));
      }
      shift = p.shift;
      for (std::int32_t w = p.begin; w < p.end; ++w) {
        const Word* row = c.bits + static_cast<std::size_t>(w) * static_cast<std::size_t>(c.stride);
        __m512i columns[J];
        for (int k = 0; k < J; ++k) columns[k] = _mm512_loadu_si512(row + j + 8 * k);
        for (int r = 0; r < R; ++r) {
          const __m512i mine = _mm512_set1_epi64(static_cast<long long>(row[first + r]));
          for (int k = 0; k < J; ++k)
            sum[r][k] = _mm512_add_epi64(sum[r][k], _mm512_popcnt_epi64(_mm512_and_si512(columns[k], mine)));
        }
      }
    }
    V* target = out + static_cast<std::size_t>(type) * type_stride + j;
    for (int r = 0; r < R; ++r)
      for (int k = 0; k < J; ++k)
        store(target + static_cast<std::size_t>(r) * static_cast<std::size_t>(c.stride) + 8 * k,
              _mm512_slli_epi64(sum[r][k], static_cast<unsigned>(shift)));
  }
}

template <class V, int R>
inline void count_strip(const BitColumns& c, std::int32_t first, V* out, std::size_t type_stride) {
  std::int32_t j = first & ~7;
  for (; j + 16 <= c.stride && j + 8 < c.n_columns; j += 16) count_tile<V, R, 2>(c, first, j, out, type_stride);
  if (j < c.n_columns) count_tile<V, R, 1>(c, first, j, out, type_stride);
}

#elif defined(__AVX2__)

// Bytewise popcount by table look-up; bytes hold up to 31 words' worth before they are widened.
template <class V, int R>
inline void count_tile(const BitColumns& c, std::int32_t first, std::int32_t j, V* out, std::size_t type_stride) {
  constexpr int kLanes = 8;  // two vectors of four words
  const __m256i table =
      _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(15);
  std::int32_t plane = 0;
  for (std::int32_t type = 0; type < c.n_types; ++type) {
    __m256i sum[R][2];
    for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    std::int32_t shift = 0;
    for (; plane < c.n_planes && c.planes[plane].type == type; ++plane) {
      const Plane p = c.planes[plane];
      if (shift > p.shift) {
        for (int r = 0; r < R; ++r)
          for (int k = 0; k < 2; ++k) sum[r][k] = _mm256_slli_epi64(sum[r][k], shift - p.shift);
      }
      shift = p.shift;
      for (std::int32_t from = p.begin; from < p.end; from += 31) {
        const std::int32_t to = from + 31 < p.end ? from + 31 : p.end;
        __m256i bytes[R][2];
        for (int r = 0; r < R; ++r) bytes[r][0] = bytes[r][1] = _mm256_setzero_si256();
        for (std::int32_t w = from; w < to; ++w) {
          const Word* row = c.bits + static_cast<std::size_t>(w) * static_cast<std::size_t>(c.stride);
          for (int r = 0; r < R; ++r) {
            const __m256i mine = _mm256_set1_epi64x(static_cast<long long>(row[first + r]));
            for (int k = 0; k < 2; ++k) {
              const __m256i both =
                  _mm256_and_si256(mine, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + j + 4 * k)));
              const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(both, nibble));
              const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(both, 4), nibble));
              bytes[r][k] = _mm256_add_epi8(bytes[r][k], _mm256_add_epi8(low, high));
            }
          }
        }
        for (int r = 0; r < R; ++r)
          for (int k = 0; k < 2; ++k)
            sum[r][k] = _mm256_add_epi64(sum[r][k], _mm256_sad_epu8(bytes[r][k], _mm256_setzero_si256()));
      }
    }
    V* target = out + static_cast<std::size_t>(type) * type_stride + j;
    for (int r = 0; r < R; ++r) {
      alignas(32) std::int64_t lanes[kLanes];
      for (int k = 0; k < 2; ++k)
        _mm256_store_si256(reinterpret_cast<__m256i*>(lanes + 4 * k), _mm256_slli_epi64(sum[r][k], shift));
      for (int lane = 0; lane < kLanes; ++lane)
        target[static_cast<std::size_t>(r) * static_cast<std::size_t>(c.stride) + static_cast<std::size_t>(lane)] =
            static_cast<V>(lanes[lane]);
    }
  }
}

template <class V, int R>
inline void count_strip(const BitColumns& c, std::int32_t first, V* out, std::size_t type_stride) {
  // Two rows at a time: four would spill the sixteen registers.
  if constexpr (R > 2) {
    count_strip<V, 2>(c, first, out, type_stride);
    count_strip<V, R - 2>(c, first + 2, out + 2 * static_cast<std::size_t>(c.stride), type_stride);
  } else {
    for (std::int32_t j = first & ~7; j < c.n_columns; j += 8) count_tile<V, R>(c, first, j, out, type_stride);
  }
}

#else

template <class V, int R>
inline void count_strip(const BitColumns& c, std::int32_t first, V* out, std::size_t type_stride) {
  constexpr int kLanes = 8;
  for (int r = 0; r < R; ++r) {
    for (std::int32_t j = first & ~7; j < c.n_columns; j += kLanes) {
      std::int32_t plane = 0;
      for (std::int32_t type = 0; type < c.n_types; ++type) {
        std::int64_t sum[kLanes] = {};
        for (; plane < c.n_planes && c.planes[plane].type == type; ++plane) {
          const Plane p = c.planes[plane];
          std::int64_t here[kLanes] = {};
          for (std::int32_t w = p.begin; w < p.end; ++w) {
            const Word* row = c.bits + static_cast<std::size_t>(w) * static_cast<std::size_t>(c.stride);
            const Word mine = row[first + r];
            for (int lane = 0; lane < kLanes; ++lane) here[lane] += popcount(row[j + lane] & mine);
          }
          for (int lane = 0; lane < kLanes; ++lane) sum[lane] += here[lane] << p.shift;
        }
        V* target = out + static_cast<std::size_t>(type) * type_stride +
                    static_cast<std::size_t>(r) * static_cast<std::size_t>(c.stride) + j;
        for (int lane = 0; lane < kLanes; ++lane) target[lane] = static_cast<V>(sum[lane]);
      }
    }
  }
}

#endif

template <class V>
void count_rows(const BitColumns& c, std::int32_t first, std::int32_t last, V* out, std::size_t type_stride) {
  switch (last - first) {
    case 4:
      return count_strip<V, 4>(c, first, out, type_stride);
    case 3:
      return count_strip<V, 3>(c, first, out, type_stride);
    case 2:
      return count_strip<V, 2>(c, first, out, type_stride);
    default:
      return count_strip<V, 1>(c, first, out, type_stride);
  }
}

template <class V>
void count_columns(const BitColumns& c, V* out) {
  std::memset(out, 0, sizeof(V) * static_cast<std::size_t>(c.n_types) * static_cast<std::size_t>(c.stride));
  for (std::int32_t p = 0; p < c.n_planes; ++p) {
    const Plane plane = c.planes[p];
    V* target = out + static_cast<std::size_t>(plane.type) * static_cast<std::size_t>(c.stride);
    for (std::int32_t w = plane.begin; w < plane.end; ++w) {
      const Word* row = c.bits + static_cast<std::size_t>(w) * static_cast<std::size_t>(c.stride);
      for (std::int32_t j = 0; j < c.stride; ++j)
        target[j] = static_cast<V>(target[j] + static_cast<V>(static_cast<V>(popcount(row[j])) << plane.shift));
    }
  }
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
