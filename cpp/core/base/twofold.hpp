// A number as the sum of two doubles, of which the second is at most half a unit in the last place of the first: about 106
// bits.  Where doubles lose too many digits, the same code runs on these (tasks/linear_loss.cpp).
//
// Dekker's algorithms, with fused multiplication; an operation is off by less than 2^-102 of its result, a sum of numbers
// of opposite signs by less than 2^-102 of the larger one.
#pragma once

#include <cmath>

namespace certree {

struct Twofold {
  double high = 0;
  double low = 0;

  Twofold() = default;
  Twofold(double value) : high(value) {}  // NOLINT(google-explicit-constructor): doubles are such numbers
  Twofold(double a, double b) : high(a + b) {
    const double shift = high - a;
    low = (a - (high - shift)) + (b - shift);
  }
  explicit operator double() const { return high; }

  friend Twofold operator+(const Twofold& a, const Twofold& b) {
    const Twofold sum(a.high, b.high);
    return {sum.high, sum.low + (a.low + b.low)};
  }
  friend Twofold operator-(const Twofold& a) {
    Twofold out;
    out.high = -a.high;
    out.low = -a.low;
    return out;
  }
  friend Twofold operator-(const Twofold& a, const Twofold& b) { return a + -b; }
  friend Twofold operator*(const Twofold& a, const Twofold& b) {
    const double product = a.high * b.high;
    const double rest = std::fma(a.high, b.high, -product);
    return {product, rest + (a.high * b.low + a.low * b.high)};
  }
  friend Twofold operator/(const Twofold& a, const Twofold& b) {
    const double first = a.high / b.high;
    const double second = (a - Twofold(first) * b).high / b.high;
    return {first, second};
  }
  friend bool operator<(const Twofold& a, const Twofold& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
};

}  // namespace certree
