// Pair counts of a node's columns, read as counts of pairs of parts: with n(a), n(b) and n(ab) known, so are the rows where
// a holds and b does not, and so on.  For every part the least cost of one more test below it is then a sum over the
// outcomes of each test, and the depth-two value of a test is the sum over its parts of the better of both.
#include <algorithm>

#include "base/check.hpp"
#include "search/multiway/node.hpp"
#include "search/shared/scale.hpp"

namespace certree {

namespace {

constexpr std::int32_t kRowsPerCall = 4;
// Above this many pairs of parts, similarity is left out rather than stored.
constexpr std::size_t kMostCommon = std::size_t{1} << 20;

template <class V>
class Pass final : public MultiwayPass {
 public:
  Pass(const Dataset& data, const CountTask& task, const MultiwaySettings& settings, Budget& budget,
       MemoryBudget& memory)
      : settings_(settings),
        task_(task),
        budget_(budget),
        stopwatch_(budget),
        kernels_(kernels_for<V>(settings.options.isa)),
        n_types_(static_cast<std::size_t>(data.n_types())),
        n_pair_types_(static_cast<std::size_t>(data.n_pair_types())),
        n_cost_types_(static_cast<std::size_t>(task.n_types())),
        has_conflicts_(data.has_conflicts()),
        has_row_count_(data.has_row_count()),
        weights_(task.weights().begin(), task.weights().end()),
        matrix_(task.matrix().begin(), task.matrix().end()),
        worst_(task.worst().begin(), task.worst().end()),
        columns_(memory),
        pairs_(memory),
        cells_(memory),
        errors_(memory),
        rows_(memory),
        scratch_(memory),
        sides_(memory),
        totals_(n_pair_types_) {}

  bool expand(MultiwayFrame& f) override {
    budget_.add_work();
    if (!count(f.node)) return false;
    describe_parts(f);
    price_tests(f, f.paid, f.node.totals);
    for (std::size_t t = 0; t < f.tests.size(); ++t) f.tests[t].price = prices_[t];
    locate_outcomes(f);
    const auto& outcomes = settings_.outcomes;
    f.has_common = settings_.options.use_split_similarity && outcomes.extends_to_all() &&
                   f.parts.size() * f.parts.size() <= kMostCommon;
    if (f.has_common) f.common.ensure(f.parts.size() * f.parts.size());
    f.value[1] = f.value[2] = f.value[0];
    const std::int64_t steps_per_part =
        std::int64_t{f.node.stride} * task_.n_types() * (task_.form() == LeafForm::matrix ? task_.n_labels() : 1);
    for (std::size_t a = 0; a < f.parts.size(); ++a) {
      evaluate_part(f, a);
      if (((a & 63) == 63 && budget_.poll()) || stopwatch_.is_over(steps_per_part)) return false;
    }
    for (const NodeTest& test : f.tests) {
      Cost one = settings_.objective.split_penalty + test.price, two = one;
      bool is_feasible = true;
      for (std::int32_t o = test.first; o < test.last; ++o) {
        const auto part = static_cast<std::size_t>(f.outcomes[static_cast<std::size_t>(o)].part);
        is_feasible = is_feasible && !f.is_too_small[part];
        one += f.leaf[part];
        two += f.upper[part];
      }
      if (!is_feasible) continue;
      f.value[1] = std::min(f.value[1], one);
      f.value[2] = std::min(f.value[2], two);
    }
    return true;
  }

 private:
  bool count(const Node& node) {
    const auto n = static_cast<std::size_t>(node.n_columns);
    const auto stride = static_cast<std::size_t>(node.stride);
    V* columns = columns_.ensure(n_types_ * stride);
    kernels_.count_columns(node.view(), columns);
    BitColumns bits = node.view();
    bits.n_types = static_cast<std::int32_t>(n_pair_types_);
    V* pairs = pairs_.ensure_unset(n_pair_types_ * n * stride);
    for (std::int32_t i = 0; i < node.n_columns; i += kRowsPerCall) {
      const std::int32_t last = std::min(i + kRowsPerCall, node.n_columns);
      kernels_.count_rows(bits, i, last, pairs + static_cast<std::size_t>(i) * stride, n * stride);
      const auto words = static_cast<std::int64_t>(node.n_columns) * node.n_words * kRowsPerCall;
      if (words > (1 << 20) ? budget_.poll() : stopwatch_.is_over(words + std::int64_t{node.n_columns} * kRowsPerCall))
        return false;
    }
    for (std::size_t t = 0; t < n_pair_types_; ++t) {
      V* matrix = pairs + t * n * stride;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j) matrix[j * stride + i] = matrix[i * stride + j];
        if (stopwatch_.is_over(8 * node.n_columns)) return false;
      }
    }
    return true;
  }

  Cost part_count(const Node& node, const Part& part, std::size_t type) const {
    const Cost holds = columns_[type * static_cast<std::size_t>(node.stride) + static_cast<std::size_t>(part.column)];
    return part.holds ? holds : node.totals[type] - holds;
  }

  // Rows among the counts of one part or node, by type.
  template <class Counts>
  Cost row_count(const Counts& counts) const {
    if (has_row_count_) return static_cast<Cost>(counts[n_pair_types_ - 1]);
    Cost rows = 0;
    for (std::size_t t = 0; t < n_cost_types_; ++t) rows += static_cast<Cost>(counts[t]);
    return rows;
  }

  void describe_parts(MultiwayFrame& f) {
    const std::size_t n = f.parts.size();
    f.leaf.resize(n);
    f.lower.resize(n);
    f.upper.resize(n);
    f.unavoidable.resize(n);
    f.worst.resize(n);
    f.is_too_small.resize(n);
    const MultiwayObjective& objective = settings_.objective;
    const bool uses_conflicts = has_conflicts_ && settings_.options.use_equivalent_points;
    f.value[0] = objective.leaf(task_.leaf_cost(f.node.totals.data(), &f.label));
    f.all_unavoidable = uses_conflicts ? f.node.totals.back() : 0;
    f.all_worst = 0;
    for (std::size_t t = 0; t < n_cost_types_; ++t) f.all_worst += static_cast<Cost>(worst_[t]) * f.node.totals[t];
    std::vector<Cost>& counts = counts_;
    counts.resize(n_types_);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t t = 0; t < n_types_; ++t) counts[t] = part_count(f.node, f.parts[a], t);
      f.leaf[a] = objective.leaf(task_.leaf_cost(counts.data()));
      f.unavoidable[a] = uses_conflicts ? counts.back() : 0;
      f.worst[a] = 0;
      for (std::size_t t = 0; t < n_cost_types_; ++t) f.worst[a] += static_cast<Cost>(worst_[t]) * counts[t];
      f.is_too_small[a] = row_count(counts) < settings_.options.min_leaf;
    }
  }

  // What rows of these counts pay for each test.
  template <class Counts>
  void price_tests(const MultiwayFrame& f, const Paid& paid, const Counts& counts) {
    prices_.assign(f.tests.size(), 0);
    if (settings_.prices == nullptr) return;
    const Cost weight = settings_.prices->weight(counts);
    for (std::size_t t = 0; t < f.tests.size(); ++t) {
      const Part& part = f.parts[static_cast<std::size_t>(f.outcomes[static_cast<std::size_t>(f.tests[t].first)].part)];
      const std::int32_t feature =
          settings_.prices->costs.feature(f.node.column[static_cast<std::size_t>(part.column)]);
      prices_[t] = settings_.objective.errors(weight * paid.price[static_cast<std::size_t>(feature)]);
    }
  }

  // The best test below one part, hence its value up to depth one, and a first lower bound.
  void evaluate_part(MultiwayFrame& f, std::size_t a) {
    const auto stride = static_cast<std::size_t>(f.node.stride);
    const Part& part = f.parts[a];
    const V* cells = cells_of(f.node, part);
    V* errors = errors_.ensure(2 * stride);
    for (std::size_t t = 0; t < n_pair_types_; ++t) totals_[t] = static_cast<V>(part_count(f.node, part, t));
    leaf_errors(cells, type_stride_, f.node, errors);
    // The other sides of the columns.
    V* others = scratch_.ensure(n_pair_types_ * stride);
    for (std::size_t t = 0; t < n_pair_types_; ++t)
      for (std::size_t b = 0; b < stride; ++b)
        others[t * stride + b] = static_cast<V>(totals_[t] - cells[t * type_stride_ + b]);
    leaf_errors(others, stride, f.node, errors + stride);
    const bool counts_rows = settings_.options.min_leaf > 1 || settings_.objective.leaf_penalty > 0;
    if (counts_rows) {
      V* rows = rows_.ensure(2 * stride);
      count_cell_rows(cells, type_stride_, f.node, rows);
      count_cell_rows(others, stride, f.node, rows + stride);
    }
    if (settings_.prices != nullptr) {
      settings_.prices->costs.pay(f.paid, f.node.column[static_cast<std::size_t>(part.column)], after_);
      price_tests(f, after_, totals_);
    }
    const Cost one = best_test(f, counts_rows);
    const MultiwayObjective& objective = settings_.objective;
    f.upper[a] = std::min(f.leaf[a], one);
    f.lower[a] = std::min(f.upper[a], objective.at_least(f.unavoidable[a], settings_.options.use_split_count ? 2 : 0));
    if (f.has_common) keep_common(f, a, cells);
  }

  // Counts of the rows of `part` where each column holds, `type_stride_` apart.
  const V* cells_of(const Node& node, const Part& part) {
    const auto stride = static_cast<std::size_t>(node.stride);
    type_stride_ = static_cast<std::size_t>(node.n_columns) * stride;
    const V* row = pairs_.data() + static_cast<std::size_t>(part.column) * stride;
    if (part.holds) return row;
    V* cells = cells_.ensure(n_pair_types_ * stride);
    for (std::size_t t = 0; t < n_pair_types_; ++t)
      for (std::size_t b = 0; b < stride; ++b)
        cells[t * stride + b] = static_cast<V>(columns_[t * stride + b] - row[t * type_stride_ + b]);
    type_stride_ = stride;
    return cells;
  }

  void leaf_errors(const V* cells, std::size_t type_stride, const Node& node, V* out) {
    const auto n = static_cast<std::size_t>(node.n_columns);
    if (task_.form() == LeafForm::binary_unit) {
      const V* second = cells + type_stride;
      for (std::size_t b = 0; b < n; ++b) out[b] = std::min(cells[b], second[b]);
      return;
    }
    if (task_.form() == LeafForm::weighted_labels) {
      V* largest = largest_.size() < n ? (largest_.resize(n), largest_.data()) : largest_.data();
      std::fill_n(out, n, V{0});
      std::fill_n(largest, n, V{0});
      for (std::size_t t = 0; t < n_cost_types_; ++t) {
        const V* counts = cells + t * type_stride;
        const V weight = weights_[t];
        for (std::size_t b = 0; b < n; ++b) {
          const V cost = static_cast<V>(weight * counts[b]);
          out[b] = static_cast<V>(out[b] + cost);
          largest[b] = std::max(largest[b], cost);
        }
      }
      for (std::size_t b = 0; b < n; ++b) out[b] = static_cast<V>(out[b] - largest[b]);
      return;
    }
    const auto n_labels = static_cast<std::size_t>(task_.n_labels());
    for (std::size_t b = 0; b < n; ++b) {
      V best = kInfeasible<V>;
      for (std::size_t l = 0; l < n_labels; ++l) {
        V sum = 0;
        for (std::size_t t = 0; t < n_cost_types_; ++t)
          sum = static_cast<V>(sum + matrix_[t * n_labels + l] * cells[t * type_stride + b]);
        best = std::min(best, sum);
      }
      out[b] = best;
    }
  }

  void count_cell_rows(const V* cells, std::size_t type_stride, const Node& node, V* out) const {
    const auto n = static_cast<std::size_t>(node.n_columns);
    if (has_row_count_) {
      std::copy_n(cells + (n_pair_types_ - 1) * type_stride, n, out);
      return;
    }
    std::fill_n(out, n, V{0});
    for (std::size_t t = 0; t < n_cost_types_; ++t)
      for (std::size_t b = 0; b < n; ++b) out[b] = static_cast<V>(out[b] + cells[t * type_stride + b]);
  }

  // Where arrays of both sides of all columns have each part and each outcome, and which tests are the two sides of one
  // column: these are looked through all at once.
  void locate_outcomes(const MultiwayFrame& f) {
    const auto stride = static_cast<std::size_t>(f.node.stride);
    part_slots_.clear();
    for (const Part& part : f.parts)
      part_slots_.push_back(static_cast<std::size_t>(part.column) + (part.holds ? 0 : stride));
    slots_.clear();
    for (const Outcome& outcome : f.outcomes) slots_.push_back(part_slots_[static_cast<std::size_t>(outcome.part)]);
    sides_.ensure(2 * stride);
    not_a_test_.assign(static_cast<std::size_t>(f.node.n_columns), kInfeasible<V>);
    wide_.clear();
    for (const NodeTest& test : f.tests) {
      const auto [low, high] =
          std::minmax(slots_[static_cast<std::size_t>(test.first)], slots_[static_cast<std::size_t>(test.last - 1)]);
      if (test.last - test.first == 2 && high - low == stride) {
        not_a_test_[low] = 0;
      } else {
        wide_.push_back(test);
      }
    }
  }

  // The value of the best test, with leaves below it.
  Cost best_test(const MultiwayFrame& f, bool counts_rows) const {
    const MultiwayObjective& objective = settings_.objective;
    if (!counts_rows && settings_.prices == nullptr)
      return objective.split_penalty + objective.errors(fewest_errors(f));
    Cost best = kInfinite;
    for (std::size_t t = 0; t < f.tests.size(); ++t) {
      const NodeTest& test = f.tests[t];
      Cost errors = 0, leaves = 0;
      bool is_feasible = true;
      for (std::int32_t o = test.first; o < test.last; ++o) {
        const std::size_t slot = slots_[static_cast<std::size_t>(o)];
        errors += static_cast<Cost>(errors_[slot]);
        if (!counts_rows) continue;
        const auto rows = static_cast<Cost>(rows_[slot]);
        leaves += rows > 0;
        is_feasible = is_feasible && (rows == 0 || rows >= settings_.options.min_leaf);
      }
      if (!is_feasible) continue;
      const Cost penalties = objective.split_penalty + leaves * objective.leaf_penalty;
      best = std::min(best, objective.errors(errors) + penalties + prices_[t]);
    }
    return best;
  }

  Cost fewest_errors(const MultiwayFrame& f) const {
    const V* holds = errors_.data();
    const V* fails = holds + f.node.stride;
    V fewest = kInfeasible<V>;
    for (std::size_t b = 0; b < not_a_test_.size(); ++b)
      fewest = std::min(fewest, std::max(static_cast<V>(holds[b] + fails[b]), not_a_test_[b]));
    for (const NodeTest& test : wide_) {
      V errors = 0;
      for (std::int32_t o = test.first; o < test.last; ++o)
        errors = static_cast<V>(errors + holds[slots_[static_cast<std::size_t>(o)]]);
      fewest = std::min(fewest, errors);
    }
    return static_cast<Cost>(fewest);
  }

  void keep_common(MultiwayFrame& f, std::size_t a, const V* cells) {
    const auto stride = static_cast<std::size_t>(f.node.stride);
    V* holds = sides_.data();
    V* fails = holds + stride;
    std::fill_n(holds, stride, V{0});
    for (std::size_t t = 0; t < n_cost_types_; ++t) {
      const V* counts = cells + t * type_stride_;
      const V worst = worst_[t];
      for (std::size_t b = 0; b < stride; ++b) holds[b] = static_cast<V>(holds[b] + worst * counts[b]);
    }
    const auto all = static_cast<V>(f.worst[a]);
    for (std::size_t b = 0; b < stride; ++b) fails[b] = static_cast<V>(all - holds[b]);
    Cost* row = f.common.data() + a * f.parts.size();
    for (std::size_t b = 0; b < f.parts.size(); ++b) row[b] = static_cast<Cost>(holds[part_slots_[b]]);
  }

  MultiwaySettings settings_;
  const CountTask& task_;
  Budget& budget_;
  Stopwatch stopwatch_;
  const Kernels<V>& kernels_;
  std::size_t n_types_, n_pair_types_, n_cost_types_;  // counted for columns, for pairs, carrying cost
  bool has_conflicts_, has_row_count_;
  std::vector<V> weights_, matrix_, worst_;
  AlignedArray<V> columns_, pairs_, cells_, errors_, rows_, scratch_, sides_;
  std::vector<V> totals_, largest_, not_a_test_;
  std::vector<Cost> counts_, prices_;
  std::vector<std::size_t> part_slots_, slots_;  // per part, and per outcome
  std::vector<NodeTest> wide_;                   // tests with outcomes of several columns
  Paid after_;
  std::size_t type_stride_ = 0;
};

}  // namespace

std::unique_ptr<MultiwayPass> make_multiway_pass(const Dataset& data, const CountTask& task,
                                                 const MultiwaySettings& settings, Budget& budget,
                                                 MemoryBudget& memory) {
  const Cost largest = largest_count(data, task);
  if (largest < kInfeasible<std::int16_t>)
    return std::make_unique<Pass<std::int16_t>>(data, task, settings, budget, memory);
  if (largest < kInfeasible<std::int32_t>)
    return std::make_unique<Pass<std::int32_t>>(data, task, settings, budget, memory);
  return std::make_unique<Pass<std::int64_t>>(data, task, settings, budget, memory);
}

}  // namespace certree
