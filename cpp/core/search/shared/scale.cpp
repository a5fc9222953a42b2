#include "search/shared/scale.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace certree {

Cost worst_total(const Dataset& data, const CountTask& task) {
  Cost worst = 0;
  bool overflows = false;
  for (std::int32_t t = 0; t < task.n_types(); ++t) {
    Cost term = 0;
    overflows |= __builtin_mul_overflow(task.worst()[static_cast<std::size_t>(t)],
                                        data.totals()[static_cast<std::size_t>(t)], &term) ||
                 __builtin_add_overflow(worst, term, &worst);
  }
  return overflows ? kInfinite : worst;
}

Cost largest_count(const Dataset& data, const CountTask& task) {
  Cost largest = 1;
  bool overflows = false;
  for (std::int32_t t = 0; t < data.n_types(); ++t) {
    const Cost worst = t < task.n_types() ? std::max<Cost>(task.worst()[static_cast<std::size_t>(t)], 1) : 1;
    Cost term = 0;
    overflows |= __builtin_mul_overflow(worst, data.totals()[static_cast<std::size_t>(t)], &term) ||
                 __builtin_add_overflow(largest, term, &largest);
  }
  require(!overflows && largest < kInfinite, "the total cost overflows 64-bit integers; scale weights or costs down");
  return largest;
}

Scale::Scale(Cost worst, const Options& options, std::int64_t splits) {
  factor = options.smallest ? splits + 1 : 1;
  Cost total = 0;
  bool overflows = worst >= kInfinite;
  Cost penalties = 0;
  overflows |= __builtin_mul_overflow(options.error_scale, worst, &worst) ||
               __builtin_mul_overflow(options.split_penalty, splits + 1, &penalties) ||
               __builtin_add_overflow(worst, penalties, &total) || __builtin_add_overflow(total, 1, &total) ||
               __builtin_mul_overflow(total, factor, &total);
  require(!overflows && total < kInfinite,
          "the objective overflows 64-bit integers; scale weights, costs or the penalty down");
  objective = {options.error_scale * factor, options.split_penalty * factor + (options.smallest ? 1 : 0)};
}

}  // namespace certree
