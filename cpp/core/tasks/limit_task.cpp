#include "tasks/limit_task.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace certree {

void LimitTask::check() const {
  require(n_labels >= 1, "values must have at least one label");
  require(n_quantities >= 1, "values must have at least one quantity");
  require(n_planes >= 1 && planes.size() == n_planes * width(),
          "planes must have one column per quantity and one for splits, and the objective in row 0");
  require(multipliers.size() % n_planes == 0, "multipliers must have one column per plane");
  require(corners.size() % n_planes == 0, "corners must have one column per plane");
  require(std::all_of(multipliers.begin(), multipliers.end(), [](Cost w) { return w >= 0; }),
          "multipliers must not be negative");
  require(n_corners() >= 1, "corners must have at least one row");
  require(is_front() || n_corners() == 1, "without scales there is one corner");
  require(planes[width() - 1] >= 0, "a split must not lower the objective");
  if (is_front()) {
    require(scales.size() == n_planes, "scales must have one entry per plane");
    require(std::all_of(scales.begin(), scales.end(), [](Cost s) { return s >= -1; }),
            "scales must not be negative, but for -1, an objective");
    require(scales[0] == 0, "the objective has scale 0");
    require(std::any_of(scales.begin(), scales.end(), [](Cost s) { return s > 0; }) != has_objectives(),
            "a front needs planes with a positive scale, or further objectives");
    require(!has_objectives() || n_corners() == 1, "several objectives have one corner");
  }
  require(label_min.empty() || label_min.size() == n_labels, "label_min must have one entry per label");
  check_digits();
}

void LimitTask::check_digits() const {
  require(finer.empty() || (finer.size() == n_planes && digits.size() == n_planes && digit_bits.size() == n_planes),
          "finer, digits and digit_bits must have one entry per plane");
  std::vector<std::size_t> length(n_planes, 1);
  for (std::size_t e = 0; e < finer.size(); ++e) {
    if (finer[e] == 0) continue;
    // Later planes only, so that digits come to an end.
    require(e > 0 && finer[e] > static_cast<std::int64_t>(e) && finer_than(e) < n_planes,
            "a finer plane must come after the plane it refines, which is a limit");
    require(finer_than(e) >= n_bounded(), "finer planes must come after all others");
    require(digit_bits[e] >= 1 && digit_bits[e] <= 58, "digit_bits must be between 1 and 58");
    length[finer_than(e)] = length[e] + 1;
    require(length[finer_than(e)] <= kMostDigits, "a limit has too many digits");
    require(planes[e * width() + n_quantities] == 0 && planes[finer_than(e) * width() + n_quantities] == 0,
            "planes with several digits must not count splits");
    require(!is_front() || (scales[e] == 0 && scales[finer_than(e)] == 0), "a gap or objective has one digit");
  }
}

bool LimitTask::has_objectives() const {
  return std::any_of(scales.begin(), scales.end(), [](Cost s) { return s < 0; });
}

std::size_t LimitTask::n_bounded() const {
  std::size_t n_digits = 0;
  for (const std::int64_t next : finer) n_digits += next != 0 ? 1 : 0;
  return n_planes - n_digits;
}

}  // namespace certree
