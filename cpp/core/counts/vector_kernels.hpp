// Kernels for sums of a vector per row: where counts are popcounts, these are masked additions.
//
// Rows are stored row by row, as the set of columns that hold and the row's vector.  To pair column i with all others the
// rows where i holds are listed, and every one adds its vector to the sums of the columns that hold in it: the lanes of a
// vector register are different columns, the row's set is the mask, and sums stay in registers while the list streams by.
// The cost is the number of rows in the list, not of all rows, so the shortest list is taken: the rows where i holds; those where
// it does not, taken from the sums of all; or those in which i differs from the column before it, whose pairs are known.  With
// cut points of one feature as columns, each row is then in one list of the feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/bits.hpp"
#include "base/rates.hpp"
#include "counts/kernels.hpp"

namespace certree {

template <class V>
struct VectorRows {
  const Word* holds = nullptr;  // [row][words]: the columns that hold
  std::int32_t words = 0;       // per row, for n_columns columns
  const V* values = nullptr;    // [row][value_stride]
  std::int32_t value_stride = 0;
  std::int32_t n_columns = 0;
};

// Rows that change known sums: the first `n_added` of them are added, the others are taken away.
struct RowChange {
  const std::int32_t* rows = nullptr;
  std::int32_t n_added = 0;
  std::int32_t n = 0;
};

// Which sums of pairs a list of rows changes: none, those of all rows with every column, those of the column before.
enum class PairBase : std::uint8_t { nothing, columns, previous };

// Rows by the vector that they have: words word[k] of the node's columns, with the rows mask[k] of plane[p] for k from
// begin[p] to begin[p + 1], which is greater.
template <class V>
struct PlaneRows {
  const Word* bits = nullptr;  // [word][stride]: the rows where each column holds
  std::int32_t stride = 0;     // a multiple of 8
  std::int32_t n_columns = 0;
  std::int32_t n_planes = 0;  // with rows
  const std::int32_t* plane = nullptr;
  const std::int32_t* begin = nullptr;
  const std::int32_t* word = nullptr;
  const Word* mask = nullptr;
  const V* values = nullptr;  // [plane][value_stride]
  std::int32_t value_stride = 0;
  bool has_small_values = false;  // within 32 bits
};

// The vectors of row types in products of 16 bits: statistic s is the sum over its terms of factor * (sum over types of
// coefficient * count).
template <class V>
struct TypeTerms {
  std::int32_t n_pairs = 0;            // of types
  const std::int32_t* type = nullptr;  // [2 n_pairs]
  const std::int32_t* coefficients =
      nullptr;                              // [term][n_pairs]: of the first type in the low half, of the second above
  const std::int32_t* statistic = nullptr;  // [term]: ascending
  const V* factor = nullptr;                // [term]: less than 2^31
};

inline constexpr std::int32_t kMostTypes = 64;

// One set of rows whose pairs are being evaluated: the node itself, or one child.
template <class V>
struct VectorInput {
  std::int32_t n_columns = 0;
  std::int32_t stride = 0;
  std::int32_t n_costs = 0;           // the first statistics: cost of each label
  std::int32_t count_statistic = -1;  // the statistic that counts rows, -1: leaves may have any size
  V min_leaf = 1;
  const V* totals = nullptr;   // [statistic]
  const V* columns = nullptr;  // [statistic][stride]: sums of the rows where the column holds
  V* yes1 = nullptr;           // [stride]: least cost of one split where the column holds / does not hold
  V* no1 = nullptr;
  // Where tests have prices: what j costs below i, and i below j, per unit of the statistic that weighs rows.
  const V* after = nullptr;
  const V* before = nullptr;
  std::int32_t weight_statistic = -1;
  bool has_small_prices = false;  // prices and the weight of all rows are less than 2^31
  // Several outputs, without prices: how many of the costs are of each.
  const std::int64_t* outputs = nullptr;
  std::int32_t n_outputs = 1;
};

// The same for squared errors: statistic 0 is the weight w, those after it are the weighted targets u of all outputs, and what
// a leaf saves by its means is the sum of all ceil(scale u^2 / w).  The rest of its cost does not depend on the tree.  So it is
// with rates, of w events in the exposure u.
template <class V>
struct SavingInput {
  std::int32_t n_columns = 0;
  std::int32_t stride = 0;
  std::int32_t count_statistic = -1;
  V min_leaf = 1;
  const std::int64_t* scales = nullptr;  // [output]
  std::int32_t n_outputs = 1;
  const RateLoss* rates = nullptr;  // null: squares
  bool is_narrow = true;            // scale w^2 < 2^52 and |u| < 2^50 for all sums: doubles will do
  const V* totals = nullptr;
  const V* columns = nullptr;
  std::int64_t* yes1 = nullptr;  // the most that one split saves; kNoSaving: none is feasible
  std::int64_t* no1 = nullptr;
  // What a rough estimate must exceed for a split to save more than that; null: everything is computed exactly.  As many as
  // there are lanes, infinite beyond the columns.
  double* yes_bar = nullptr;
  double* no_bar = nullptr;
  float* yes_rough = nullptr;  // the same as yes1 and no1, estimated: what `most_saved` is for
  float* no_rough = nullptr;
};

// Estimates are in single precision, of u^2 / w for squares, and of w log2(w / u) for rates.  Those of two leaves with the sums w1
// and w2 are off by less than this part of themselves, or of w1 + w2.  docs/theory/vector-statistics.md
inline constexpr double kRoughSquare = 0x1p-20;
inline constexpr double kRoughRate = 0x1p-15;

// The most that two leaves with the sum w in both save, by their estimate.
template <class V>
std::int64_t most_saved(const SavingInput<V>& in, float rough, V w) {
  const double events = in.rates != nullptr ? static_cast<double>(w) : 0;
  const double most = in.rates != nullptr ? (rough + events * (kRoughRate - in.rates->log_ratio)) / in.rates->per_gain
                                          : rough * (1 + kRoughSquare) * static_cast<double>(in.scales[0]);
  return static_cast<std::int64_t>(most) + 3;
}

// The same for costs from a table: the only statistic is the place in it.
template <class V>
struct TableInput {
  std::int32_t n_columns = 0;
  V total = 0;
  const V* columns = nullptr;
  const V* inverted = nullptr;  // [place]: costs, all bits inverted; 0 (a cost of -1): not known yet
  V* yes1 = nullptr;
  V* no1 = nullptr;
};

// The same for losses around quantiles, in 32-bit integers, or in doubles that hold every number exactly.
template <class V>
using TargetLane = std::conditional_t<sizeof(V) == 4, std::int32_t, double>;

// More than any loss; a few of them can be added.
template <class A>
inline constexpr A kNoTarget = sizeof(A) == 4 ? (1 << 30) - 1 : static_cast<A>(std::int64_t{1} << 60);

// A row: its target, from the least one of all rows, what it moves the slope of the loss by, weight * (above + below), and
// weight * target.
template <class A>
struct TargetRow {
  A target = 0;
  A weight = 0;
  A sum = 0;
};

// Rows of a node in ascending order of their targets.
template <class A>
struct TargetRows {
  const Word* holds = nullptr;  // [row][words]: the columns that hold
  std::int32_t words = 0;
  const TargetRow<A>* rows = nullptr;
  A above = 1;   // what a unit of weight pays for a unit that its target is above the value of its leaf
  A slopes = 2;  // above + below
};

// Sums of a list before a chunk of it.
template <class A>
struct TargetChunk {
  A passed = 0;
  A sum = 0;
};

// Some of the rows, in chunks of equal size; one more chunk has the sums of all.
template <class A>
struct TargetList {
  const std::int32_t* places = nullptr;
  std::int32_t n = 0;
  std::int32_t chunk_size = 1;
  std::int32_t n_chunks = 0;
  const TargetChunk<A>* chunks = nullptr;  // [n_chunks + 1]

  std::int32_t end_of(std::int32_t chunk) const {
    const std::int32_t end = (chunk + 1) * chunk_size;
    return end < n ? end : n;
  }
};

// What is wanted of the pairs of a column i: exact losses of those with later columns; bounds of these from below; or the exact
// losses of i alone, with all others.
enum class QuantileGoal : std::uint8_t { pairs, bounds, root };

template <class V>
struct QuantileInput {
  std::int32_t n_columns = 0;
  std::int32_t stride = 0;
  std::int32_t count_statistic = -1;
  V min_leaf = 1;
  TargetRows<TargetLane<V>> rows;
  const V* totals = nullptr;
  const V* columns = nullptr;     // statistic 0 is the weight
  TargetLane<V>* yes1 = nullptr;  // [stride]
  TargetLane<V>* no1 = nullptr;
};

// Sums of leaves that hold a line each: w, w y, w y^2, and x, x^2 and x y, times w, of each column that it may use.
struct LineInput {
  const std::int64_t* sums = nullptr;  // [statistic][stride], all less than 2^51
  std::int64_t n = 0;
  std::int64_t stride = 0;
  std::int32_t n_columns = 0;
  const double* ridge = nullptr;  // [column]: what the square of a slope costs
  const double* noise = nullptr;  // [column]: it is constant where its mean square around the mean is not above this
};

template <class V>
inline constexpr V kUnknown = -1;

// Less than anything saved; a few of them can be added.
inline constexpr std::int64_t kNoSaving = -(std::int64_t{1} << 60);

template <class V>
struct VectorKernels {
  // Known sums (null: zeros), changed by rows, over columns [first & ~15, n_columns): out[statistic * stride + j], which has
  // room for whole blocks of 16 columns.  Both may be the same.
  void (*add_rows)(const VectorRows<V>&, const RowChange& change, std::int32_t first, std::int32_t n_statistics,
                   const V* known, V* out, std::size_t stride);
  // The same for rows in planes and columns [first & ~7, n_columns); null: not with these instructions.
  void (*add_planes)(const PlaneRows<V>&, std::int32_t first, std::int32_t n_statistics, V* out, std::size_t stride);
  // Adds the sums of all rows in planes to `totals`.
  void (*plane_totals)(const PlaneRows<V>&, std::int32_t n_statistics, V* totals);
  // Sums over columns [first, n_columns) from the counts of row types, counts[type * type_stride + j], which must be less
  // than 2^15.  Counts and sums have room for whole blocks of 16 columns.
  void (*add_types)(const TypeTerms<V>&, const std::int16_t* counts, std::size_t type_stride, std::int32_t first,
                    std::int32_t n_columns, std::int32_t n_terms, V* out, std::size_t stride);
  // The same for counts and vectors of any size: `values` has the vectors, `value_stride` apart.
  void (*add_wide_types)(const V* counts, std::size_t type_stride, std::int32_t n_types, const V* values,
                         std::int32_t value_stride, std::int32_t first, std::int32_t n_columns,
                         std::int32_t n_statistics, V* out, std::size_t stride);
  // Lists the fewest rows among the `n_among` of a set that sums of pairs of a column follow from, and says which sums they change;
  // those of the column before it only if they are known, or else `before` is null.  The list has room for 32 more.
  PairBase (*list_change)(const Word* bits, const Word* before, const Word* among, std::int32_t n_words,
                          std::int32_t n_among, std::int32_t* list, RowChange& change);
  // A leaf costs the least of its first n_costs sums: both sides of every column, and the pairs (i, j), j > i.
  void (*least_of_sides)(const VectorInput<V>&, V* yes0, V* no0);
  void (*least_of_pairs)(const VectorInput<V>&, std::int32_t i, const PairRow<V>&);
  // What means or rates save, likewise.
  void (*savings_of_sides)(const SavingInput<V>&, std::int64_t* yes0, std::int64_t* no0);
  void (*savings_of_pairs)(const SavingInput<V>&, std::int32_t i, const PairRow<V>&);
  // Estimates of these, for both columns of every pair; and exactly what one column saves with all others: PairRow has all pairs of i.
  void (*estimates_of_pairs)(const SavingInput<V>&, std::int32_t i, const PairRow<V>&);
  void (*savings_of_column)(const SavingInput<V>&, std::int32_t i, const PairRow<V>&);
  // Losses around quantiles, likewise; the rows of both sides of i are listed.
  void (*quantiles_of_sides)(const QuantileInput<V>&, const TargetList<TargetLane<V>>& all, TargetLane<V>* yes0,
                             TargetLane<V>* no0);
  void (*quantiles_of_pairs)(const QuantileInput<V>&, std::int32_t i, const PairRow<V>&,
                             const TargetList<TargetLane<V>>& with_i, const TargetList<TargetLane<V>>& without_i,
                             QuantileGoal goal);
  // Costs from a table.  False: some are not known yet, and count as infeasible.
  bool (*table_of_pairs)(const TableInput<V>&, std::int32_t i, const PairRow<V>&);
  // What rates save, of events and exposures that are not negative and less than 2^52.
  void (*rate_savings)(const RateLoss&, const std::int64_t* events, const std::int64_t* exposure, std::int64_t n,
                       std::int64_t* saved);
  // Squared errors around the best line.
  void (*line_errors)(const LineInput&, double* out);
};

template <class V>
const VectorKernels<V>& vector_kernels_for(Isa);

}  // namespace certree
