// The kernels for any processor of the target platform.
#define CERTREE_ISA isa_baseline
#include "counts/kernels_impl.hpp"
