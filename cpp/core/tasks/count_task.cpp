#include "tasks/count_task.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace certree {

CountTask::CountTask(std::int32_t n_types, std::int32_t n_labels, std::vector<Cost> matrix)
    : n_types_(n_types), n_labels_(n_labels), matrix_(std::move(matrix)) {
  require(n_types_ >= 1 && n_labels_ >= 1, "cost_matrix needs at least one row type and one label");
  require(matrix_.size() == static_cast<std::size_t>(n_types_) * static_cast<std::size_t>(n_labels_),
          "cost_matrix does not have n_types x n_labels entries");
  require(std::all_of(matrix_.begin(), matrix_.end(), [](Cost c) { return c >= 0; }),
          "cost_matrix has a negative entry; add a constant to its row, which changes no comparison of labels");
  worst_.resize(static_cast<std::size_t>(n_types_));
  for (std::int32_t t = 0; t < n_types_; ++t)
    for (std::int32_t l = 0; l < n_labels_; ++l)
      worst_[static_cast<std::size_t>(t)] = std::max(worst_[static_cast<std::size_t>(t)], cost(t, l));
  form_ = classify();
}

LeafForm CountTask::classify() {
  if (n_types_ != n_labels_) return LeafForm::matrix;
  for (std::int32_t t = 0; t < n_types_; ++t)
    for (std::int32_t l = 0; l < n_labels_; ++l)
      if (cost(t, l) != (t == l ? 0 : worst_[static_cast<std::size_t>(t)])) return LeafForm::matrix;
  weights_ = worst_;
  const bool unit = std::all_of(weights_.begin(), weights_.end(), [](Cost w) { return w == 1; });
  return unit && n_types_ == 2 ? LeafForm::binary_unit : LeafForm::weighted_labels;
}

Cost CountTask::leaf_cost(const Cost* counts, std::int32_t* label) const {
  Cost best = kInfinite;
  for (std::int32_t l = 0; l < n_labels_; ++l) {
    Cost sum = 0;
    for (std::int32_t t = 0; t < n_types_; ++t) sum += cost(t, l) * counts[t];
    if (sum < best) {
      best = sum;
      if (label != nullptr) *label = l;
    }
  }
  return best;
}

}  // namespace certree
