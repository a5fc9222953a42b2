// The kernels: counting pairs of columns, evaluating depth-two trees from the counts, compacting columns on descent.
// Of a task they only know the form of a leaf's cost.  Every kernel exists once in source (kernels_impl.hpp)
// and is compiled once per instruction set (kernels_baseline.cpp, kernels_avx2.cpp, kernels_avx512.cpp) and per value
// width; `kernels_for` picks at run time, so one wheel runs everywhere.
//
// Layout: columns are stored word-major, bits[w * stride + column].  A kernel that pairs column i with all others then
// broadcasts one word and streams the rest: the lanes of a vector register are different columns, there is no
// horizontal sum, and the same loop is efficient for 2 words as for 200.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"

namespace certree {

// Rows of one type whose weight has bit `shift` set: the words [begin, end) of each column.  A row of weight 5 stands in
// the planes 0 and 2 of its type, so weighted counting is popcounting, whatever the integer weights.
struct Plane {
  std::int32_t type = 0;
  std::int32_t shift = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t rows = 0;  // set bits are among the first `rows` of these words
};

struct BitColumns {
  const Word* bits = nullptr;
  std::int32_t stride = 0;  // in words and in counts: a multiple of 8
  std::int32_t n_columns = 0;
  const Plane* planes = nullptr;  // by type, then by falling shift
  std::int32_t n_planes = 0;
  std::int32_t n_types = 0;
};

// How a leaf's cost follows from its weighted counts per row type.
enum class LeafForm : std::uint8_t {
  binary_unit,      // two types: min(n0, n1)
  weighted_labels,  // one label per type: sum of w[t] n[t] less the largest of them (accuracy with class weights)
  matrix,           // min over labels of sum over types of cost[t][label] n[t]
};

template <class V>
struct LeafRule {
  LeafForm form = LeafForm::binary_unit;
  std::int32_t n_types = 2;  // types that carry cost
  std::int32_t n_labels = 2;
  const V* weight = nullptr;      // weighted_labels: per type
  const V* matrix = nullptr;      // matrix: [type][label]
  bool has_unit_weights = false;  // weighted_labels: every weight is 1
  V min_leaf = 1;                 // rows; compared with the count type below, or with the sum over types
  std::int32_t count_type = -1;   // the extra type that counts rows, -1: types are unweighted rows themselves
};

// Costs at or above this are infeasible.  Two of them can be added without overflow.
template <class V>
inline constexpr V kInfeasible = static_cast<V>((V{1} << (8 * sizeof(V) - 2)) - 1);

// One node (or one child, as a difference) whose pairs are being evaluated.
template <class V>
struct PairInput {
  LeafRule<V> rule;
  std::int32_t n_columns = 0;
  std::int32_t stride = 0;
  const V* totals = nullptr;   // [type]
  const V* columns = nullptr;  // [type][stride]: counts of rows where the column holds
  V* yes1 = nullptr;           // [stride]: least cost of one split where the column holds / does not hold
  V* no1 = nullptr;
};

// Row i of the pair counts, as minuend - subtrahend (subtrahend may be null): [type] rows, `type_stride` apart.
template <class V>
struct PairRow {
  const V* minuend = nullptr;
  std::size_t minuend_type_stride = 0;
  const V* subtrahend = nullptr;
  std::size_t subtrahend_type_stride = 0;
};

// Least cost with exactly 1, 2 and 3 splits of depth at most two.
template <class V>
struct SplitCosts {
  V one, two, three;
};

template <class V>
struct Kernels {
  // Pair counts of columns [first, last) with columns [first & ~7, n_columns):
  // out[type * type_stride + (i - first) * stride + j].  At most four rows a call.
  void (*count_rows)(const BitColumns&, std::int32_t first, std::int32_t last, V* out, std::size_t type_stride);
  // Rows where each column holds, by type: out[type * stride + j].
  void (*count_columns)(const BitColumns&, V* out);
  // Leaf costs of both sides of every column; kInfeasible where a side has fewer than min_leaf (or no) rows.
  void (*leaf_costs)(const PairInput<V>&, V* yes0, V* no0);
  // Folds the pairs (i, j), j > i, into yes1 and no1 of i and of j.
  void (*evaluate_row)(const PairInput<V>&, std::int32_t i, const PairRow<V>&);
  SplitCosts<V> (*summarise)(std::int32_t n_columns, const V* yes0, const V* no0, const V* yes1, const V* no1);
  V (*leaf_cost)(const LeafRule<V>&, const V* counts, std::int32_t* label);
};

struct BitKernels {
  // Keeps, in each plane, the rows of `mask`; writes the planes of the result.  Returns its number of words.
  std::int32_t (*extract)(const BitColumns&, const Word* mask, Word* out, Plane* out_planes);
  // Hash of every column up to complement; `varies` is zero exactly for constant columns.
  void (*hash_columns)(const BitColumns&, const Word* valid, std::int32_t n_words, std::uint64_t* hash, Word* varies);
  // Bit b of out[w * stride]: bins[64 w + b] is at most `edge`.
  void (*pack)(const std::uint8_t* bins, std::int32_t n_rows, std::uint8_t edge, std::int32_t stride, Word* out);
};

enum class Isa : std::uint8_t { baseline, avx2, avx512 };

bool isa_is_available(Isa);
Isa best_isa();
template <class V>
const Kernels<V>& kernels_for(Isa);
const BitKernels& bit_kernels_for(Isa);

}  // namespace certree
