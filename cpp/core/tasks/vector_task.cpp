#include "tasks/vector_task.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "base/bits.hpp"
#include "base/check.hpp"

namespace certree {

void VectorTask::check() const {
  require(n_statistics >= 1, "statistics needs at least one column");
  require(scale >= 1, "scale must be at least 1");
  require(above >= 1 && below >= 1, "above and below must be at least 1");
  require(kind != VectorKind::quantile || n_statistics == 2, "statistics needs two columns: w, y");
  require(outputs.empty() || kind == VectorKind::least || kind == VectorKind::squares,
          "outputs need a task of kind 'min_label' or 'squares'");
  for (const Cost output : outputs) {
    require(output >= 1, "outputs must be at least 1");
    require(kind != VectorKind::squares || output % scale == 0, "outputs must be multiples of scale");
    require(kind != VectorKind::least || output <= n_statistics, "outputs has more labels than statistics has columns");
  }
  if (kind == VectorKind::squares)
    require(static_cast<std::size_t>(n_statistics) == std::max<std::size_t>(outputs.size(), 1) + 2,
            "statistics needs a column for w, one with w * y for each output, and one for w * y * y");
  if (kind == VectorKind::least && !outputs.empty())
    require(std::accumulate(outputs.begin(), outputs.end(), Cost{0}) == n_statistics,
            "statistics needs a column for each label of each output");
  require(kind != VectorKind::rates || n_statistics == 3, "statistics needs three columns: events, exposure, own");
  require(kind != VectorKind::callback || leaf != nullptr, "a task of kind 'callback' needs a leaf_function");
}

Cost saved_squares(Cost scale, Cost s, Cost w) {
  if (w <= 0) return 0;
  const auto size = static_cast<std::uint64_t>(s < 0 ? -s : s);
  const Wide square = static_cast<Wide>(size) * size * static_cast<std::uint64_t>(scale);
  const auto weight = static_cast<Wide>(w);
  return static_cast<Cost>((square + weight - 1) / weight);
}

Cost dearest(const VectorTask& task, const Cost* sums) {
  if (task.outputs.empty()) return *std::max_element(sums, sums + task.n_statistics);
  Cost cost = 0;
  for (const Cost labels : task.outputs) {
    cost += *std::max_element(sums, sums + labels);
    sums += labels;
  }
  return cost;
}

bool SquareScales::are_narrow(const Cost* sizes) const {
  constexpr Cost kMost = Cost{1} << 52;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    Cost square = 0;
    if (sizes[k + 1] >= kMost / 4 || __builtin_mul_overflow(sizes[0], sizes[0], &square) ||
        __builtin_mul_overflow(square, outputs[k], &square) || square >= kMost)
      return false;
  }
  return true;
}

void TargetRange::add(const Cost* sums, std::size_t n_outputs) {
  const Cost w = sums[0];
  if (w <= 0) throw std::invalid_argument("statistics of kind 'squares' need weights of at least 1");
  least.resize(n_outputs, kInfinite);
  most.resize(n_outputs, -kInfinite);
  for (std::size_t k = 0; k < n_outputs; ++k) {
    const Cost s = sums[k + 1];
    least[k] = std::min(least[k], s / w - (s % w < 0 ? 1 : 0));
    most[k] = std::max(most[k], s / w + (s % w > 0 ? 1 : 0));
  }
}

Cost worst_square(const TargetRange& range, const Cost* sums, const SquareScales& scales, Cost largest) {
  __extension__ using Signed = __int128;
  const std::size_t n = scales.outputs.size();
  Signed near = static_cast<Signed>(sums[n + 1]) * scales.scale, far = near;
  for (std::size_t k = 0; k < n; ++k) {
    // What moving the centre from 0 to an end of the range adds.
    const auto added = [&](Signed end) { return (end * sums[0] - 2 * sums[k + 1]) * end * scales.outputs[k]; };
    const Signed ends[] = {added(range.least[k]), added(range.most[k])};
    near += std::min(ends[0], ends[1]);
    far += std::max(ends[0], ends[1]);
    if (far > largest)
      throw std::invalid_argument("the squared errors overflow 64-bit integers; scale the targets down");
  }
  if (near < 0) throw std::invalid_argument("statistics of kind 'squares' must be w, w * y, w * y * y");
  return static_cast<Cost>(far);
}

Cost VectorTask::leaf_cost(const Cost* sums, std::int32_t* label) const {
  std::int32_t chosen = 0;
  Cost cost = 0;
  switch (kind) {
    case VectorKind::least:
      if (!outputs.empty()) {
        cost = sum_of_least(sums, outputs.data(), outputs.size());
        break;
      }
      chosen = static_cast<std::int32_t>(std::min_element(sums, sums + n_statistics) - sums);
      cost = sums[chosen];
      break;
    case VectorKind::squares:
      cost = outputs.empty() ? square_cost(sums, scale, &scale, 1)
                             : square_cost(sums, scale, outputs.data(), outputs.size());
      break;
    case VectorKind::quantile:
      require(false, "the loss around a quantile is not a function of sums");
      break;
    case VectorKind::rates:
      cost = sums[2] - saved_by_rate(rates, sums[0], sums[1]);
      break;
    case VectorKind::callback:
      leaf(sums, 1, 1, &cost, &chosen);
      break;
  }
  if (label != nullptr) *label = chosen;
  return cost;
}

}  // namespace certree
