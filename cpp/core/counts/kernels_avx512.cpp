// The kernels for x86-64 processors with AVX512; compiled with the flags that CMakeLists.txt gives to this file alone.
#ifdef CERTREE_HAVE_AVX512
#define CERTREE_ISA isa_avx512
#include "counts/kernels_impl.hpp"
#endif
