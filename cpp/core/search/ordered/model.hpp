// What passes over pairs of features take, and what is chosen by it for every set of rows.
//
// Rates are nanoseconds of one thread; `python benchmarks/rates.py` measures them again.  They decide about time alone: every
// choice gives the same bounds at the edges of bins, and thresholds inside of bins are looked at as long as bounds leave them
// open (docs/theory/ordered-features.md, what is chosen where).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "counts/pair_kernels.hpp"

namespace certree {

struct PairRates {
  double row;     // to add a row to a pair table
  double cells;   // to scan a register of 64 bytes of cells, for each plane
  double table;   // to begin a pair table and to fold what it says
  double word;    // to count a pair of columns of bits in 64 rows of a label
  double column;  // to evaluate a pair of columns, for each label
};

inline PairRates pair_rates(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return {0.65, 11, 70, 0.1, 0.7};
    case Isa::avx2:
      return {0.65, 35, 70, 0.18, 1.0};
    case Isa::baseline:
      break;
  }
  return {0.65, 38, 80, 2.1, 1.5};
}

template <class V>
class PairModel {
 public:
  PairModel(Isa isa, std::int32_t n_planes) : rates_(pair_rates(isa)), planes_(n_planes) {}

  // To scan the counts of a pair of features.
  double scan(std::int32_t first, std::int32_t second) const {
    return rates_.table + rates_.cells * planes_ * first * (padded<V>(second) / kLanes<V>);
  }
  // To count and scan a pair of features by a table.
  double by_table(std::int32_t n_rows, std::int32_t a, std::int32_t b) const {
    return rates_.row * n_rows + std::min(scan(a, b), scan(b, a));
  }
  // To count and evaluate pairs of columns of bits.
  double by_bits(std::int32_t n_rows, double pairs) const {
    return pairs * (rates_.word * (n_rows / 64.0 + planes_) + rates_.column * planes_);
  }
  // The feature with `a` bins comes first in a table with one of `b` bins: its bins are gone through one by one, those of the
  // other a register at a time.
  bool comes_first(std::int32_t a, std::int32_t b) const { return scan(a, b) <= scan(b, a); }

  // Into how many bins to join the values of some rows.  More bins take longer to scan, and leave fewer thresholds open: these
  // take about n^1.5 steps over the number of bins, and where registers are full the sum of both is least at kBinsPerRoot times
  // the square root of n.  Bins that fill whole registers are scanned in less time.
  static std::int32_t bins_for(std::int32_t n_rows) {
    const double root = std::sqrt(static_cast<double>(n_rows));
    const double open = 2 * kBinsPerRoot * kBinsPerRoot * kBinsPerRoot * root * n_rows;
    const auto time = [&](std::int32_t bins) { return static_cast<double>(bins) * padded<V>(bins) + open / bins; };
    const auto bins = std::clamp(static_cast<std::int32_t>(kBinsPerRoot * root), kFewestBins, kMostCoarseBins);
    const std::int32_t full = bins / kLanes<V> * kLanes<V>;
    return full > 0 && time(full) < time(bins) ? full : bins;
  }

 private:
  static constexpr double kBinsPerRoot = 0.7;
  static constexpr std::int32_t kFewestBins = 4, kMostCoarseBins = 240;

  PairRates rates_;
  std::int32_t planes_;
};

}  // namespace certree
