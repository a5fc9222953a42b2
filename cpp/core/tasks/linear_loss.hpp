// The squared error around a linear model per leaf, as a leaf function that needs no Python.
//
// Rows add w, w y, w y^2, then for every column w x_j, w x_j^2 and w x_j y, and where a model has several columns then
// w x_j x_k for j < k, in this order.  A leaf costs floor(scale * e), at least 0 and at most `most`, with
//
//     e = min over a, b of  sum w (y - a - b x)^2 + sum over j of ridge_j b_j^2,
//
// where b has one entry that is not 0 (`is_simple`) or any.  The intercept a is free.
//
// Laws (docs/theory/linear-leaves.md): without a ridge superadditive, as every least sum of losses is.  With a ridge it is
// not: two leaves pay it twice.  The same loss without it is superadditive, and nowhere above.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"

namespace certree {

struct LinearLoss {
  bool is_simple = true;
  std::vector<double> ridge;  // of each column
  // Of each column: where its mean square, around its mean and beside the other columns, is not above this, the column is
  // constant or a combination of the others, since it is rounded.  0: it is not rounded.
  std::vector<double> noise;
  double scale = 1;
  Cost most = 0;

  // Models of several columns may have no more than these.
  static constexpr std::int32_t kMostTogether = 10;

  std::int32_t n_columns() const { return static_cast<std::int32_t>(ridge.size()); }
  std::int32_t n_statistics() const;
  bool has_ridge() const;
  LinearLoss without_ridge() const;
  // Throws std::invalid_argument for invalid numbers.
  void check() const;
  // A LeafFunction (tasks/vector_task.hpp); labels are not used.
  bool operator()(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t* labels) const;

 private:
  double error_together(const Cost* sums, std::int64_t stride) const;
};

}  // namespace certree
