// Weight reuse.  The value of a tree is linear in the prices w (what a row of each type costs under each label, and what
// a split costs), and the trees do not depend on them.  Hence V_w(D), a minimum of linear functions with coefficients that
// are not negative, is monotone, homogeneous and concave in w: for prices u, v and shares a, b >= 0
//
//     a u + b v <= w  in every price     implies     V_w(D) >= a V_u(D) + b V_v(D),
//
// and any lower bounds of V_u and V_v serve.  b = 0 scales the bounds of one earlier solve by the least ratio of new to old
// prices; with both, w may lie between u and v, and the bound loses only by concavity.  docs/theory/weight-reuse.md
//
// Precondition: the same rows and columns, and a minimum leaf size then that was not larger than now.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"

namespace certree {

using Prices = std::vector<Cost>;

// Shares of two earlier bounds, as fractions with one denominator; all below 2^62.
struct Shares {
  Cost first = 0, second = 0, denominator = 1;

  // The least integer not below the combination; bounds and values are integers.
  Cost of(Cost first_bound, Cost second_bound) const {
    const Wide sum = Wide(first) * Wide(first_bound) + Wide(second) * Wide(second_bound);
    return static_cast<Cost>((sum + Wide(denominator) - 1) / Wide(denominator));
  }
};

// The largest share of one earlier bound; none: a price fell to 0, or all old prices were 0.
inline std::optional<Shares> share_of_one(const Prices& old, const Prices& now) {
  Shares least;
  bool is_first = true;
  for (std::size_t k = 0; k < old.size(); ++k) {
    if (old[k] == 0) continue;
    if (is_first || Wide(now[k]) * Wide(least.denominator) < Wide(least.first) * Wide(old[k]))
      least = {now[k], 0, old[k]};
    is_first = false;
  }
  if (is_first || least.first == 0) return std::nullopt;
  return least;
}

namespace weight_reuse {

__extension__ using Signed = __int128;

// a / denominator and b / denominator rounded down to 62 bits each; none: a share is negative, or both are 0.
inline std::optional<Shares> rounded(Signed a, Signed b, Signed denominator) {
  if (denominator < 0) a = -a, b = -b, denominator = -denominator;
  if (denominator == 0 || a <= 0 || b <= 0) return std::nullopt;
  const auto common = [](Wide x, Wide y) {
    while (y != 0) x = std::exchange(y, x % y);
    return x;
  };
  const Wide divisor = common(common(Wide(a), Wide(b)), Wide(denominator));
  Wide first = Wide(a) / divisor, second = Wide(b) / divisor, whole = Wide(denominator) / divisor;
  while ((first | second | whole) >> 62 != 0) first >>= 1, second >>= 1, whole = (whole >> 1) + 1;
  return Shares{static_cast<Cost>(first), static_cast<Cost>(second), static_cast<Cost>(whole)};
}

inline bool is_covered(const Prices& u, const Prices& v, const Prices& now, const Shares& s) {
  for (std::size_t k = 0; k < now.size(); ++k)
    if (Wide(s.first) * Wide(u[k]) + Wide(s.second) * Wide(v[k]) > Wide(now[k]) * Wide(s.denominator)) return false;
  return true;
}

}  // namespace weight_reuse

// Every corner of { a, b > 0 : a u + b v <= w }: for any two bounds, one of the corners is best.
inline std::vector<Shares> shares_of_two(const Prices& u, const Prices& v, const Prices& now) {
  using weight_reuse::Signed;
  std::vector<Shares> corners;
  for (std::size_t m = 0; m < now.size(); ++m) {
    for (std::size_t n = m + 1; n < now.size(); ++n) {
      const Signed determinant = Signed(u[m]) * v[n] - Signed(u[n]) * v[m];
      const auto shares = weight_reuse::rounded(Signed(now[m]) * v[n] - Signed(now[n]) * v[m],
                                                Signed(u[m]) * now[n] - Signed(u[n]) * now[m], determinant);
      if (shares && weight_reuse::is_covered(u, v, now, *shares)) corners.push_back(*shares);
    }
  }
  return corners;
}

}  // namespace certree
