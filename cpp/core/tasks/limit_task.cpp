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
    require(std::all_of(scales.begin(), scales.end(), [](Cost s) { return s >= 0; }), "scales must not be negative");
    require(scales[0] == 0, "the objective has scale 0");
    require(std::any_of(scales.begin(), scales.end(), [](Cost s) { return s > 0; }),
            "a front needs a plane with a positive scale");
  }
  require(label_min.empty() || label_min.size() == n_labels, "label_min must have one entry per label");
}

}  // namespace certree
