#include "data/ordered_data.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/check.hpp"

namespace certree {

void check_ordered(const OrderedView& view, std::int32_t n_types) {
  require(view.n_rows >= 1, "the table has no rows");
  require(view.n_rows < (std::int64_t{1} << 31), "the table has too many rows for 32-bit numbers");
  std::int64_t n_tests = 0;
  for (std::int32_t f = 0; f < view.n_features; ++f) {
    require(view.n_ranks[f] >= 1, "n_ranks has a value below 1");
    n_tests += view.n_ranks[f] - 1;
    const std::int32_t* ranks = view.feature(f);
    const auto [low, high] = std::minmax_element(ranks, ranks + view.n_rows);
    if (*low < 0 || *high >= view.n_ranks[f])
      throw std::invalid_argument("ranks of feature " + std::to_string(f) + " are outside 0 .. n_ranks - 1");
  }
  require(n_tests < std::numeric_limits<std::int32_t>::max(), "there are too many thresholds for 32-bit numbers");
  for (std::int64_t row = 0; row < view.n_rows; ++row) {
    if (view.row_types[row] < 0 || view.row_types[row] >= n_types)
      throw std::invalid_argument("row_types has a value without a row in cost_matrix");
    if (view.weight(row) < 0) throw std::invalid_argument("weights has a negative value");
  }
}

OrderedData::OrderedData(const OrderedView& view, const CountTask& task, bool counts_rows, MemoryBudget& memory)
    : view_(view),
      task_(task),
      form_(task.form() == LeafForm::matrix ? PlaneForm::costs : PlaneForm::labels),
      n_planes_(task.n_labels()),
      counts_rows_(counts_rows),
      worst_(task.worst()),
      keys_(memory) {
  offset_.push_back(0);
  for (std::int32_t f = 0; f < view.n_features; ++f) offset_.push_back(offset_.back() + view.n_ranks[f] - 1);
  n_tests_ = offset_.back();
  unit_.assign(static_cast<std::size_t>(task.n_types() * n_planes_), 0);
  for (std::int32_t t = 0; t < task.n_types(); ++t)
    for (std::int32_t l = 0; l < n_planes_; ++l)
      unit_[static_cast<std::size_t>(t * n_planes_ + l)] =
          form_ == PlaneForm::costs ? task.cost(t, l) : (t == l ? task.weights()[static_cast<std::size_t>(t)] : 0);
  has_unit_values_ = form_ == PlaneForm::labels &&
                     std::all_of(task.weights().begin(), task.weights().end(), [](Cost w) { return w == 1; });
  bool overflows = false;
  Fingerprint* keys = keys_.ensure(static_cast<std::size_t>(view.n_rows));
  for (std::int32_t row = 0; row < n_rows(); ++row) {
    Cost term = 0;
    has_unit_values_ = has_unit_values_ && view.weight(row) == 1;
    overflows |= __builtin_mul_overflow(view.weight(row), worst_[static_cast<std::size_t>(type(row))], &term) ||
                 __builtin_add_overflow(worst_total_, term, &worst_total_);
    const Word number[] = {static_cast<Word>(row) + 1};
    keys[row] = fingerprint(number, 1);
  }
  require(!overflows && worst_total_ < kInfinite,
          "the total cost overflows 64-bit integers; scale weights or costs down");
  largest_ = std::max<Cost>(worst_total_, view.n_rows);
}

std::int32_t OrderedData::feature_of(std::int32_t test) const {
  const auto after = std::upper_bound(offset_.begin(), offset_.end(), test);
  return static_cast<std::int32_t>(after - offset_.begin()) - 1;
}

}  // namespace certree
