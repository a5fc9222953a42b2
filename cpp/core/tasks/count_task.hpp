// The count task: a leaf's cost is the least, over labels, of a small integer matrix applied to the leaf's weighted
// counts per row type,
//
//     cost(n) = min over labels l of  sum over types t of  matrix[t][l] * n[t].
//
// Accuracy (identity's complement), class weights, cost matrices, balanced accuracy and every weighted solve behind
// another metric are this task with another matrix.
//
// Laws, used by the bounds:
//   superadditive   cost(a + b) >= cost(a) + cost(b): a minimum of linear functions.
//   worst change    adding or removing one unit of type t changes the cost by at most max over l of matrix[t][l].
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "counts/kernels.hpp"

namespace certree {

class CountTask {
 public:
  CountTask(std::int32_t n_types, std::int32_t n_labels, std::vector<Cost> matrix);

  std::int32_t n_types() const { return n_types_; }
  std::int32_t n_labels() const { return n_labels_; }
  LeafForm form() const { return form_; }
  Cost cost(std::int32_t type, std::int32_t label) const { return matrix_[index(type, label)]; }
  const std::vector<Cost>& matrix() const { return matrix_; }
  // weighted_labels: what a row of the type costs under any other label.
  const std::vector<Cost>& weights() const { return weights_; }
  // Worst change per unit of weight of the type.
  const std::vector<Cost>& worst() const { return worst_; }

  // Least cost and the first label that attains it.
  Cost leaf_cost(const Cost* counts, std::int32_t* label = nullptr) const;

 private:
  std::size_t index(std::int32_t type, std::int32_t label) const {
    return static_cast<std::size_t>(type) * static_cast<std::size_t>(n_labels_) + static_cast<std::size_t>(label);
  }
  LeafForm classify();

  std::int32_t n_types_;
  std::int32_t n_labels_;
  std::vector<Cost> matrix_;
  std::vector<Cost> weights_;
  std::vector<Cost> worst_;
  LeafForm form_;
};

}  // namespace certree
