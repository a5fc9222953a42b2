// From the caller's coefficients to the search's, and back.
#pragma once

#include <cstdint>

#include "base/cost.hpp"
#include "data/dataset.hpp"
#include "search/shared/options.hpp"
#include "tasks/count_task.hpp"

namespace certree {

// No tree's leaves cost more: all weight at its worst.  kInfinite if that overflows.
Cost worst_total(const Dataset& data, const CountTask& task);

// The largest number that a kernel can meet: all weight at its worst cost, or all rows.  Throws
// std::invalid_argument if that overflows.
Cost largest_count(const Dataset& data, const CountTask& task);

// The caller's coefficients, made lexicographic with the number of splits if asked for (base/cost.hpp).
struct Scale {
  // `worst`: no tree's leaves cost more.  `splits`: more than any tree under consideration has.
  Scale(Cost worst, const Options& options, std::int64_t splits);

  // A value or bound in the caller's units.  The remainder is a number of splits, smaller than the factor, so rounding
  // down recovers a value exactly and keeps a bound valid.
  Cost to_caller(Cost value) const { return value >= kInfinite ? value : value / factor; }

  // A difference of values, in the search's units.
  Cost from_caller(Cost gap) const { return gap > kInfinite / factor ? kInfinite : gap * factor; }

  Objective objective;
  Cost factor = 1;
};

}  // namespace certree
