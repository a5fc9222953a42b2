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

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
