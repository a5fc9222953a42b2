// What all parts of kernels_impl.hpp need.
#pragma once

#include <cstring>
#include <initializer_list>

#include "counts/kernels.hpp"
#if defined(__AVX2__)
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns about its own _mm512_undefined_epi32.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace certree {
namespace CERTREE_ISA {
namespace {

template <class V>
inline V least(V a, V b) {
  return b < a ? b : a;
}

inline int popcount(Word w) { return __builtin_popcountll(w); }

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
