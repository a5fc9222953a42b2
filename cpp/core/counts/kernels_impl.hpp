// Source of the kernels, included by one translation unit per instruction set with CERTREE_ISA defined to the name of
// its namespace.  Everything here has internal linkage and calls no function template of another header: a template
// instantiated with AVX-512 flags must never be the copy that the linker keeps for the baseline.
#include <cstring>

#include "counts/kernels.hpp"
#if defined(__AVX2__)
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns about its own _mm512_undefined_epi32.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace certree {
namespace CERTREE_ISA {
namespace {

template <class V>
inline V least(V a, V b) {
  return b < a ? b : a;
}

inline int popcount(Word w) { return __builtin_popcountll(w); }

// ---------------------------------------------------------------------------------------------------------------------
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

// ---------------------------------------------------------------------------------------------------------------------
// Leaf costs of cells.  `Block` cells at a time on the stack, so that every form is a plain vectorised loop.

constexpr int kBlock = 64;

template <class V>
struct Cells {
  // The four intersections of "i holds / not" with "j holds / not", for a block of j.
  V both[kBlock], only_i[kBlock], only_j[kBlock], neither[kBlock];
};

// Counts of one type in the four cells.
template <class V>
inline void cell_counts(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count, std::int32_t type,
                        const PairRow<V>& pairs, Cells<V>& n) {
  const auto t = static_cast<std::size_t>(type);
  const V* column = in.columns + t * static_cast<std::size_t>(in.stride);
  const V* a = pairs.minuend + t * pairs.minuend_type_stride + j;
  const V with_i = column[i];
  const V without_i = static_cast<V>(in.totals[type] - with_i);
  if (pairs.subtrahend != nullptr) {
    const V* b = pairs.subtrahend + t * pairs.subtrahend_type_stride + j;
    for (int k = 0; k < count; ++k) n.both[k] = static_cast<V>(a[k] - b[k]);
  } else {
    for (int k = 0; k < count; ++k) n.both[k] = a[k];
  }
  for (int k = 0; k < count; ++k) {
    n.only_i[k] = static_cast<V>(with_i - n.both[k]);
    n.only_j[k] = static_cast<V>(column[j + k] - n.both[k]);
    n.neither[k] = static_cast<V>(without_i - n.only_j[k]);
  }
}

template <class V>
inline void add_cells(V* sum, const V* n, V factor, int count) {
  for (int k = 0; k < count; ++k) sum[k] = static_cast<V>(sum[k] + factor * n[k]);
}

template <class V>
inline void keep_larger(V* largest, const V* n, V factor, int count) {
  for (int k = 0; k < count; ++k) {
    const V value = static_cast<V>(factor * n[k]);
    largest[k] = value > largest[k] ? value : largest[k];
  }
}

template <class V>
inline void fill_cells(Cells<V>& cells, V value) {
  for (int k = 0; k < kBlock; ++k) cells.both[k] = cells.only_i[k] = cells.only_j[k] = cells.neither[k] = value;
}

template <class V, class Operation>
inline void for_each_cell(Cells<V>& target, const Cells<V>& source, Operation operation) {
  operation(target.both, source.both);
  operation(target.only_i, source.only_i);
  operation(target.only_j, source.only_j);
  operation(target.neither, source.neither);
}

// Sum of w[t] n[t] less the largest term.
template <class V>
inline void weighted_label_costs(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count,
                                 const PairRow<V>& pairs, Cells<V>& cost) {
  Cells<V> n, largest;
  fill_cells(cost, V{0});
  fill_cells(largest, V{0});
  for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
    const V w = in.rule.weight[t];
    cell_counts(in, i, j, count, t, pairs, n);
    for_each_cell(cost, n, [&](V* sum, const V* cell) { add_cells(sum, cell, w, count); });
    for_each_cell(largest, n, [&](V* top, const V* cell) { keep_larger(top, cell, w, count); });
  }
  for_each_cell(cost, largest, [&](V* sum, const V* top) { add_cells(sum, top, static_cast<V>(-1), count); });
}

template <class V>
inline void matrix_costs(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count, const PairRow<V>& pairs,
                         Cells<V>& cost) {
  Cells<V> n, sum;
  fill_cells(cost, kInfeasible<V>);
  for (std::int32_t label = 0; label < in.rule.n_labels; ++label) {
    fill_cells(sum, V{0});
    for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
      const V w = in.rule.matrix[t * in.rule.n_labels + label];
      if (w == 0) continue;
      cell_counts(in, i, j, count, t, pairs, n);
      for_each_cell(sum, n, [&](V* target, const V* cell) { add_cells(target, cell, w, count); });
    }
    for_each_cell(cost, sum, [&](V* target, const V* cell) {
      for (int k = 0; k < count; ++k) target[k] = least(target[k], cell[k]);
    });
  }
}

template <class V>
inline void forbid_small_leaves(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count,
                                const PairRow<V>& pairs, Cells<V>& cost) {
  Cells<V> rows;
  if (in.rule.count_type >= 0) {
    cell_counts(in, i, j, count, in.rule.count_type, pairs, rows);
  } else {
    Cells<V> n;
    fill_cells(rows, V{0});
    for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
      cell_counts(in, i, j, count, t, pairs, n);
      for_each_cell(rows, n, [&](V* sum, const V* cell) { add_cells(sum, cell, V{1}, count); });
    }
  }
  const V min_leaf = in.rule.min_leaf;
  for_each_cell(cost, rows, [&](V* target, const V* cell) {
    for (int k = 0; k < count; ++k) target[k] = cell[k] < min_leaf ? kInfeasible<V> : target[k];
  });
}

// yes1[i], no1[i] and, for the block, yes1[j], no1[j] from the costs of the four cells.
template <class V>
inline void fold_cells(const PairInput<V>& in, std::int32_t i, std::int32_t j, int count, const Cells<V>& cost) {
  V yes = in.yes1[i], no = in.no1[i];
  for (int k = 0; k < count; ++k) {
    yes = least(yes, static_cast<V>(cost.both[k] + cost.only_i[k]));
    no = least(no, static_cast<V>(cost.only_j[k] + cost.neither[k]));
    in.yes1[j + k] = least(in.yes1[j + k], static_cast<V>(cost.both[k] + cost.only_j[k]));
    in.no1[j + k] = least(in.no1[j + k], static_cast<V>(cost.only_i[k] + cost.neither[k]));
  }
  in.yes1[i] = yes;
  in.no1[i] = no;
}

// ---------------------------------------------------------------------------------------------------------------------
// The common case, two types and unit costs without a minimum leaf size, in explicit vectors of 64, 32 and 16 bytes.
// A row's last vector overlaps the one before it: taking a minimum twice does no harm, and no lane is wasted on a tail.

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

template <class V>
struct UnitRow {
  const V *p_column, *q_column, *p_pair, *q_pair, *p_less, *q_less;
  V *yes1, *no1;
  V p_i, q_i, p_rest, q_rest;
};

// Columns [j, end) in vectors of `Bytes`, at least one vector of them; T is V itself for a single column.
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

template <class V, int Bytes, bool Difference>
inline void evaluate_vectors(const UnitRow<V>& r, std::int32_t j, std::int32_t end, V& yes, V& no) {
  using T = Vector<V, Bytes>;
  constexpr std::int32_t lanes = Bytes / static_cast<int>(sizeof(V));
  T yes_lanes = T{} + kInfeasible<V>, no_lanes = T{} + kInfeasible<V>;
  for (; j + lanes <= end; j += lanes) evaluate_lanes<V, T, Difference>(r, j, yes_lanes, no_lanes);
  if (j < end) evaluate_lanes<V, T, Difference>(r, end - lanes, yes_lanes, no_lanes);
  yes = least(yes, least_lane<V, Bytes>(yes_lanes));
  no = least(no, least_lane<V, Bytes>(no_lanes));
}

#if defined(__AVX512BW__)
constexpr int kWidest = 64;
#elif defined(__AVX2__)
constexpr int kWidest = 32;
#else
constexpr int kWidest = 16;
#endif

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
  const std::int32_t begin = i + 1, end = in.n_columns, count = end - begin;
  constexpr std::int32_t per16 = 16 / static_cast<int>(sizeof(V));
  if (kWidest >= 64 && count >= 4 * per16) {
    evaluate_vectors<V, kWidest, Difference>(r, begin, end, yes, no);
  } else if (kWidest >= 32 && count >= 2 * per16) {
    evaluate_vectors<V, kWidest >= 32 ? 32 : 16, Difference>(r, begin, end, yes, no);
  } else if (count >= per16) {
    evaluate_vectors<V, 16, Difference>(r, begin, end, yes, no);
  } else {
    for (std::int32_t j = begin; j < end; ++j) evaluate_lanes<V, V, Difference>(r, j, yes, no);
  }
  in.yes1[i] = least(in.yes1[i], yes);
  in.no1[i] = least(in.no1[i], no);
}

template <class V>
void evaluate_row(const PairInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  if (in.rule.form == LeafForm::binary_unit && in.rule.min_leaf <= 1) {
    if (pairs.subtrahend != nullptr) return evaluate_binary_unit<V, true>(in, i, pairs);
    return evaluate_binary_unit<V, false>(in, i, pairs);
  }
  Cells<V> cost;
  for (std::int32_t j = i + 1; j < in.n_columns; j += kBlock) {
    const int count = in.n_columns - j < kBlock ? in.n_columns - j : kBlock;
    if (in.rule.form == LeafForm::matrix) {
      matrix_costs(in, i, j, count, pairs, cost);
    } else {
      weighted_label_costs(in, i, j, count, pairs, cost);
    }
    if (in.rule.min_leaf > 1) forbid_small_leaves(in, i, j, count, pairs, cost);
    fold_cells(in, i, j, count, cost);
  }
}

// Cost and best label of a leaf whose count of type t is `count(t)`.
template <class V, class Count>
inline V cost_of_leaf(const LeafRule<V>& rule, Count count, std::int32_t* label) {
  V best = kInfeasible<V>;
  std::int32_t best_label = 0;
  if (rule.form == LeafForm::matrix) {
    for (std::int32_t l = 0; l < rule.n_labels; ++l) {
      V cost = 0;
      for (std::int32_t t = 0; t < rule.n_types; ++t)
        cost = static_cast<V>(cost + rule.matrix[t * rule.n_labels + l] * count(t));
      if (cost < best) best = cost, best_label = l;
    }
  } else {
    V sum = 0, top = -1;
    for (std::int32_t t = 0; t < rule.n_types; ++t) {
      const V term = static_cast<V>((rule.weight != nullptr ? rule.weight[t] : V{1}) * count(t));
      sum = static_cast<V>(sum + term);
      if (term > top) top = term, best_label = t;
    }
    best = static_cast<V>(sum - top);
  }
  if (label != nullptr) *label = best_label;
  return best;
}

template <class V>
V leaf_cost(const LeafRule<V>& rule, const V* counts, std::int32_t* label) {
  return cost_of_leaf(rule, [=](std::int32_t t) { return counts[t]; }, label);
}

template <class V>
inline void leaf_costs_binary_unit(const PairInput<V>& in, V* yes0, V* no0) {
  const V* p = in.columns;
  const V* q = in.columns + in.stride;
  const V p_all = in.totals[0], q_all = in.totals[1], min_leaf = in.rule.min_leaf;
  const V all = static_cast<V>(p_all + q_all);
  for (std::int32_t j = 0; j < in.n_columns; ++j) {
    const V rows = static_cast<V>(p[j] + q[j]);
    const bool feasible = rows >= min_leaf && static_cast<V>(all - rows) >= min_leaf;
    yes0[j] = feasible ? least(p[j], q[j]) : kInfeasible<V>;
    no0[j] = feasible ? least(static_cast<V>(p_all - p[j]), static_cast<V>(q_all - q[j])) : kInfeasible<V>;
  }
}

template <class V>
void leaf_costs(const PairInput<V>& in, V* yes0, V* no0) {
  if (in.rule.form == LeafForm::binary_unit && in.rule.count_type < 0) return leaf_costs_binary_unit(in, yes0, no0);
  for (std::int32_t j = 0; j < in.n_columns; ++j) {
    const auto yes = [&](std::int32_t t) { return in.columns[t * static_cast<std::ptrdiff_t>(in.stride) + j]; };
    const auto no = [&](std::int32_t t) { return static_cast<V>(in.totals[t] - yes(t)); };
    V yes_rows = 0, no_rows = 0;
    if (in.rule.count_type >= 0) {
      yes_rows = yes(in.rule.count_type);
      no_rows = no(in.rule.count_type);
    } else {
      for (std::int32_t t = 0; t < in.rule.n_types; ++t) {
        yes_rows = static_cast<V>(yes_rows + yes(t));
        no_rows = static_cast<V>(no_rows + no(t));
      }
    }
    const bool feasible = yes_rows >= in.rule.min_leaf && no_rows >= in.rule.min_leaf;
    yes0[j] = feasible ? cost_of_leaf(in.rule, yes, nullptr) : kInfeasible<V>;
    no0[j] = feasible ? cost_of_leaf(in.rule, no, nullptr) : kInfeasible<V>;
  }
}

template <class V>
SplitCosts<V> summarise(std::int32_t n_columns, const V* yes0, const V* no0, const V* yes1, const V* no1) {
  V one = kInfeasible<V>, two = kInfeasible<V>, three = kInfeasible<V>;
  for (std::int32_t j = 0; j < n_columns; ++j) {
    // yes0 is infeasible when the column itself may not be used here; so is every tree below it.
    const V barrier = yes0[j] >= kInfeasible<V> ? kInfeasible<V> : V{0};
    one = least(one, static_cast<V>(yes0[j] + no0[j]));
    two = least(two, static_cast<V>(least(static_cast<V>(yes1[j]), kInfeasible<V>) + no0[j]));
    two = least(two, static_cast<V>(yes0[j] + no1[j]));
    const V deep = static_cast<V>(yes1[j] + no1[j]);
    three = least(three, deep > barrier ? deep : barrier);
  }
  return {one, two, three};
}

// ---------------------------------------------------------------------------------------------------------------------
// Compaction.

#if defined(__BMI2__)

inline void extract_word(const Word* in, Word mask, std::int32_t stride, int offset, int count, Word* out) {
  if (offset == 0) {
    for (std::int32_t j = 0; j < stride; ++j) out[j] = _pext_u64(in[j], mask);
  } else if (offset + count <= kWordBits) {
    for (std::int32_t j = 0; j < stride; ++j) out[j] |= _pext_u64(in[j], mask) << offset;
  } else {
    for (std::int32_t j = 0; j < stride; ++j) {
      const Word kept = _pext_u64(in[j], mask);
      out[j] |= kept << offset;
      out[j + stride] = kept >> (kWordBits - offset);
    }
  }
}

#else

// Parallel-suffix compression (Warren, Hacker's Delight, 7-4): the six move masks depend on `mask` alone, so they are
// computed once per word and applied to all columns by a loop that any vector unit can run.
inline void extract_word(const Word* in, Word mask, std::int32_t stride, int offset, int count, Word* out) {
  Word moves[6];
  Word m = mask;
  Word to_right = ~m << 1;
  for (int step = 0; step < 6; ++step) {
    Word parity = to_right;
    for (int s = 1; s < kWordBits; s *= 2) parity ^= parity << s;
    moves[step] = parity & m;
    m = (m ^ moves[step]) | (moves[step] >> (1 << step));
    to_right &= ~parity;
  }
  for (std::int32_t j = 0; j < stride; ++j) {
    Word kept = in[j] & mask;
    for (int step = 0; step < 6; ++step) {
      const Word moved = kept & moves[step];
      kept = (kept ^ moved) | (moved >> (1 << step));
    }
    if (offset == 0) {
      out[j] = kept;
    } else {
      out[j] |= kept << offset;
      if (offset + count > kWordBits) out[j + stride] = kept >> (kWordBits - offset);
    }
  }
}

#endif

std::int32_t extract(const BitColumns& c, const Word* mask, Word* out, Plane* out_planes) {
  const auto stride = static_cast<std::size_t>(c.stride);
  std::int32_t next = 0;
  for (std::int32_t p = 0; p < c.n_planes; ++p) {
    const Plane plane = c.planes[p];
    std::int64_t filled = 0;
    for (std::int32_t w = plane.begin; w < plane.end; ++w) {
      const int count = popcount(mask[w]);
      if (count == 0) continue;
      const Word* in = c.bits + static_cast<std::size_t>(w) * stride;
      Word* target = out + (static_cast<std::size_t>(next) + static_cast<std::size_t>(filled / kWordBits)) * stride;
      const int offset = static_cast<int>(filled % kWordBits);
      if (count == kWordBits && offset == 0) {
        std::memcpy(target, in, stride * sizeof(Word));
      } else {
        extract_word(in, mask[w], c.stride, offset, count, target);
      }
      filled += count;
    }
    const auto words = static_cast<std::int32_t>((filled + kWordBits - 1) / kWordBits);
    out_planes[p] = Plane{plane.type, plane.shift, next, next + words, static_cast<std::int32_t>(filled)};
    next += words;
  }
  return next;
}

void hash_columns(const BitColumns& c, const Word* valid, std::int32_t n_words, std::uint64_t* hash, Word* varies) {
  // A column and its complement make the same split: read every column so that its first row is 0.
  for (std::int32_t j = 0; j < c.stride; ++j) hash[j] = varies[j] = 0;
  for (std::int32_t w = 0; w < n_words; ++w) {
    const Word* row = c.bits + static_cast<std::size_t>(w) * static_cast<std::size_t>(c.stride);
    const Word full = valid[w];
    for (std::int32_t j = 0; j < c.stride; ++j) {
      const Word flip = Word{0} - (c.bits[j] & 1);
      const Word bits = (row[j] ^ flip) & full;
      const std::uint64_t h = (hash[j] ^ bits) * 0x9e3779b97f4a7c15ULL;
      hash[j] = h ^ (h >> 29);
      varies[j] |= bits;
    }
  }
}

}  // namespace

template <class V>
constexpr Kernels<V> table() {
  return {&count_rows<V>, &count_columns<V>, &leaf_costs<V>, &evaluate_row<V>, &summarise<V>, &leaf_cost<V>};
}

extern const Kernels<std::int16_t> kernels16;
extern const Kernels<std::int32_t> kernels32;
extern const Kernels<std::int64_t> kernels64;
extern const BitKernels bit_kernels;
const Kernels<std::int16_t> kernels16 = table<std::int16_t>();
const Kernels<std::int32_t> kernels32 = table<std::int32_t>();
const Kernels<std::int64_t> kernels64 = table<std::int64_t>();
const BitKernels bit_kernels = {&extract, &hash_columns};

}  // namespace CERTREE_ISA
}  // namespace certree
