#include "tasks/linear_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.hpp"
#include "base/twofold.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {

namespace {

__extension__ using Exact = __int128;

constexpr std::size_t kMost = LinearLoss::kMostTogether;
// Columns of which less than this share is left, beside the others, are combinations of them.
constexpr double kNothing = 0x1p-60;

Twofold twofold(Exact value) {
  // Sums are less than 2^51, so differences of their products are less than 2^103: two doubles hold them.
  const Exact high = value / (Exact{1} << 52);
  return {static_cast<double>(static_cast<std::int64_t>(high)) * 0x1p52,
          static_cast<double>(static_cast<std::int64_t>(value - high * (Exact{1} << 52)))};
}

// Sums of squares and products around the means, times w: of columns, of columns and targets.
template <class T>
struct Moments {
  std::size_t n = 0;
  std::array<std::array<T, kMost>, kMost> products;  // on and below the diagonal
  std::array<T, kMost> with_target;
  // A column whose square is at most that of its noise, apart from the ridge, is a combination of others.
  std::array<double, kMost> noise, ridge;
  bool is_nothing(std::size_t j) const {
    return static_cast<double>(products[j][j]) <= noise[j] * noise[j] + (noise[j] > 0 ? ridge[j] : 0.0);
  }
};

// What the best model saves, times w.  The column of which the largest share is left comes next, so that shares fall.
// `least_share`: below that nothing is left.  Negative: doubles do not know.
template <class T>
T saved(Moments<T>& in, double least_share, bool is_final) {
  std::array<double, kMost> whole;
  std::array<bool, kMost> is_open;
  for (std::size_t j = 0; j < in.n; ++j) {
    whole[j] = static_cast<double>(in.products[j][j]);
    is_open[j] = !in.is_nothing(j);
  }
  const auto product = [&](std::size_t j, std::size_t k) -> T& { return in.products[std::max(j, k)][std::min(j, k)]; };
  T total(0.0);
  for (std::size_t step = 0; step < in.n; ++step) {
    std::size_t best = in.n;
    double share = 0;
    for (std::size_t j = 0; j < in.n; ++j) {
      if (!is_open[j]) continue;
      const double left = static_cast<double>(in.products[j][j]) / whole[j];
      if (best < in.n && left <= share) continue;
      best = j;
      share = left;
    }
    if (best == in.n) break;
    if (in.is_nothing(best)) {
      is_open[best] = false;
      continue;
    }
    if (share < least_share) {
      if (!is_final) return T(-1.0);
      break;
    }
    is_open[best] = false;
    const T pivot = in.products[best][best], target = in.with_target[best];
    total = total + target * target / pivot;
    for (std::size_t j = 0; j < in.n; ++j) {
      if (!is_open[j]) continue;
      const T factor = product(j, best) / pivot;
      // What is left of a column holds the rounding of those that were taken away from it.
      in.noise[j] += std::abs(static_cast<double>(factor)) * in.noise[best];
      in.with_target[j] = in.with_target[j] - factor * target;
      for (std::size_t k = 0; k <= j; ++k)
        if (is_open[k]) in.products[j][k] = in.products[j][k] - factor * product(k, best);
    }
  }
  return total;
}

}  // namespace

std::int32_t LinearLoss::n_statistics() const {
  const std::int32_t p = n_columns();
  return 3 + 3 * p + (is_simple ? 0 : p * (p - 1) / 2);
}

bool LinearLoss::has_ridge() const {
  return std::any_of(ridge.begin(), ridge.end(), [](double penalty) { return penalty > 0; });
}

LinearLoss LinearLoss::without_ridge() const {
  LinearLoss out = *this;
  std::fill(out.ridge.begin(), out.ridge.end(), 0.0);
  return out;
}

void LinearLoss::check() const {
  require(n_columns() >= 1, "'linear_loss' needs at least one column");
  require(is_simple || n_columns() <= kMostTogether, "'linear_loss' has more columns than one model may use");
  require(scale > 0 && std::isfinite(scale) && most >= 0, "'linear_loss' needs a positive scale");
  require(noise.size() == ridge.size(), "'linear_loss' needs a ridge and a noise of every column");
  for (const std::vector<double>* numbers : {&ridge, &noise})
    for (const double number : *numbers)
      require(number >= 0 && std::isfinite(number), "'linear_loss' needs numbers that are not negative");
}

double LinearLoss::error_together(const Cost* sums, std::int64_t stride) const {
  const auto n = static_cast<std::size_t>(n_columns());
  const auto sum = [&](std::size_t statistic) { return sums[static_cast<std::int64_t>(statistic) * stride]; };
  const Exact weight = std::max<Cost>(sum(0), 1), target = sum(1);
  std::array<std::array<Exact, kMost>, kMost> exact;
  std::array<Exact, kMost> with_target;
  std::size_t at = 3 + 3 * n;
  for (std::size_t j = 0; j < n; ++j) {
    const Exact x = sum(3 + 3 * j);
    exact[j][j] = weight * sum(4 + 3 * j) - x * x;
    with_target[j] = weight * sum(5 + 3 * j) - x * target;
    for (std::size_t k = j + 1; k < n; ++k) exact[k][j] = weight * sum(at++) - x * sum(3 + 3 * k);
  }
  const auto solve = [&]<class T>(double least_share, bool is_final, auto convert) {
    Moments<T> moments;
    moments.n = n;
    for (std::size_t j = 0; j < n; ++j) {
      moments.with_target[j] = convert(with_target[j]);
      const double size = static_cast<double>(weight), penalty = size * ridge[j];
      moments.noise[j] = size * std::sqrt(noise[j]);
      moments.ridge[j] = penalty;
      for (std::size_t k = 0; k <= j; ++k) moments.products[j][k] = convert(exact[j][k]);
      moments.products[j][j] = moments.products[j][j] + T(penalty);
    }
    return saved<T>(moments, least_share, is_final);
  };
  // Errors of doubles are at most 2^-31 of the squares: docs/theory/linear-leaves.md
  const double safe = std::ldexp(1.0, 2 * static_cast<int>(n) - 22);
  Twofold found(solve.template operator()<double>(safe, false, [](Exact x) { return twofold(x).high; }));
  if (found.high < 0) found = solve.template operator()<Twofold>(kNothing, true, twofold);
  const Twofold squares = twofold(weight * sum(2) - target * target);
  return static_cast<double>(squares - found) / static_cast<double>(weight);
}

bool LinearLoss::operator()(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t*) const {
  constexpr std::int64_t kBlock = 256;
  std::array<double, kBlock> errors;
  const VectorKernels<Cost>& kernels = vector_kernels_for<Cost>(best_isa());
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = std::min(n - begin, kBlock);
    if (is_simple) {
      kernels.line_errors({sums + begin, count, stride, n_columns(), ridge.data(), noise.data()}, errors.data());
    } else {
      for (std::int64_t k = 0; k < count; ++k)
        errors[static_cast<std::size_t>(k)] = error_together(sums + begin + k, stride);
    }
    for (std::int64_t k = 0; k < count; ++k) {
      const double units = std::floor(errors[static_cast<std::size_t>(k)] * scale);
      costs[begin + k] = !(units > 0) ? 0 : units >= static_cast<double>(most) ? most : static_cast<Cost>(units);
    }
  }
  return true;
}

}  // namespace certree
