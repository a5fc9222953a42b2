// Registers of 64 bytes as the compiler knows them: loops over lanes without a word about the instruction set.  Part of
// kernels_impl.hpp: included once per instruction set.
#pragma once

#include "counts/kernels_impl_base.hpp"
#include "counts/pair_kernels.hpp"

#if defined(__GNUC__) && !defined(__clang__)
// No vector crosses the border of this translation unit.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace certree {
namespace CERTREE_ISA {
namespace {

template <class V>
struct LanesOf {
  typedef V type __attribute__((vector_size(64)));
};
template <class V>
using Lanes = typename LanesOf<V>::type;

template <class V>
[[gnu::always_inline]] inline Lanes<V> lanes_at(const V* at) {
  Lanes<V> out;
  std::memcpy(&out, at, sizeof(out));
  return out;
}

template <class V>
[[gnu::always_inline]] inline Lanes<V> all_lanes(V value) {
  return Lanes<V>{} + value;
}

// Sums along the lanes of a register, each with those before it.
template <class V>
[[gnu::always_inline]] inline Lanes<V> running_sums(Lanes<V> x) {
  const Lanes<V> zero{};
  if constexpr (sizeof(V) == 2) {
    x += __builtin_shufflevector(x, zero, 32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
    x += __builtin_shufflevector(x, zero, 32, 32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
    x += __builtin_shufflevector(x, zero, 32, 32, 32, 32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                                 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
    x += __builtin_shufflevector(x, zero, 32, 32, 32, 32, 32, 32, 32, 32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                 14, 15, 16, 17, 18, 19, 20, 21, 22, 23);
    x += __builtin_shufflevector(x, zero, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 0, 1, 2, 3, 4,
                                 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  } else if constexpr (sizeof(V) == 4) {
    x += __builtin_shufflevector(x, zero, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    x += __builtin_shufflevector(x, zero, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
    x += __builtin_shufflevector(x, zero, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    x += __builtin_shufflevector(x, zero, 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7);
  } else {
    x += __builtin_shufflevector(x, zero, 8, 0, 1, 2, 3, 4, 5, 6);
    x += __builtin_shufflevector(x, zero, 8, 8, 0, 1, 2, 3, 4, 5);
    x += __builtin_shufflevector(x, zero, 8, 8, 8, 8, 0, 1, 2, 3);
  }
  return x;
}

template <class V>
[[gnu::always_inline]] inline Lanes<V> lesser(const Lanes<V>& a, const Lanes<V>& b) {
  return a < b ? a : b;
}

template <class V>
[[gnu::always_inline]] inline V least_lane(Lanes<V> x) {
  if constexpr (sizeof(V) == 2) {
    x = lesser<V>(x, __builtin_shufflevector(x, x, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 1,
                                             2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    x = lesser<V>(x, __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27,
                                             28, 29, 30, 31, 16, 17, 18, 19, 20, 21, 22, 23));
    x = lesser<V>(x, __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 20, 21, 22, 23,
                                             16, 17, 18, 19, 28, 29, 30, 31, 24, 25, 26, 27));
    x = lesser<V>(x, __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 18, 19, 16, 17,
                                             22, 23, 20, 21, 26, 27, 24, 25, 30, 31, 28, 29));
  } else if constexpr (sizeof(V) == 4) {
    x = lesser<V>(x, __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    x = lesser<V>(x, __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
    x = lesser<V>(x, __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  } else {
    x = lesser<V>(x, __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3));
    x = lesser<V>(x, __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5));
  }
  return least(static_cast<V>(x[0]), static_cast<V>(x[1]));
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
