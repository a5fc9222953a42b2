#include "data/ordered_data.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/check.hpp"
#include "base/seed.hpp"
#include "tasks/quantile_loss.hpp"

namespace certree {

namespace {

constexpr Cost kLargest = kInfinite / 4;
// Where the budget has ended, so many ranks more are looked at: about a twentieth of a second.
constexpr std::int64_t kGrace = std::int64_t{1} << 25;

void add_checked(Cost& sum, Cost term) {
  if (__builtin_add_overflow(sum, term, &sum) || sum > kLargest || sum < -kLargest)
    throw std::invalid_argument("the total cost overflows 64-bit integers; scale weights, costs or targets down");
}

Cost checked_product(Cost a, Cost b) {
  Cost product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kLargest || product < -kLargest)
    throw std::invalid_argument("the total cost overflows 64-bit integers; scale weights, costs or targets down");
  return product;
}

}  // namespace

void check_ranks(const OrderedView& view, Budget& budget) {
  require(view.n_rows >= 1, "the table has no rows");
  require(view.n_rows < (std::int64_t{1} << 31), "the table has too many rows for 32-bit numbers");
  std::int64_t n_tests = 0;
  for (std::int32_t f = 0; f < view.n_features; ++f) {
    if (f * view.n_rows > kGrace && budget.is_out_of_time()) throw TimeIsUp{};
    require(view.n_ranks[f] >= 1, "n_ranks has a value below 1");
    n_tests += view.n_ranks[f] - 1;
    const std::int32_t* ranks = view.feature(f);
    const auto [low, high] = std::minmax_element(ranks, ranks + view.n_rows);
    if (*low < 0 || *high >= view.n_ranks[f])
      throw std::invalid_argument("ranks of feature " + std::to_string(f) + " are outside 0 .. n_ranks - 1");
  }
  require(n_tests < std::numeric_limits<std::int32_t>::max(), "there are too many thresholds for 32-bit numbers");
}

OrderedData::OrderedData(const OrderedView& view, MemoryBudget& memory) : view_(view), worst_(memory), keys_(memory) {
  offset_.push_back(0);
  for (std::int32_t f = 0; f < view.n_features; ++f) offset_.push_back(offset_.back() + view.n_ranks[f] - 1);
  Fingerprint* keys = keys_.ensure(static_cast<std::size_t>(view.n_rows));
  const std::uint64_t seed = process_seed();
  for (std::int32_t row = 0; row < n_rows(); ++row) {
    const Word number[] = {static_cast<Word>(row) + 1};
    keys[row] = fingerprint(number, 1, seed);
  }
}

OrderedData::OrderedData(const OrderedView& view, const CountTask& task, Budget&, MemoryBudget& memory)
    : OrderedData(view, memory) {
  const bool is_matrix = task.form() == LeafForm::matrix;
  rule_.form = is_matrix ? PlaneForm::costs : PlaneForm::labels;
  rule_.n_planes = n_statistics_ = task.n_labels();
  worst_.assign(task.worst().begin(), task.worst().end());
  for (std::int32_t t = 0; t < task.n_types(); ++t)
    for (std::int32_t l = 0; l < task.n_labels(); ++l)
      unit_.push_back(is_matrix ? task.cost(t, l) : (t == l ? task.weights()[static_cast<std::size_t>(t)] : 0));
  if (!is_matrix) label_weights_ = task.weights();
  for (std::int32_t row = 0; row < n_rows(); ++row) {
    const std::int32_t type = view.row_types[row];
    if (type < 0 || type >= task.n_types())
      throw std::invalid_argument("row_types has a value without a row in cost_matrix");
    if (view.weight(row) < 1) throw std::invalid_argument("weights must be at least 1; leave rows of weight 0 out");
    if (view.weight(row) != 1) label_weights_.clear();
    add_checked(worst_total_, checked_product(view.weight(row), worst_[static_cast<std::size_t>(type)]));
  }
  has_unit_values_ = !label_weights_.empty() &&
                     std::all_of(label_weights_.begin(), label_weights_.end(), [](Cost w) { return w == 1; });
  largest_ = std::max<Cost>(worst_total_, view.n_rows);
}

OrderedData::OrderedData(const OrderedView& view, const VectorTask& task, Budget& budget, MemoryBudget& memory)
    : OrderedData(view, memory) {
  require(task.superadditive, "ordered features need leaf costs that are superadditive");
  n_statistics_ = rule_.n_planes = task.n_statistics;
  rule_.scale = task.scale;
  worst_.resize(static_cast<std::size_t>(view.n_rows));
  leaves_ = make_ordered_leaves(view, task, budget, memory);
  switch (task.kind) {
    case VectorKind::least:
      rule_.form = task.outputs.size() > 1 ? PlaneForm::outputs : PlaneForm::costs;
      outputs_ = task.outputs;
      bound_rows(task);
      break;
    case VectorKind::squares:
      rule_.form = PlaneForm::squares;
      outputs_ = SquareScales(task).outputs;
      bound_squares(task);
      break;
    case VectorKind::quantile:
      rule_.form = PlaneForm::rows;
      rule_.n_planes = 1;
      n_statistics_ = 0;
      bound_quantiles(task);
      break;
    case VectorKind::rates:
    case VectorKind::callback:
      rule_.form = PlaneForm::asked;
      rule_.n_planes = task.n_statistics + 1;
      rule_.costs = leaves_.get();
      take_worst(task);
      break;
  }
  rule_.n_outputs = static_cast<std::int32_t>(std::max<std::size_t>(outputs_.size(), 1));
  rule_.outputs = outputs_.data();
  for (const Cost worst : worst_) add_checked(worst_total_, worst);
  largest_ = task.kind == VectorKind::least ? std::max<Cost>(worst_total_, view.n_rows) : kLargest;
  if (leaves_ == nullptr) return;
  // A tree never costs more than one leaf: superadditivity again.
  std::vector<std::int32_t> rows(static_cast<std::size_t>(view.n_rows));
  std::iota(rows.begin(), rows.end(), 0);
  std::int32_t label = 0;
  worst_total_ = std::max(worst_total_, leaves_->leaf(rows.data(), n_rows(), &label));
  require(worst_total_ <= kLargest, "the total cost overflows 64-bit integers; scale statistics down");
}

void OrderedData::bound_rows(const VectorTask& task) {
  for (std::size_t row = 0; row < worst_.size(); ++row) {
    const Cost* values = view_.statistics + row * static_cast<std::size_t>(task.n_statistics);
    if (*std::min_element(values, values + task.n_statistics) < 0)
      throw std::invalid_argument("statistics of kind 'min_label' must not be negative");
    worst_[row] = dearest(task, values);
  }
}

void OrderedData::bound_squares(const VectorTask& task) {
  const SquareScales scales(task);
  const auto n = static_cast<std::size_t>(task.n_statistics);
  std::vector<Cost> sizes(n, 0);
  TargetRange range;
  for (std::size_t row = 0; row < worst_.size(); ++row) {
    const Cost* values = view_.statistics + row * n;
    range.add(values, scales.outputs.size());
    for (std::size_t s = 0; s + 1 < n; ++s) add_checked(sizes[s], values[s] < 0 ? -values[s] : values[s]);
    add_checked(sizes[n - 1], checked_product(values[n - 1], task.scale));
  }
  for (std::size_t row = 0; row < worst_.size(); ++row)
    worst_[row] = worst_square(range, view_.statistics + row * n, scales, kLargest);
  rule_.is_narrow = scales.are_narrow(sizes.data());
}

// The loss is convex in the leaf's value, which is one of the targets: it is greatest at one of the two ends.
void OrderedData::bound_quantiles(const VectorTask& task) {
  Cost least = kInfinite, most = -kInfinite, weight = 0;
  for (std::size_t row = 0; row < worst_.size(); ++row) {
    const Cost w = view_.statistics[2 * row], y = view_.statistics[2 * row + 1];
    require(w >= 1, "statistics of kind 'quantile' need weights of at least 1");
    require(y >= -kLargest && y <= kLargest, "the losses need more than 52 bits; scale targets or weights down");
    add_checked(weight, w);
    least = std::min(least, y);
    most = std::max(most, y);
  }
  const Cost slopes = checked_product(task.above + task.below, weight);
  require(checked_product(checked_product(slopes, std::max<Cost>(most - least, 1)), 2) < kLargestLoss,
          "the losses need more than 52 bits; scale targets or weights down");
  for (std::size_t row = 0; row < worst_.size(); ++row) {
    const Cost w = view_.statistics[2 * row], y = view_.statistics[2 * row + 1];
    worst_[row] = w * std::max(task.above * (y - least), task.below * (most - y));
  }
}

void OrderedData::take_worst(const VectorTask& task) {
  std::vector<Cost> sizes(static_cast<std::size_t>(task.n_statistics), 0);
  for (std::size_t row = 0; row < worst_.size(); ++row)
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const Cost value = view_.statistics[row * sizes.size() + s];
      add_checked(sizes[s], value < 0 ? -value : value);
    }
  has_worst_ = view_.row_worst != nullptr;
  if (!has_worst_) return;
  worst_.assign(view_.row_worst, view_.row_worst + view_.n_rows);
  require(*std::min_element(worst_.begin(), worst_.end()) >= 0, "row_worst must not be negative");
}

void OrderedData::audit([[maybe_unused]] const Fingerprint& key, [[maybe_unused]] const std::int32_t* rows,
                        [[maybe_unused]] std::int32_t n_rows) const {
#ifdef CERTREE_CHECKS
  std::vector<Word> set(words_for(static_cast<std::size_t>(this->n_rows())), 0);
  for (std::int32_t k = 0; k < n_rows; ++k)
    set[static_cast<std::size_t>(rows[k] / kWordBits)] |= Word{1} << (rows[k] % kWordBits);
  audit_.see(key, set.data(), set.size());
#endif
}

std::int32_t OrderedData::feature_of(std::int32_t test) const {
  const auto after = std::upper_bound(offset_.begin(), offset_.end(), test);
  return static_cast<std::int32_t>(after - offset_.begin()) - 1;
}

Cost OrderedData::leaf_cost(const Cost* sums, std::int32_t* label) const {
  const Cost* end = sums + rule_.n_planes;
  *label = 0;
  if (rule_.form == PlaneForm::squares) return square_cost(sums, rule_.scale, outputs_.data(), outputs_.size());
  if (rule_.form == PlaneForm::outputs) return sum_of_least(sums, outputs_.data(), outputs_.size());
  if (rule_.form == PlaneForm::costs) {
    const Cost* low = std::min_element(sums, end);
    *label = static_cast<std::int32_t>(low - sums);
    return *low;
  }
  const Cost* top = std::max_element(sums, end);
  *label = static_cast<std::int32_t>(top - sums);
  Cost rest = 0;
  for (const Cost* at = sums; at != end; ++at) rest += at == top ? 0 : *at;
  return rest;
}

}  // namespace certree
