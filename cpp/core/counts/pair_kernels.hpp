// Kernels for ordered features: counting rows by the bins of two features, and the best splits of both sides of every
// bin edge of the one by the other.
//
// A pair table has one plane per number that a row adds to: the weight of its label, or its cost under every label.  Cell
// (i, j) of a plane is the sum over rows in bin i of the first feature and bin j of the second.  Its prefix sums give the
// four leaves of "split at edge i, then both sides at edge j" at once, and these serve both features as the root.
#pragma once

#include <cstddef>
#include <cstdint>

#include "counts/kernels.hpp"

namespace certree {

// How a leaf's cost follows from its sums, one per plane.
enum class PlaneForm : std::uint8_t {
  labels,   // rows add their weight to the plane of their label: all of it but the largest plane
  costs,    // rows add their cost under each label: the least plane
  outputs,  // the same for several outputs with labels of their own: the sum of the least planes of all outputs
  squares,  // rows add w, w y of each output, and w y^2: the squared error around the means (tasks/vector_task.hpp)
  asked,    // rows add a vector, and 1 to the last plane: what AskedCosts says
  rows,     // no function of sums, and no pair table: rows add 1 to the only plane
};

// Costs that are asked for, many at once: plane d of sum k is at sums[d * stride + k].  No rows cost nothing.
class AskedCosts {
 public:
  virtual ~AskedCosts() = default;
  virtual void ask(const std::int64_t* sums, std::size_t n, std::size_t stride, std::int64_t* costs) = 0;
};

struct PlaneRule {
  PlaneForm form = PlaneForm::labels;
  std::int32_t n_planes = 2;  // that carry cost
  std::int64_t scale = 1;     // squares
  bool is_narrow = false;     // squares: scale w^2 < 2^52 and |w y| < 2^50 for all sums, so that doubles will do
  std::int32_t n_outputs = 1;
  const std::int64_t* outputs = nullptr;  // outputs: how many planes each has.  squares: the scale of each
  AskedCosts* costs = nullptr;            // asked
};

inline constexpr std::int32_t kMostBins = 255;

// What is known of the best single split of the rows on one side of the edges of a root feature, by one second feature.
template <class V>
struct SideSplits {
  V* edge = nullptr;   // [bin]: at edges of bins, with no leaf below the minimum size
  V* inner = nullptr;  // [bin]: bound of all splits inside of bins (bounds/dropped_rows.hpp)
  V* loose = nullptr;  // [bin]: as `edge`, with leaves of any size; null: the same as `edge`
};

template <class V>
struct PairTable {
  PlaneRule rule;
  std::int32_t n_first = 0;  // bins
  std::int32_t n_second = 0;
  std::int32_t stride = 0;        // of bins of the first feature: padded(n_second)
  const V* cells = nullptr;       // [plane][n_first][stride]
  const V* less = nullptr;        // to be subtracted from cells; null: nothing
  const V* first_line = nullptr;  // [plane][...]: sums over the other feature, by bins
  const V* second_line = nullptr;
  std::int32_t first_stride = 0, second_stride = 0;
  const V* first_inner = nullptr;   // [n_first]: 0 where a split inside of the bin exists, else kInfeasible
  const V* second_inner = nullptr;  // [n_second]
  bool has_inner = true;            // some bin has thresholds inside
  V min_leaf = 0;                   // more than 1: one more plane counts rows
  // [0]: where the root test holds, [1]: where not.
  SideSplits<V> first[2];   // the first feature is the root
  SideSplits<V> second[2];  // the second feature is the root
};

// All rows along a second feature, in lanes: entry k of lane l is at k * kLanes + l, and lane l + 1 goes on where lane l ends.
template <class V>
inline constexpr std::int32_t kLanes = 64 / static_cast<std::int32_t>(sizeof(V));
// Whole registers for so many values.
template <class V>
constexpr std::int32_t padded(std::int32_t n) {
  return (n + kLanes<V> - 1) / kLanes<V> * kLanes<V>;
}

// One side of a threshold of a root feature, to be split by a second feature.
template <class V>
struct SecondRows {
  PlaneRule rule;
  std::int32_t length = 0;      // of a lane
  const V* position = nullptr;  // of the rows along the root feature
  const V* values = nullptr;    // labels: what the row adds to its plane; null: 1.  Others: [plane][length * kLanes]
  const V* label = nullptr;     // labels: the plane; with two, values of the first are less than 0 in its place
  const V* none = nullptr;      // 0: a threshold after the row exists; else kInfeasible
  V threshold = 0;              // rows before this position are on side 0
  int side = 0;
  const V* totals = nullptr;  // [plane]: of the side
  V n_rows = 0;               // of the side
  V min_leaf = 0;             // more than 1: leaves must have so many rows
};

template <class V>
struct SecondSplit {
  V limited = kInfeasible<V>;  // least cost of a split whose leaves are large enough
  V loose = kInfeasible<V>;    // the same for leaves of any size
};

template <class V>
struct PairKernels {
  // cells[first[k] * stride + second[k]] += weight[k]; null: 1.
  void (*count_cells)(const std::uint8_t* first, const std::uint8_t* second, std::int32_t n_rows, std::int32_t stride,
                      const V* weight, V* cells);
  // `scratch`: room for scratch_size values.
  void (*scan_pair)(const PairTable<V>&, V* scratch);
  SecondSplit<V> (*scan_second)(const SecondRows<V>&, V* scratch);
};

// Costs are asked for about so many at once: few stay in the cache, and fewer make calls of functions dear.
inline constexpr std::int32_t kAskedAtOnce = 4096;

// The scratch of scan_pair and of scan_second.
inline std::size_t pair_scratch_size(const PlaneRule& rule) {
  const auto planes = static_cast<std::size_t>(rule.n_planes + 1);
  const std::size_t asked = rule.form == PlaneForm::asked ? planes * kAskedAtOnce : 0;
  return (4 * planes + 24) * (kMostBins + 33) + asked;
}

template <class V>
const PairKernels<V>& pair_kernels_for(Isa);

}  // namespace certree
