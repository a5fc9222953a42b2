#include "tasks/vector_task.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "base/check.hpp"

namespace certree {

void VectorTask::check() const {
  require(n_statistics >= 1, "statistics needs at least one column");
  require(kind != VectorKind::squares || n_statistics == 3, "statistics needs three columns: w, w * y, w * y * y");
  require(scale >= 1, "scale must be at least 1");
  require(kind != VectorKind::callback || leaf != nullptr, "a task of kind 'callback' needs a leaf_function");
}

Cost saved_squares(Cost scale, Cost s, Cost w) {
  if (w <= 0) return 0;
  const auto size = static_cast<std::uint64_t>(s < 0 ? -s : s);
  const Wide square = static_cast<Wide>(size) * size * static_cast<std::uint64_t>(scale);
  const auto weight = static_cast<Wide>(w);
  return static_cast<Cost>((square + weight - 1) / weight);
}

Cost VectorTask::leaf_cost(const Cost* sums, std::int32_t* label) const {
  std::int32_t chosen = 0;
  Cost cost = 0;
  switch (kind) {
    case VectorKind::least:
      chosen = static_cast<std::int32_t>(std::min_element(sums, sums + n_statistics) - sums);
      cost = sums[chosen];
      break;
    case VectorKind::squares:
      cost = scale * sums[2] - saved_squares(scale, sums[1], sums[0]);
      break;
    case VectorKind::callback:
      leaf(sums, 1, 1, &cost, &chosen);
      break;
  }
  if (label != nullptr) *label = chosen;
  return cost;
}

}  // namespace certree
