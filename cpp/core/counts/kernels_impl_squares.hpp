// The exact part of squared errors that means save: ceil(scale u^2 / w) for many sums at once.  Part of kernels_impl.hpp:
// included once per instruction set.
//
// For any integer a and b = u - a w,  u^2 / w = a (u + b) + b^2 / w.  With a the rounded mean, b is smaller than w, so that the
// fraction is one of small integers, which doubles hold; the rest is integer arithmetic.  docs/theory/vector-statistics.md
#pragma once

#include "counts/kernels_impl_base.hpp"
#include "counts/pair_kernels.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves no room for a fraction

inline double rounded(double x) { return (x + kRounder) - kRounder; }

// An integer below 2^51 in absolute value, from the bits of its double: any vector unit can do it.
inline std::int64_t whole(double x) {
  return __builtin_bit_cast(std::int64_t, x + kRounder) - __builtin_bit_cast(std::int64_t, kRounder);
}
inline double real(std::int64_t x) {
  return __builtin_bit_cast(double, x + __builtin_bit_cast(std::int64_t, kRounder)) - kRounder;
}
inline double real(std::int32_t x) { return static_cast<double>(x); }

template <class V>
inline std::int64_t narrow_saving(std::int64_t scale, V u, V w) {
  const double weight = real(w > 1 ? w : V{1}), sum = real(u);
  const double inverse = 1.0 / weight;
  const double mean = rounded(sum * inverse);
  const double rest = sum - mean * weight;
  const double fraction = real(scale) * rest * rest;
  const double quotient = rounded(fraction * inverse);
  const double up = fraction - quotient * weight > 0 ? quotient + 1 : quotient;
  return scale * whole(mean) * (static_cast<std::int64_t>(u) + whole(rest)) + whole(up);
}

__extension__ using Wide128 = unsigned __int128;

inline std::int64_t wide_saving(std::int64_t scale, std::int64_t u, std::int64_t w) {
  if (w <= 0) return 0;
  const auto size = static_cast<std::uint64_t>(u < 0 ? -u : u), weight = static_cast<std::uint64_t>(w);
  // |u| = a w + b with b < w: scale (a (|u| + b) + b^2 / w), whose first part is at most the result.
  const std::uint64_t a = size / weight, b = size % weight;
  const auto fraction = static_cast<Wide128>(b) * b * static_cast<std::uint64_t>(scale);
  const auto up = static_cast<std::uint64_t>((fraction + weight - 1) / weight);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(scale) * a * (size + b) + up);
}

inline std::int64_t rate_units(const RateLoss& loss, double events, double exposure) {
  const double saved = rate_saving(loss, events, exposure);
  const double near = rounded(saved);
  const double up = near < saved ? near + 1 : near;
  return whole(events > 0 ? up : 0.0);
}

// Adds what an output saves to what those before it save.
template <class V>
inline void savings(const SavingInput<V>& in, std::int32_t output, const V* u, const V* w, std::int64_t* out,
                    int count) {
  const std::int64_t scale = in.scales[output];
  const std::int64_t before = output > 0 ? -1 : 0;
  if (in.rates != nullptr) {
    const RateLoss loss = *in.rates;
    for (int k = 0; k < count; ++k) out[k] = rate_units(loss, real(w[k]), real(u[k]));
    return;
  }
  if (in.is_narrow) {
    for (int k = 0; k < count; ++k) out[k] = (out[k] & before) + narrow_saving(scale, u[k], w[k]);
  } else {
    for (int k = 0; k < count; ++k) out[k] = (out[k] & before) + wide_saving(scale, u[k], w[k]);
  }
}

constexpr int kSquareBlock = 32;
// Whole registers are evaluated, also where they hold columns that are not asked for: all rows of sums have room for them.
constexpr int kSquareLanes = 8;

inline int whole_lanes(std::int32_t n) {
  return n < kSquareBlock ? (n + kSquareLanes - 1) & ~(kSquareLanes - 1) : kSquareBlock;
}

// Sums of one statistic in the four cells of i and a block of j.
template <class V>
struct SquareCells {
  V both[kSquareBlock], only_i[kSquareBlock], only_j[kSquareBlock], neither[kSquareBlock];
};

template <class V>
inline void fill_square_cells(const SavingInput<V>& in, std::int32_t i, std::int32_t j, int count,
                              std::int32_t statistic, const PairRow<V>& pairs, SquareCells<V>& out) {
  const auto s = static_cast<std::size_t>(statistic);
  const V* column = in.columns + s * static_cast<std::size_t>(in.stride);
  const V* pair = pairs.minuend + s * pairs.minuend_type_stride + j;
  const V with = column[i], without = static_cast<V>(in.totals[statistic] - with);
  if (pairs.subtrahend != nullptr) {
    const V* less = pairs.subtrahend + s * pairs.subtrahend_type_stride + j;
    for (int k = 0; k < count; ++k) out.both[k] = static_cast<V>(pair[k] - less[k]);
  } else {
    for (int k = 0; k < count; ++k) out.both[k] = pair[k];
  }
  for (int k = 0; k < count; ++k) {
    out.only_i[k] = static_cast<V>(with - out.both[k]);
    out.only_j[k] = static_cast<V>(column[j + k] - out.both[k]);
    out.neither[k] = static_cast<V>(without - out.only_j[k]);
  }
}

inline void forbid_small(std::int64_t* saved, bool is_small) { *saved = is_small ? kNoSaving : *saved; }

template <class V>
void savings_of_pairs(const SavingInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  SquareCells<V> w, u, rows;
  std::int64_t both[kSquareBlock] = {}, only_i[kSquareBlock] = {}, only_j[kSquareBlock] = {},
               neither[kSquareBlock] = {};
  std::int64_t yes = in.yes1[i], no = in.no1[i];
  for (std::int32_t j = (i + 1) & ~(kSquareLanes - 1); j < in.n_columns; j += kSquareBlock) {
    const int count = whole_lanes(in.n_columns - j);
    fill_square_cells(in, i, j, count, 0, pairs, w);
    for (std::int32_t output = 0; output < in.n_outputs; ++output) {
      fill_square_cells(in, i, j, count, output + 1, pairs, u);
      savings(in, output, u.both, w.both, both, count);
      savings(in, output, u.only_i, w.only_i, only_i, count);
      savings(in, output, u.only_j, w.only_j, only_j, count);
      savings(in, output, u.neither, w.neither, neither, count);
    }
    if (in.count_statistic >= 0) {
      fill_square_cells(in, i, j, count, in.count_statistic, pairs, rows);
      for (int k = 0; k < count; ++k) {
        forbid_small(both + k, rows.both[k] < in.min_leaf);
        forbid_small(only_i + k, rows.only_i[k] < in.min_leaf);
        forbid_small(only_j + k, rows.only_j[k] < in.min_leaf);
        forbid_small(neither + k, rows.neither[k] < in.min_leaf);
      }
    }
    for (int k = 0; k < count; ++k)
      if (j + k <= i || j + k >= in.n_columns) both[k] = only_i[k] = only_j[k] = neither[k] = kNoSaving;
    for (int k = 0; k < count; ++k) {
      const std::int64_t yes_i = both[k] + only_i[k], no_i = only_j[k] + neither[k];
      const std::int64_t yes_j = both[k] + only_j[k], no_j = only_i[k] + neither[k];
      yes = yes_i > yes ? yes_i : yes;
      no = no_i > no ? no_i : no;
      in.yes1[j + k] = yes_j > in.yes1[j + k] ? yes_j : in.yes1[j + k];
      in.no1[j + k] = no_j > in.no1[j + k] ? no_j : in.no1[j + k];
    }
  }
  in.yes1[i] = yes;
  in.no1[i] = no;
}

template <class V>
void savings_of_sides(const SavingInput<V>& in, std::int64_t* yes0, std::int64_t* no0) {
  const V* w = in.columns;
  V rest_w[kSquareBlock], rest_u[kSquareBlock];
  for (std::int32_t j = 0; j < in.n_columns; j += kSquareBlock) {
    const int count = whole_lanes(in.n_columns - j);
    for (int k = 0; k < count; ++k) rest_w[k] = static_cast<V>(in.totals[0] - w[j + k]);
    for (std::int32_t output = 0; output < in.n_outputs; ++output) {
      const V* u = in.columns + static_cast<std::ptrdiff_t>(output + 1) * in.stride;
      for (int k = 0; k < count; ++k) rest_u[k] = static_cast<V>(in.totals[output + 1] - u[j + k]);
      savings(in, output, u + j, w + j, yes0 + j, count);
      savings(in, output, rest_u, rest_w, no0 + j, count);
    }
  }
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
