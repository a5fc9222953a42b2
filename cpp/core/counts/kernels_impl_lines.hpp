// Squared errors around the best line per leaf, for many sums at once.  Part of kernels_impl.hpp: included once per
// instruction set.
//
// All sums are less than 2^51, so that doubles hold them.  Differences of products are off by two units in the last place of
// the result, however much cancels (Kahan), and no square is negative.  docs/theory/linear-leaves.md
#pragma once

#include "counts/kernels_impl_base.hpp"
#include "counts/kernels_impl_squares.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

// a b - c d.
inline double difference(double a, double b, double c, double d) {
  const double product = c * d;
  const double rest = __builtin_fma(-c, d, product);
  return __builtin_fma(a, b, -product) + rest;
}

void line_errors(const LineInput& in, double* out) {
  constexpr std::int64_t kLines = 64;
  double weight[kLines], target[kLines], saved[kLines];
  for (std::int64_t begin = 0; begin < in.n; begin += kLines) {
    const std::int64_t count = in.n - begin < kLines ? in.n - begin : kLines;
    const std::int64_t *w = in.sums + begin, *y = w + in.stride, *yy = y + in.stride, *column = yy + in.stride;
    for (std::int64_t k = 0; k < count; ++k) {
      weight[k] = real(w[k] > 1 ? w[k] : std::int64_t{1});
      target[k] = real(y[k]);
      saved[k] = 0;
    }
    for (std::int32_t j = 0; j < in.n_columns; ++j) {
      const std::int64_t *x = column, *xx = x + in.stride, *xy = xx + in.stride;
      const double ridge = in.ridge[j], noise = in.noise[j];
      column = xy + in.stride;
      for (std::int64_t k = 0; k < count; ++k) {
        const double sum = real(x[k]);
        const double spread = difference(weight[k], real(xx[k]), sum, sum);
        const double common = difference(weight[k], real(xy[k]), sum, target[k]);
        const bool is_constant = !(spread > weight[k] * weight[k] * noise);
        const double found = is_constant ? 0.0 : common * common / (spread + weight[k] * ridge);
        saved[k] = found > saved[k] ? found : saved[k];
      }
    }
    for (std::int64_t k = 0; k < count; ++k)
      out[begin + k] = (difference(weight[k], real(yy[k]), target[k], target[k]) - saved[k]) / weight[k];
  }
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
