// One point of the error-versus-splits curve.
#pragma once

#include <cstdint>

#include "base/cost.hpp"
#include "search/shared/tree.hpp"

namespace certree {

struct PathEntry {
  std::int64_t splits = 0;
  Cost lower = 0, upper = 0;  // leaf cost
  Tree tree;
};

}  // namespace certree
