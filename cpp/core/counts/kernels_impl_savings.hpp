// What means and rates save in the leaves of pairs of columns, as many pairs at once as a register has doubles.  Part of kernels_impl.hpp: included once per
// instruction set.
//
// Rough estimates with known errors come first; where they tell that no pair saves more than what is known, nothing exact is
// computed.  docs/theory/vector-statistics.md
#pragma once

#include "counts/kernels_impl_base.hpp"
#include "counts/kernels_impl_squares.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

// Columns of one step, one register.  Sums have room for whole steps, also where these hold columns that are not asked for.
#if defined(__AVX512F__)
constexpr int kStep = 8;
#elif defined(__AVX2__)
constexpr int kStep = 4;
#else
constexpr int kStep = 2;
#endif

typedef double Reals __attribute__((vector_size(8 * kStep)));
typedef std::int64_t Wholes __attribute__((vector_size(8 * kStep)));
typedef std::uint64_t WholeBits __attribute__((vector_size(8 * kStep)));
typedef float Floats __attribute__((vector_size(4 * kStep)));
typedef std::int32_t Shorts __attribute__((vector_size(4 * kStep)));

// Twice as many columns, for estimates.
typedef float ManyFloats __attribute__((vector_size(8 * kStep)));
typedef std::int32_t ManyShorts __attribute__((vector_size(8 * kStep)));

[[gnu::always_inline]] inline Reals all_reals(double x) { return Reals{} + x; }
[[gnu::always_inline]] inline Wholes all_wholes(std::int64_t x) { return Wholes{} + x; }

template <class T, class V>
[[gnu::always_inline]] inline T step_at(const V* at) {
  T out;
  std::memcpy(&out, at, sizeof(out));
  return out;
}

// For the logarithm of base/rates.hpp.
struct LaneNumbers {
  using Real = Reals;
  using Bits = WholeBits;

  [[gnu::always_inline]] static Real many(double x) { return all_reals(x); }
  [[gnu::always_inline]] static Bits bits(Real x) { return __builtin_bit_cast(Bits, x); }
  [[gnu::always_inline]] static Real real(Bits x) { return __builtin_bit_cast(Real, x); }
  [[gnu::always_inline]] static Real fused(Real a, Real b, Real c) {
#if defined(__AVX512F__)
    return __builtin_bit_cast(Real, _mm512_fmadd_pd(__builtin_bit_cast(__m512d, a), __builtin_bit_cast(__m512d, b),
                                                    __builtin_bit_cast(__m512d, c)));
#elif defined(__FMA__)
    return __builtin_bit_cast(Real, _mm256_fmadd_pd(__builtin_bit_cast(__m256d, a), __builtin_bit_cast(__m256d, b),
                                                    __builtin_bit_cast(__m256d, c)));
#else
    Real out{};
    for (int k = 0; k < kStep; ++k) out[k] = __builtin_fma(a[k], b[k], c[k]);
    return out;
#endif
  }
};

[[gnu::always_inline]] inline Wholes wholes_at(const std::int64_t* at) { return step_at<Wholes>(at); }
[[gnu::always_inline]] inline Wholes wholes_at(const std::int32_t* at) {
  return __builtin_convertvector(step_at<Shorts>(at), Wholes);
}

// Integers below 2^51 in absolute value, as kernels_impl_squares.hpp has them.
[[gnu::always_inline]] inline Reals reals_of(Wholes x) {
  return __builtin_bit_cast(Reals, x + __builtin_bit_cast(std::int64_t, kRounder)) - kRounder;
}
[[gnu::always_inline]] inline Wholes wholes_of(Reals x) {
  return __builtin_bit_cast(Wholes, x + kRounder) - __builtin_bit_cast(std::int64_t, kRounder);
}
[[gnu::always_inline]] inline Reals rounded_lanes(Reals x) { return (x + kRounder) - kRounder; }
// Integers from 0 to 2^52.
[[gnu::always_inline]] inline Reals reals_of_sums(Wholes x) {
  constexpr double kFirst = 0x1p52;
  return __builtin_bit_cast(Reals, x + __builtin_bit_cast(std::int64_t, kFirst)) - kFirst;
}

template <class Mask>
[[gnu::always_inline]] inline bool is_any(Mask mask) {
  std::uint64_t words[sizeof(Mask) / 8], all = 0;
  std::memcpy(words, &mask, sizeof(mask));
  for (const std::uint64_t word : words) all |= word;
  return all != 0;
}

[[gnu::always_inline]] inline std::int64_t largest_lane(Wholes x) {
  std::int64_t out = x[0];
  for (int k = 1; k < kStep; ++k) out = x[k] > out ? x[k] : out;
  return out;
}

// A number in each of the four cells of i and some j.
template <class T>
struct SavingCells {
  T both, only_i, only_j, neither;
};

template <class T, class Function>
[[gnu::always_inline]] inline auto in_cells(const SavingCells<T>& a, const SavingCells<T>& b, Function f) {
  return SavingCells<decltype(f(a.both, b.both))>{f(a.both, b.both), f(a.only_i, b.only_i), f(a.only_j, b.only_j),
                                                  f(a.neither, b.neither)};
}

// Sums of one statistic.
template <class V>
[[gnu::always_inline]] inline SavingCells<Wholes> sums_in_cells(const SavingInput<V>& in, std::int32_t i,
                                                                std::int32_t j, std::int32_t statistic,
                                                                const PairRow<V>& pairs) {
  const auto s = static_cast<std::size_t>(statistic);
  const V* column = in.columns + s * static_cast<std::size_t>(in.stride);
  const std::int64_t with = column[i], without = in.totals[statistic] - with;
  Wholes both = wholes_at(pairs.minuend + s * pairs.minuend_type_stride + j);
  if (pairs.subtrahend != nullptr) both -= wholes_at(pairs.subtrahend + s * pairs.subtrahend_type_stride + j);
  const Wholes only_j = wholes_at(column + j) - both;
  return {both, with - both, only_j, without - only_j};
}

// Estimates in single precision, of squares u^2 / w and of rates w log2(w / u).  How far they are off: kRoughSquare and kRoughRate
// (counts/vector_kernels.hpp).

template <bool Rates>
[[gnu::always_inline]] inline Floats floats_of(Wholes x) {
#if defined(__AVX512DQ__)
  return __builtin_convertvector(x, Floats);
#else
  return __builtin_convertvector(Rates ? reals_of_sums(x) : reals_of(x), Floats);
#endif
}

template <bool Rates>
[[gnu::always_inline]] inline SavingCells<Floats> in_floats(const SavingCells<Wholes>& x) {
  return {floats_of<Rates>(x.both), floats_of<Rates>(x.only_i), floats_of<Rates>(x.only_j),
          floats_of<Rates>(x.neither)};
}

// One over numbers from 1 on, off by less than five parts in 2^24.
[[gnu::always_inline]] inline Floats inverses(Floats x) { return 1.0F / x; }
[[gnu::always_inline]] inline ManyFloats inverses(ManyFloats x) {
#if defined(__AVX512F__)
  const auto near = __builtin_bit_cast(ManyFloats, _mm512_rcp14_ps(__builtin_bit_cast(__m512, x)));
  return near * (2.0F - x * near);  // a step of Newton's method
#else
  return 1.0F / x;
#endif
}

// The logarithm of a fraction from 1 to 2 is a polynomial that is off by less than 0.000002.
template <class F>
[[gnu::always_inline]] inline F rough_rate_saving(F w, F u) {
  using Bits = std::conditional_t<sizeof(F) == sizeof(Floats), Shorts, ManyShorts>;
  const F one = F{} + 1.0F;
  const Bits bits = __builtin_bit_cast(Bits, w * inverses(u > one ? u : one));
  const F power = __builtin_convertvector((bits >> 23) - 127, F);
  const F t = __builtin_bit_cast(F, (bits & 0x007fffff) | 0x3f800000) - one;
  F log = t * -0.025691088F + 0.12100223F;
  for (const float term : {-0.27654073F, 0.45652166F, -0.7177911F, 1.4424953F, 0.0000018456867F}) log = log * t + term;
  return w * (power + log);
}

template <class F>
[[gnu::always_inline]] inline F rough_square_saving(F w, F u) {
  const F one = F{} + 1.0F;
  return u * u * inverses(w > one ? w : one);
}

template <bool Rates, class F>
[[gnu::always_inline]] inline SavingCells<F> rough_savings(const SavingCells<F>& w, const SavingCells<F>& u) {
  return in_cells(w, u, [](F a, F b) {
    if constexpr (Rates)
      return rough_rate_saving(a, b);
    else
      return rough_square_saving(a, b);
  });
}

// What an estimate must exceed for two leaves, with the sum w in both, to save more than `best`.  Each is rounded up.
template <bool Rates, class V>
[[gnu::always_inline]] inline Reals bars_above(const SavingInput<V>& in, Wholes best, Wholes w) {
  const Reals known = __builtin_convertvector(best, Reals);
  if constexpr (Rates) {
    const Reals slack = w > 0 ? all_reals(2.0) : Reals{};
    return (known - slack) * in.rates->per_gain + reals_of_sums(w) * (in.rates->log_ratio - kRoughRate);
  }
  const Reals least = (known - 2.0) / static_cast<double>(in.scales[0]);
  return least - (least > 0 ? least : -least) * kRoughSquare;
}

struct Bars {
  Reals yes, no;
};

[[gnu::always_inline]] inline Floats to_floats(Reals x) { return __builtin_convertvector(x, Floats); }

// Some pair of i and the columns from j on may save more than what is known of i, or also of these columns.
template <bool Rates, bool OfColumns, class V>
[[gnu::always_inline]] inline bool may_improve(const SavingInput<V>& in, std::int32_t j, const SavingCells<Wholes>& w,
                                               const SavingCells<Wholes>& u, const Bars& of_i) {
  const auto rough = rough_savings<Rates>(in_floats<Rates>(w), in_floats<Rates>(u));
  auto improves =
      (rough.both + rough.only_i > to_floats(of_i.yes)) | (rough.only_j + rough.neither > to_floats(of_i.no));
  if constexpr (OfColumns) {
    const Reals yes = step_at<Reals>(in.yes_bar + j), no = step_at<Reals>(in.no_bar + j);
    improves |= (rough.both + rough.only_j > to_floats(yes)) | (rough.only_i + rough.neither > to_floats(no));
  }
  return is_any(improves);
}

// Exactly, rounded up.
[[gnu::always_inline]] inline Wholes rate_units(const RateLoss& loss, Wholes events, Wholes exposure) {
  const Reals saved = rate_saving<LaneNumbers>(loss, reals_of_sums(events), reals_of_sums(exposure));
  const Reals near = rounded_lanes(saved);
  return events > 0 ? wholes_of(near < saved ? near + 1 : near) : Wholes{};
}

[[gnu::always_inline]] inline Wholes narrow_square_units(std::int64_t scale, Wholes w, Wholes u) {
  const Reals weight = reals_of(w > 1 ? w : all_wholes(1)), sum = reals_of(u);
  const Reals inverse = 1.0 / weight;
  const Reals mean = rounded_lanes(sum * inverse);
  const Reals rest = sum - mean * weight;
  const Reals fraction = static_cast<double>(scale) * rest * rest;
  const Reals quotient = rounded_lanes(fraction * inverse);
  const Reals up = fraction - quotient * weight > 0 ? quotient + 1 : quotient;
  return scale * wholes_of(mean) * (u + wholes_of(rest)) + wholes_of(up);
}

template <bool Rates, class V>
[[gnu::always_inline]] inline Wholes exact_saving(const SavingInput<V>& in, std::int32_t output, Wholes w, Wholes u) {
  if constexpr (Rates) return rate_units(*in.rates, w, u);
  if (in.is_narrow) return narrow_square_units(in.scales[output], w, u);
  Wholes out{};
  for (int k = 0; k < kStep; ++k) out[k] = wide_saving(in.scales[output], u[k], w[k]);
  return out;
}

// What all outputs save in the cells; kNoSaving where a leaf is too small.
template <bool Rates, class V>
[[gnu::always_inline]] inline SavingCells<Wholes> exact_savings(const SavingInput<V>& in, std::int32_t i,
                                                                std::int32_t j, const PairRow<V>& pairs,
                                                                const SavingCells<Wholes>& w,
                                                                const SavingCells<Wholes>& u) {
  const auto of_output = [&](std::int32_t output, const SavingCells<Wholes>& sums) {
    return in_cells(w, sums, [&](Wholes a, Wholes b) { return exact_saving<Rates>(in, output, a, b); });
  };
  const auto add = [](Wholes a, Wholes b) { return a + b; };
  SavingCells<Wholes> saved = of_output(0, u);
  for (std::int32_t output = 1; output < in.n_outputs; ++output)
    saved = in_cells(saved, of_output(output, sums_in_cells(in, i, j, output + 1, pairs)), add);
  if (in.count_statistic < 0) return saved;
  const std::int64_t least = in.min_leaf;
  const auto forbid_small = [&](Wholes value, Wholes rows) { return rows < least ? all_wholes(kNoSaving) : value; };
  return in_cells(saved, sums_in_cells(in, i, j, in.count_statistic, pairs), forbid_small);
}

template <bool Rates, class V>
inline void savings_of_row(const SavingInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  Wholes places{};
  for (int k = 0; k < kStep; ++k) places[k] = k;
  const auto with = all_wholes(in.columns[i]);
  const Wholes all = all_wholes(in.totals[0]);
  Wholes yes = all_wholes(in.yes1[i]), no = all_wholes(in.no1[i]);
  Bars bars{bars_above<Rates>(in, yes, with), bars_above<Rates>(in, no, all - with)};
  for (std::int32_t j = (i + 1) & ~(kStep - 1); j < in.n_columns; j += kStep) {
    const auto w = sums_in_cells(in, i, j, 0, pairs), u = sums_in_cells(in, i, j, 1, pairs);
    if (in.yes_bar != nullptr && !may_improve<Rates, true>(in, j, w, u, bars)) continue;
    const auto saved = exact_savings<Rates>(in, i, j, pairs, w, u);
    // Only columns after i are asked for.
    const Wholes column = places + j;
    const Wholes is_asked = (column > i) & (column < in.n_columns);
    const auto largest = [](Wholes a, Wholes b) { return a > b ? a : b; };
    const Wholes none = all_wholes(kNoSaving);
    const Wholes yes_i = is_asked ? saved.both + saved.only_i : none;
    const Wholes no_i = is_asked ? saved.only_j + saved.neither : none;
    const Wholes yes_j = largest(wholes_at(in.yes1 + j), is_asked ? saved.both + saved.only_j : none);
    const Wholes no_j = largest(wholes_at(in.no1 + j), is_asked ? saved.only_i + saved.neither : none);
    std::memcpy(in.yes1 + j, &yes_j, sizeof(yes_j));
    std::memcpy(in.no1 + j, &no_j, sizeof(no_j));
    yes = all_wholes(largest_lane(largest(yes, yes_i)));
    no = all_wholes(largest_lane(largest(no, no_i)));
    if (in.yes_bar == nullptr) continue;
    bars = {bars_above<Rates>(in, yes, with), bars_above<Rates>(in, no, all - with)};
    const Wholes held = wholes_at(in.columns + j);
    // Columns beyond the last one are never better.
    const Reals never = all_reals(__builtin_inf());
    const Reals yes_bar = column < in.n_columns ? bars_above<Rates>(in, yes_j, held) : never;
    const Reals no_bar = column < in.n_columns ? bars_above<Rates>(in, no_j, all - held) : never;
    std::memcpy(in.yes_bar + j, &yes_bar, sizeof(yes_bar));
    std::memcpy(in.no_bar + j, &no_bar, sizeof(no_bar));
  }
  in.yes1[i] = yes[0];
  in.no1[i] = no[0];
}

// ---- estimates of all pairs first, exact savings of few columns --------------------------------------------------

[[gnu::always_inline]] inline ManyFloats join(Floats low, Floats high) {
#if defined(__AVX512DQ__)
  return __builtin_bit_cast(ManyFloats, _mm512_insertf32x8(_mm512_castps256_ps512(__builtin_bit_cast(__m256, low)),
                                                           __builtin_bit_cast(__m256, high), 1));
#elif defined(__AVX2__)
  return __builtin_bit_cast(ManyFloats, _mm256_insertf128_ps(_mm256_castps128_ps256(__builtin_bit_cast(__m128, low)),
                                                             __builtin_bit_cast(__m128, high), 1));
#else
  ManyFloats out;
  for (int k = 0; k < kStep; ++k) out[k] = low[k], out[kStep + k] = high[k];
  return out;
#endif
}

// Sums of one statistic, as floats, of twice as many columns.
template <bool Rates, class V>
[[gnu::always_inline]] inline SavingCells<ManyFloats> floats_in_cells(const SavingInput<V>& in, std::int32_t i,
                                                                      std::int32_t j, std::int32_t statistic,
                                                                      const PairRow<V>& pairs) {
  if constexpr (sizeof(V) == 8) {
    const auto low = in_floats<Rates>(sums_in_cells(in, i, j, statistic, pairs));
    const auto high = in_floats<Rates>(sums_in_cells(in, i, j + kStep, statistic, pairs));
    return in_cells(low, high, [](Floats a, Floats b) { return join(a, b); });
  } else {
    const auto s = static_cast<std::size_t>(statistic);
    const V* column = in.columns + s * static_cast<std::size_t>(in.stride);
    const V with = column[i], without = in.totals[statistic] - with;
    auto both = step_at<ManyShorts>(pairs.minuend + s * pairs.minuend_type_stride + j);
    if (pairs.subtrahend != nullptr)
      both -= step_at<ManyShorts>(pairs.subtrahend + s * pairs.subtrahend_type_stride + j);
    const ManyShorts only_j = step_at<ManyShorts>(column + j) - both;
    const auto real = [](ManyShorts x) { return __builtin_convertvector(x, ManyFloats); };
    return {real(both), real(with - both), real(only_j), real(without - only_j)};
  }
}

[[gnu::always_inline]] inline ManyFloats larger(ManyFloats a, ManyFloats b) { return a > b ? a : b; }

[[gnu::always_inline]] inline float largest_float(ManyFloats x) {
  float out = x[0];
  for (int k = 1; k < 2 * kStep; ++k) out = x[k] > out ? x[k] : out;
  return out;
}

template <bool Rates, class V>
inline void estimates_of_row(const SavingInput<V> in, std::int32_t i, const PairRow<V> pairs) {
  constexpr std::int32_t kMany = 2 * kStep;
  const ManyFloats none = ManyFloats{} - __builtin_inff();
  ManyShorts places{};
  for (int k = 0; k < kMany; ++k) places[k] = k;
  ManyFloats yes = none, no = none;
  for (std::int32_t j = (i + 1) & ~(kMany - 1); j < in.n_columns; j += kMany) {
    auto rough =
        rough_savings<Rates>(floats_in_cells<Rates>(in, i, j, 0, pairs), floats_in_cells<Rates>(in, i, j, 1, pairs));
    if (in.count_statistic >= 0) {
      const auto least = static_cast<float>(in.min_leaf);
      const auto forbid_small = [&](ManyFloats value, ManyFloats rows) { return rows < least ? none : value; };
      rough = in_cells(rough, floats_in_cells<true>(in, i, j, in.count_statistic, pairs), forbid_small);
    }
    if (j <= i || j + kMany > in.n_columns) {  // only columns after i are asked for
      const ManyShorts column = places + j;
      const ManyShorts is_asked = (column > i) & (column < in.n_columns);
      const auto choose = [&](ManyFloats value, ManyFloats) { return is_asked ? value : none; };
      rough = in_cells(rough, rough, choose);
    }
    yes = larger(yes, rough.both + rough.only_i);
    no = larger(no, rough.only_j + rough.neither);
    const ManyFloats yes_j = larger(step_at<ManyFloats>(in.yes_rough + j), rough.both + rough.only_j);
    const ManyFloats no_j = larger(step_at<ManyFloats>(in.no_rough + j), rough.only_i + rough.neither);
    std::memcpy(in.yes_rough + j, &yes_j, sizeof(yes_j));
    std::memcpy(in.no_rough + j, &no_j, sizeof(no_j));
  }
  const float yes_i = largest_float(yes), no_i = largest_float(no);
  if (yes_i > in.yes_rough[i]) in.yes_rough[i] = yes_i;
  if (no_i > in.no_rough[i]) in.no_rough[i] = no_i;
}

template <class V>
void estimates_of_pairs(const SavingInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  return in.rates != nullptr ? estimates_of_row<true>(in, i, pairs) : estimates_of_row<false>(in, i, pairs);
}

// What an estimate must exceed for the exact saving to be the largest, if `largest` is the largest estimate: both are off, and
// two leaves are rounded up.
template <bool Rates, class V>
[[gnu::always_inline]] inline Reals bars_below(const SavingInput<V>& in, float largest, V w) {
  // Beyond 2^24 rows, leaves that are too small may be among the estimates.
  if (in.min_leaf > (1 << 24)) return all_reals(-__builtin_inf());
  if constexpr (Rates) return all_reals(largest - 2 * kRoughRate * static_cast<double>(w) - 3 * in.rates->per_gain);
  return all_reals(largest * (1 - 3 * kRoughSquare) - 3 / static_cast<double>(in.scales[0]));
}

template <bool Rates, class V>
inline void savings_with_column(const SavingInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  Wholes places{};
  for (int k = 0; k < kStep; ++k) places[k] = k;
  const auto with = all_wholes(in.columns[i]);
  const Wholes all = all_wholes(in.totals[0]), none = all_wholes(kNoSaving);
  Wholes yes = none, no = none;
  const auto larger_of = [](Reals a, Reals b) { return a > b ? a : b; };
  Bars bars{bars_below<Rates>(in, in.yes_rough[i], in.columns[i]),
            bars_below<Rates>(in, in.no_rough[i], static_cast<V>(in.totals[0] - in.columns[i]))};
  for (std::int32_t j = 0; j < in.n_columns; j += kStep) {
    const auto w = sums_in_cells(in, i, j, 0, pairs), u = sums_in_cells(in, i, j, 1, pairs);
    if (!may_improve<Rates, false>(in, j, w, u, bars)) continue;
    const auto saved = exact_savings<Rates>(in, i, j, pairs, w, u);
    const Wholes column = places + j;
    const Wholes is_asked = (column != i) & (column < in.n_columns);
    const Wholes yes_i = is_asked ? saved.both + saved.only_i : none;
    const Wholes no_i = is_asked ? saved.only_j + saved.neither : none;
    yes = all_wholes(largest_lane(yes > yes_i ? yes : yes_i));
    no = all_wholes(largest_lane(no > no_i ? no : no_i));
    bars = {larger_of(bars.yes, bars_above<Rates>(in, yes, with)),
            larger_of(bars.no, bars_above<Rates>(in, no, all - with))};
  }
  in.yes1[i] = yes[0];
  in.no1[i] = no[0];
}

template <class V>
void savings_of_column(const SavingInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  return in.rates != nullptr ? savings_with_column<true>(in, i, pairs) : savings_with_column<false>(in, i, pairs);
}

template <class V>
void savings_of_pairs(const SavingInput<V>& in, std::int32_t i, const PairRow<V>& pairs) {
  return in.rates != nullptr ? savings_of_row<true>(in, i, pairs) : savings_of_row<false>(in, i, pairs);
}

void rate_savings(const RateLoss& loss, const std::int64_t* events, const std::int64_t* exposure, std::int64_t n,
                  std::int64_t* saved) {
  std::int64_t k = 0;
  for (; k + kStep <= n; k += kStep) {
    const Wholes units = rate_units(loss, wholes_at(events + k), wholes_at(exposure + k));
    std::memcpy(saved + k, &units, sizeof(units));
  }
  for (; k < n; ++k) saved[k] = rate_units(loss, all_wholes(events[k]), all_wholes(exposure[k]))[0];
}

template <class V>
void savings_of_sides(const SavingInput<V>& in, std::int64_t* yes0, std::int64_t* no0) {
  for (std::int32_t j = 0; j < in.n_columns; j += kStep) {
    const Wholes w = wholes_at(in.columns + j), rest_w = static_cast<std::int64_t>(in.totals[0]) - w;
    Wholes yes{}, no{};
    for (std::int32_t output = 0; output < in.n_outputs; ++output) {
      const Wholes u = wholes_at(in.columns + static_cast<std::ptrdiff_t>(output + 1) * in.stride + j);
      const Wholes rest_u = static_cast<std::int64_t>(in.totals[output + 1]) - u;
      if (in.rates != nullptr) {
        yes += exact_saving<true>(in, output, w, u);
        no += exact_saving<true>(in, output, rest_w, rest_u);
      } else {
        yes += exact_saving<false>(in, output, w, u);
        no += exact_saving<false>(in, output, rest_w, rest_u);
      }
    }
    std::memcpy(yes0 + j, &yes, sizeof(yes));
    std::memcpy(no0 + j, &no, sizeof(no));
  }
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
