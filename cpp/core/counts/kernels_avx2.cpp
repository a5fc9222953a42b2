// The kernels for x86-64 processors with AVX2; compiled with the flags that CMakeLists.txt gives to this file alone.
#ifdef CERTREE_HAVE_AVX2
#define CERTREE_ISA isa_avx2
#include "counts/kernels_impl.hpp"
#endif
