// Picks the kernels for the processor at hand.
#include "base/check.hpp"
#include "counts/kernels.hpp"
#include "counts/pair_kernels.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {

#define CERTREE_DECLARE(isa)                                 \
  namespace isa {                                            \
  extern const Kernels<std::int16_t> kernels16;              \
  extern const Kernels<std::int32_t> kernels32;              \
  extern const Kernels<std::int64_t> kernels64;              \
  extern const BitKernels bit_kernels;                       \
  extern const VectorKernels<std::int32_t> vector_kernels32; \
  extern const VectorKernels<std::int64_t> vector_kernels64; \
  extern const PairKernels<std::int16_t> pair_kernels16;     \
  extern const PairKernels<std::int32_t> pair_kernels32;     \
  extern const PairKernels<std::int64_t> pair_kernels64;     \
  }
CERTREE_DECLARE(isa_baseline)
#ifdef CERTREE_HAVE_AVX2
CERTREE_DECLARE(isa_avx2)
#endif
#ifdef CERTREE_HAVE_AVX512
CERTREE_DECLARE(isa_avx512)
#endif
#undef CERTREE_DECLARE

bool isa_is_available(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return true;
    case Isa::avx2:
#ifdef CERTREE_HAVE_AVX2
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#else
      return false;
#endif
    case Isa::avx512:
#ifdef CERTREE_HAVE_AVX512
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("bmi2");
#else
      return false;
#endif
  }
  return false;
}

Isa best_isa() {
  if (isa_is_available(Isa::avx512)) return Isa::avx512;
  return isa_is_available(Isa::avx2) ? Isa::avx2 : Isa::baseline;
}

namespace {

template <class T>
const T& pick(Isa isa, const T& baseline, [[maybe_unused]] const T* avx2, [[maybe_unused]] const T* avx512) {
  require(isa_is_available(isa), "this processor (or build) does not have the instruction set asked for");
  if (isa == Isa::avx512) return *avx512;
  return isa == Isa::avx2 ? *avx2 : baseline;
}

}  // namespace

#ifdef CERTREE_HAVE_AVX2
#define CERTREE_AVX2(name) &isa_avx2::name
#else
#define CERTREE_AVX2(name) nullptr
#endif
#ifdef CERTREE_HAVE_AVX512
#define CERTREE_AVX512(name) &isa_avx512::name
#else
#define CERTREE_AVX512(name) nullptr
#endif

template <>
const Kernels<std::int16_t>& kernels_for(Isa isa) {
  return pick<Kernels<std::int16_t>>(isa, isa_baseline::kernels16, CERTREE_AVX2(kernels16), CERTREE_AVX512(kernels16));
}
template <>
const Kernels<std::int32_t>& kernels_for(Isa isa) {
  return pick<Kernels<std::int32_t>>(isa, isa_baseline::kernels32, CERTREE_AVX2(kernels32), CERTREE_AVX512(kernels32));
}
template <>
const Kernels<std::int64_t>& kernels_for(Isa isa) {
  return pick<Kernels<std::int64_t>>(isa, isa_baseline::kernels64, CERTREE_AVX2(kernels64), CERTREE_AVX512(kernels64));
}
const BitKernels& bit_kernels_for(Isa isa) {
  return pick<BitKernels>(isa, isa_baseline::bit_kernels, CERTREE_AVX2(bit_kernels), CERTREE_AVX512(bit_kernels));
}
template <>
const VectorKernels<std::int32_t>& vector_kernels_for(Isa isa) {
  return pick<VectorKernels<std::int32_t>>(isa, isa_baseline::vector_kernels32, CERTREE_AVX2(vector_kernels32),
                                           CERTREE_AVX512(vector_kernels32));
}
template <>
const VectorKernels<std::int64_t>& vector_kernels_for(Isa isa) {
  return pick<VectorKernels<std::int64_t>>(isa, isa_baseline::vector_kernels64, CERTREE_AVX2(vector_kernels64),
                                           CERTREE_AVX512(vector_kernels64));
}

template <>
const PairKernels<std::int16_t>& pair_kernels_for(Isa isa) {
  return pick<PairKernels<std::int16_t>>(isa, isa_baseline::pair_kernels16, CERTREE_AVX2(pair_kernels16),
                                         CERTREE_AVX512(pair_kernels16));
}
template <>
const PairKernels<std::int32_t>& pair_kernels_for(Isa isa) {
  return pick<PairKernels<std::int32_t>>(isa, isa_baseline::pair_kernels32, CERTREE_AVX2(pair_kernels32),
                                         CERTREE_AVX512(pair_kernels32));
}
template <>
const PairKernels<std::int64_t>& pair_kernels_for(Isa isa) {
  return pick<PairKernels<std::int64_t>>(isa, isa_baseline::pair_kernels64, CERTREE_AVX2(pair_kernels64),
                                         CERTREE_AVX512(pair_kernels64));
}

}  // namespace certree
