#include "tasks/vector_task.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/bits.hpp"
#include "base/check.hpp"

namespace certree {

void VectorTask::check() const {
  require(n_statistics >= 1, "statistics needs at least one column");
  require(kind != VectorKind::squares || n_statistics == 3, "statistics needs three columns: w, w * y, w * y * y");
  require(kind != VectorKind::quantile || n_statistics == 2, "statistics needs two columns: w, y");
  require(scale >= 1, "scale must be at least 1");
  require(above >= 1 && below >= 1, "above and below must be at least 1");
  require(kind != VectorKind::callback || leaf != nullptr, "a task of kind 'callback' needs a leaf_function");
}

Cost saved_squares(Cost scale, Cost s, Cost w) {
  if (w <= 0) return 0;
  const auto size = static_cast<std::uint64_t>(s < 0 ? -s : s);
  const Wide square = static_cast<Wide>(size) * size * static_cast<std::uint64_t>(scale);
  const auto weight = static_cast<Wide>(w);
  return static_cast<Cost>((square + weight - 1) / weight);
}

void TargetRange::add(const Cost* sums) {
  const Cost w = sums[0], s = sums[1];
  if (w <= 0) throw std::invalid_argument("statistics of kind 'squares' need weights of at least 1");
  least = std::min(least, s / w - (s % w < 0 ? 1 : 0));
  most = std::max(most, s / w + (s % w > 0 ? 1 : 0));
}

Cost worst_square(const TargetRange& range, const Cost* sums, Cost scale, Cost largest) {
  __extension__ using Signed = __int128;
  Cost worst = 0;
  for (const Cost end : {range.least, range.most}) {
    const Signed distance = static_cast<Signed>(sums[2]) - 2 * static_cast<Signed>(end) * sums[1] +
                            static_cast<Signed>(end) * end * sums[0];
    const Signed scaled = distance * scale;
    if (scaled < 0) throw std::invalid_argument("statistics of kind 'squares' must be w, w * y, w * y * y");
    if (scaled > largest)
      throw std::invalid_argument("the squared errors overflow 64-bit integers; scale the targets down");
    worst = std::max(worst, static_cast<Cost>(scaled));
  }
  return worst;
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
    case VectorKind::quantile:
      require(false, "the loss around a quantile is not a function of sums");
      break;
    case VectorKind::callback:
      leaf(sums, 1, 1, &cost, &chosen);
      break;
  }
  if (label != nullptr) *label = chosen;
  return cost;
}

}  // namespace certree
