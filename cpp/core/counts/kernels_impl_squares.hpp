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

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
