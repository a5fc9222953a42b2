// The loss of one rate of events per leaf (Poisson, exponential and relative risks), VectorKind::rates.
//
// Rows add their events E, their exposure S, and B, what they would save at rates of their own, in units of cost.  A leaf saves
// E log(E / S) by its rate, with 0 log 0 = 0, and costs B less what it saves.  The logarithm is a sum of products that every
// instruction set rounds in the same way, so that the saving of a leaf is one integer everywhere; it is rounded up after the
// most that float64 may be off is taken away, so that it is above the true number by less than one.
// docs/theory/vector-statistics.md has the bounds of all errors.
#pragma once

#include <cstdint>

#include "base/cost.hpp"

namespace certree {

struct RateLoss {
  double gain = 1;   // units of cost per unit of E
  double ratio = 1;  // units of E per unit of S
};

// Internal linkage: every instruction set has a copy of its own.  All sums of products are written as fma, so that no compiler
// has a choice.

// log(a / b) of positive numbers, off by less than five parts in 2^53.
static inline double log_of_quotient(double a, double b) {
  constexpr std::uint64_t kFraction = 0x000fffffffffffffULL, kOne = 0x3ff0000000000000ULL;
  constexpr double kRootOfTwo = 1.4142135623730951, kLogOfTwo = 0.6931471805599453, kToReal = 6755399441055744.0;
  const auto x = __builtin_bit_cast(std::uint64_t, a), y = __builtin_bit_cast(std::uint64_t, b);
  double m = __builtin_bit_cast(double, (x & kFraction) | kOne);
  double n = __builtin_bit_cast(double, (y & kFraction) | kOne);
  // a / b = 2^k m / n with m / n between the root of one half and the root of two.
  const bool is_high = m > kRootOfTwo * n, is_low = kRootOfTwo * m < n;
  const std::uint64_t power = (x >> 52) - (y >> 52) + (is_high ? 1U : 0U) - (is_low ? 1U : 0U);
  const double k = __builtin_bit_cast(double, power + __builtin_bit_cast(std::uint64_t, kToReal)) - kToReal;
  n = is_high ? n + n : n;
  m = is_low ? m + m : m;
  // log(m / n) = 2 (z + z^3 / 3 + z^5 / 5 + ...)
  const double z = (m - n) / (m + n), w = z * z;
  double rest = 2.0 / 19;
  rest = __builtin_fma(rest, w, 2.0 / 17);
  rest = __builtin_fma(rest, w, 2.0 / 15);
  rest = __builtin_fma(rest, w, 2.0 / 13);
  rest = __builtin_fma(rest, w, 2.0 / 11);
  rest = __builtin_fma(rest, w, 2.0 / 9);
  rest = __builtin_fma(rest, w, 2.0 / 7);
  rest = __builtin_fma(rest, w, 2.0 / 5);
  rest = __builtin_fma(rest, w, 2.0 / 3);
  return __builtin_fma(k, kLogOfTwo, __builtin_fma(z * w, rest, z + z));
}

// What the rate of E events in the exposure S saves, less the most that it may be off, not rounded yet.
static inline double rate_saving(const RateLoss& loss, double events, double exposure) {
  constexpr double kError = 0x1p-49, kLeast = 1e-300;
  const double length = exposure * loss.ratio;
  const double log = log_of_quotient(events > 0 ? events : 1.0, length > kLeast ? length : kLeast);
  const double gain = events * loss.gain, saved = gain * log;
  return __builtin_fma(-kError, __builtin_fma(events, loss.gain, __builtin_fabs(saved)), saved);
}

// The same, rounded up.
Cost saved_by_rate(const RateLoss& loss, Cost events, Cost exposure);

}  // namespace certree
