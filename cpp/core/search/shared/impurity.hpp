// How mixed the rows of a leaf are: what greedy trees go by.  No proof depends on it, so floating point will do.
#pragma once

#include <cmath>

namespace certree {

enum class Impurity { gini, entropy };

// Purity of a set of rows, larger is purer and additive over the leaves of a tree.  Add the weight of every class, then ask.
class Purity {
 public:
  explicit Purity(Impurity impurity) : is_gini_(impurity == Impurity::gini) {}
  void add(double weight) {
    total_ += weight;
    sum_ += is_gini_ ? weight * weight : times_log(weight);
  }
  double get() const {
    if (total_ <= 0) return 0;
    return is_gini_ ? sum_ / total_ : sum_ - times_log(total_);
  }

 private:
  static double times_log(double x) { return x > 0 ? x * std::log2(x) : 0; }

  bool is_gini_;
  double total_ = 0, sum_ = 0;
};

}  // namespace certree
