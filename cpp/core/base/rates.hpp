// The loss of one rate of events per leaf (Poisson, exponential and relative risks), VectorKind::rates.
//
// Rows add their events E, their exposure S, and B, what they would save at rates of their own, in units of cost.  A leaf saves
// E log(E / S) by its rate, with 0 log 0 = 0, and costs B less what it saves.  The logarithm is a sum of products that every
// instruction set rounds in the same way, so that the saving of a leaf is one integer everywhere; it is rounded up after the
// most that float64 may be off is taken away, so that it is above the true number by less than one.
// docs/theory/vector-statistics.md has the bounds of all errors.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace certree {

struct RateLoss {
  double gain = 1;   // units of cost per unit of E
  double ratio = 1;  // units of E per unit of S
  // For estimates in binary logarithms of E / S.
  double per_gain = 1;   // one over the gain and the logarithm of two
  double log_ratio = 0;  // the binary logarithm of the ratio
};

// One number at a time; the kernels have registers of them.
struct PlainNumbers {
  using Real = double;
  using Bits = std::uint64_t;

  static Real many(double x) { return x; }
  static Bits bits(Real x) { return __builtin_bit_cast(Bits, x); }
  static Real real(Bits x) { return __builtin_bit_cast(Real, x); }
  static Real fused(Real a, Real b, Real c) { return __builtin_fma(a, b, c); }
};

// Internal linkage: every instruction set has a copy of its own.  All sums of products are fused, so that no compiler has a
// choice.

// log(a / b) of positive numbers, off by less than five parts in 2^53.
template <class N>
[[gnu::always_inline]] static inline typename N::Real log_of_quotient(typename N::Real a, typename N::Real b) {
  using Real = typename N::Real;
  using Bits = typename N::Bits;
  constexpr std::uint64_t kFraction = 0x000fffffffffffffULL, kOne = 0x3ff0000000000000ULL;
  constexpr double kRootOfTwo = 1.4142135623730951, kToReal = 6755399441055744.0;
  const Bits x = N::bits(a), y = N::bits(b), zero = x - x;
  const Real m = N::real((x & kFraction) | kOne), n = N::real((y & kFraction) | kOne);
  // a / b = 2^k m / n, doubled to be between the root of one half and the root of two.
  const auto is_high = m > kRootOfTwo * n;
  const auto is_low = kRootOfTwo * m < n;
  const Bits power = (x >> 52) - (y >> 52) + (is_high ? zero + 1 : zero) - (is_low ? zero + 1 : zero);
  const Real k = N::real(power + __builtin_bit_cast(std::uint64_t, kToReal)) - kToReal;
  const Real low = is_high ? n + n : n, high = is_low ? m + m : m;
  // log(high / low) = 2 (z + z^3 / 3 + z^5 / 5 + ...)
  const Real z = (high - low) / (high + low), w = z * z;
  Real rest = N::many(2.0 / 19);
  for (const double term : {2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3})
    rest = N::fused(rest, w, N::many(term));
  return N::fused(k, N::many(0.6931471805599453), N::fused(z * w, rest, z + z));
}

// What the rate of E events in the exposure S saves, less the most that it may be off, not rounded yet; any number for E = 0.
template <class N>
[[gnu::always_inline]] static inline typename N::Real rate_saving(const RateLoss& loss, typename N::Real events,
                                                                  typename N::Real exposure) {
  using Real = typename N::Real;
  const Real one = N::many(1.0), least = N::many(1e-300);
  const Real length = exposure * loss.ratio;
  const Real log = log_of_quotient<N>(events > 0 ? events : one, length > least ? length : least);
  const Real saved = events * loss.gain * log;
  const Real size = N::fused(events, N::many(loss.gain), saved > 0 ? saved : -saved);
  return N::fused(N::many(-0x1p-49), size, saved);
}

}  // namespace certree
