#include "search/columns/depth_two.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.hpp"
#include "search/shared/scale.hpp"

namespace certree {

namespace {

constexpr std::int32_t kRowsPerCall = 4;

template <class V>
class DepthTwoSolver final : public DepthTwo {
 public:
  DepthTwoSolver(const Dataset& data, const CountTask& task, const DepthTwoSettings& settings, NodeFactory& factory,
                 Budget& budget, MemoryBudget& memory)
      : settings_(settings),
        task_(task),
        factory_(factory),
        budget_(budget),
        stopwatch_(budget),
        kernels_(kernels_for<V>(settings.isa)),
        n_types_(static_cast<std::size_t>(data.n_types())),
        n_pair_types_(static_cast<std::size_t>(data.n_pair_types())),
        has_conflicts_(data.has_conflicts()),
        weights_(task.weights().begin(), task.weights().end()),
        matrix_(task.matrix().begin(), task.matrix().end()),
        worst_(task.worst()),
        totals_(n_types_),
        child_(memory),
        probe_(memory),
        scratch_columns_(memory),
        other_columns_(memory),
        probe_columns_(memory),
        rows_(memory),
        yes_{Side(memory)},
        no_{Side(memory)} {
    rule_.form = task.form();
    rule_.n_types = task.n_types();
    rule_.n_labels = task.n_labels();
    rule_.weight = rule_.form == LeafForm::matrix ? nullptr : weights_.data();
    rule_.has_unit_weights = std::all_of(weights_.begin(), weights_.end(), [](V w) { return w == 1; });
    rule_.matrix = matrix_.data();
    // A leaf larger than all the data is as infeasible as one larger than V can say.
    rule_.min_leaf = static_cast<V>(std::min<std::int64_t>(settings.min_leaf, kInfeasible<V>));
    rule_.count_type = data.has_row_count() ? data.n_pair_types() - 1 : -1;
    const bool is_uniform = std::all_of(worst_.begin(), worst_.end(), [&](Cost w) { return w == worst_.front(); });
    common_weight_ = is_uniform ? worst_.front() : 0;
    worst_.resize(n_types_, 0);
  }

  bool expand(const Node& node, Expansion& out) override {
    budget_.add_work();
    const BitColumns bits = pair_view(node);
    const auto stride = static_cast<std::size_t>(node.stride);
    const std::size_t pairs = n_pair_types_ * static_cast<std::size_t>(node.n_columns) * stride;
    out.has_pairs = settings_.subtracts_sibling && pairs * sizeof(V) <= settings_.pair_bytes;
    V* columns = reinterpret_cast<V*>(out.columns.ensure(n_types_ * stride * sizeof(V)));
    kernels_.count_columns(node.view(), columns);
    set_totals(node);
    begin_side(yes_, node, columns, totals_.data());
    V* store = out.has_pairs ? reinterpret_cast<V*>(out.pairs.ensure(pairs * sizeof(V)))
                             : rows_.ensure(n_pair_types_ * kRowsPerCall * stride);
    for (std::int32_t i = 0; i < node.n_columns; i += kRowsPerCall) {
      const std::int32_t last = std::min(i + kRowsPerCall, node.n_columns);
      V* target = out.has_pairs ? store + static_cast<std::size_t>(i) * stride : store;
      const std::size_t type_stride =
          out.has_pairs ? static_cast<std::size_t>(node.n_columns) * stride : kRowsPerCall * stride;
      count_pairs(node, bits, i, last, target, type_stride);
      for (std::int32_t r = i; r < last; ++r)
        kernels_.evaluate_row(yes_.input, r,
                              {target + static_cast<std::size_t>(r - i) * stride, type_stride, nullptr, 0});
      if (is_stopped(node)) return false;
    }
    out.errors = finish_side(yes_);
    publish(node, columns, out);
    return true;
  }

  bool evaluate_children(const Node& parent, const Expansion& pairs, std::int32_t column, bool want_yes, bool want_no,
                         ChildErrors& out) override {
    const V* columns = reinterpret_cast<const V*>(pairs.columns.data());
    Cost yes_weight = 0, no_weight = 0;
    for (std::size_t t = 0; t < n_pair_types_; ++t) {
      const Cost yes = columns[t * static_cast<std::size_t>(parent.stride) + static_cast<std::size_t>(column)];
      yes_weight += yes;
      no_weight += parent.totals[t] - yes;
    }
    if (!pairs.has_pairs) {
      return (!want_yes || count_child(parent, column, true, out.yes)) &&
             (!want_no || count_child(parent, column, false, out.no));
    }
    const bool counts_yes = yes_weight <= no_weight;
    return subtract_child(parent, pairs, column, counts_yes, counts_yes ? want_yes : want_no,
                          counts_yes ? want_no : want_yes, counts_yes ? out.yes : out.no,
                          counts_yes ? out.no : out.yes);
  }

  Cost leaf_cost(const Node& node, std::int32_t* label) const override {
    return task_.leaf_cost(node.totals.data(), label);
  }

  Cost best_split(const Node& node, std::int32_t* column, Cost* test) override {
    if (test != nullptr) *test = 0;
    const auto stride = static_cast<std::size_t>(node.stride);
    V* columns = scratch_columns_.ensure(n_types_ * stride);
    kernels_.count_columns(node.view(), columns);
    set_totals(node);
    begin_side(yes_, node, columns, totals_.data());
    *column = -1;
    Cost best = kInfinite;
    for (std::int32_t j = 0; j < node.n_columns; ++j) {
      const Cost cost = static_cast<Cost>(yes_.yes0[static_cast<std::size_t>(j)]) +
                        static_cast<Cost>(yes_.no0[static_cast<std::size_t>(j)]);
      if (yes_.yes0[static_cast<std::size_t>(j)] < kInfeasible<V> && cost < best) {
        best = cost;
        *column = j;
      }
    }
    return best;
  }

  bool has_impurities() const override { return true; }
  // A row counts as much as it can cost.
  std::int32_t purest_split(const Node& node, Impurity impurity) override {
    std::int32_t cheapest = -1;
    best_split(node, &cheapest, nullptr);  // leaves the counts of all columns behind
    const auto stride = static_cast<std::size_t>(node.stride);
    const V* columns = scratch_columns_.data();
    std::int32_t best = -1;
    double purest = 0;
    for (std::int32_t j = 0; cheapest >= 0 && j < node.n_columns; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (yes_.yes0[at] >= kInfeasible<V>) continue;
      Purity yes(impurity), no(impurity);
      for (std::size_t t = 0; t < n_pair_types_; ++t) {
        const auto count = static_cast<Cost>(columns[t * stride + at]);
        yes.add(static_cast<double>(worst_[t] * count));
        no.add(static_cast<double>(worst_[t] * (node.totals[t] - count)));
      }
      const double purity = yes.get() + no.get();
      if (best >= 0 && purity <= purest) continue;
      purest = purity;
      best = j;
    }
    return best;
  }

  void common_worst(const Node& node, const Expansion& expansion, std::int32_t column, Cost* out) const override {
    CERTREE_DCHECK(expansion.has_pairs);
    const auto n = static_cast<std::size_t>(node.n_columns);
    const auto stride = static_cast<std::size_t>(node.stride);
    const auto f = static_cast<std::size_t>(column);
    const V* pairs = reinterpret_cast<const V*>(expansion.pairs.data());
    std::fill(out, out + n, Cost{0});
    // Where every row is worth the same at its worst, counts are added up first and weighed once.
    for (std::size_t t = 0; t < n_pair_types_; ++t) {
      if (worst_[t] == 0) continue;
      const V* matrix = pairs + t * n * stride;
      const V* row = matrix + f * stride;
      const Cost weight = common_weight_ > 0 ? 1 : worst_[t];
      for (std::size_t h = 0; h < f; ++h) out[h] += weight * static_cast<Cost>(matrix[h * stride + f]);
      if (weight == 1) {
        for (std::size_t h = f; h < n; ++h) out[h] += static_cast<Cost>(row[h]);
      } else {
        for (std::size_t h = f; h < n; ++h) out[h] += weight * static_cast<Cost>(row[h]);
      }
    }
    if (common_weight_ > 1)
      for (std::size_t h = 0; h < n; ++h) out[h] *= common_weight_;
  }

 private:
  // One set of columns under evaluation: the node itself, or one child.
  struct Side {
    explicit Side(MemoryBudget& memory) : yes0(memory), no0(memory), yes1(memory), no1(memory) {}
    AlignedArray<V> yes0, no0, yes1, no1;
    PairInput<V> input;
    V leaf = 0;
  };

  void set_totals(const Node& node) {
    for (std::size_t t = 0; t < n_types_; ++t) totals_[t] = static_cast<V>(node.totals[t]);
  }

  BitColumns pair_view(const Node& node) const {
    BitColumns view = node.view();
    view.n_types = static_cast<std::int32_t>(n_pair_types_);
    return view;
  }

  // Pair counts of columns [first, last), as the kernel lays them out.  Without it every column's child is made and counted.
  void count_pairs(const Node& node, const BitColumns& bits, std::int32_t first, std::int32_t last, V* out,
                   std::size_t type_stride) {
    if (settings_.counts_pairs) return kernels_.count_rows(bits, first, last, out, type_stride);
    const auto stride = static_cast<std::size_t>(node.stride);
    V* counts = probe_columns_.ensure(n_types_ * stride);  // columns are counted by all types
    for (std::int32_t i = first; i < last; ++i) {
      factory_.make_child(node, i, true, false, probe_);
      kernels_.count_columns(probe_.view(), counts);
      for (std::size_t t = 0; t < n_pair_types_; ++t)
        std::copy_n(counts + t * stride, stride, out + t * type_stride + static_cast<std::size_t>(i - first) * stride);
    }
  }

  void begin_side(Side& side, const Node& shape, const V* columns, const V* totals) {
    const auto stride = static_cast<std::size_t>(shape.stride);
    side.input = {rule_,   shape.n_columns,          shape.stride,           totals,
                  columns, side.yes1.ensure(stride), side.no1.ensure(stride)};
    std::fill_n(side.input.yes1, stride, kInfeasible<V>);
    std::fill_n(side.input.no1, stride, kInfeasible<V>);
    kernels_.leaf_costs(side.input, side.yes0.ensure(stride), side.no0.ensure(stride));
    side.leaf = kernels_.leaf_cost(rule_, totals, nullptr);
  }

  SplitErrors finish_side(Side& side) const {
    const SplitCosts<V> costs =
        kernels_.summarise(side.input.n_columns, side.yes0.data(), side.no0.data(), side.input.yes1, side.input.no1);
    SplitErrors errors{static_cast<Cost>(side.leaf), widen(costs.one), widen(costs.two), widen(costs.three)};
    for (std::size_t k = 1; k < errors.size(); ++k) errors[k] = std::min(errors[k], errors[k - 1]);
    return errors;
  }

  static Cost widen(V cost) { return cost >= kInfeasible<V> ? kInfinite : static_cast<Cost>(cost); }

  void publish(const Node& node, const V* columns, Expansion& out) {
    const auto stride = static_cast<std::size_t>(node.stride);
    const auto n = static_cast<std::size_t>(node.n_columns);
    Cost* targets[] = {out.yes0.ensure(stride), out.no0.ensure(stride), out.yes1.ensure(stride),
                       out.no1.ensure(stride)};
    const V* sources[] = {yes_.yes0.data(), yes_.no0.data(), yes_.yes1.data(), yes_.no1.data()};
    for (int k = 0; k < 4; ++k)
      for (std::size_t j = 0; j < n; ++j) targets[k][j] = widen(sources[k][j]);
    Cost* unavoidable = out.yes_unavoidable.ensure(stride);
    Cost* worst = out.yes_worst.ensure(stride);
    const V* conflicts = columns + n_pair_types_ * stride;
    out.unavoidable = has_conflicts_ ? node.totals.back() : 0;
    for (std::size_t j = 0; j < n; ++j) {
      unavoidable[j] = has_conflicts_ ? static_cast<Cost>(conflicts[j]) : 0;
      worst[j] = 0;
    }
    out.worst = 0;
    for (std::size_t t = 0; t < n_pair_types_; ++t) {
      if (worst_[t] == 0) continue;
      out.worst += worst_[t] * node.totals[t];
      for (std::size_t j = 0; j < n; ++j) worst[j] += worst_[t] * static_cast<Cost>(columns[t * stride + j]);
    }
  }

  // Passes look at the clock between rows, short ones once for many.
  bool is_stopped(const Node& node) {
    const auto words_per_call = static_cast<std::int64_t>(node.n_columns) * node.n_words * kRowsPerCall;
    if (words_per_call > (1 << 20)) return budget_.poll();
    return stopwatch_.is_over(words_per_call + std::int64_t{node.n_columns} * kRowsPerCall);
  }

  bool count_child(const Node& parent, std::int32_t column, bool holds, SplitErrors& out) {
    factory_.make_child(parent, column, holds, true, child_);
    budget_.add_work();
    const BitColumns bits = pair_view(child_);
    const auto stride = static_cast<std::size_t>(child_.stride);
    V* columns = scratch_columns_.ensure(n_types_ * stride);
    kernels_.count_columns(child_.view(), columns);
    set_totals(child_);
    begin_side(yes_, child_, columns, totals_.data());
    V* rows = rows_.ensure(n_pair_types_ * kRowsPerCall * stride);
    for (std::int32_t i = 0; i < child_.n_columns; i += kRowsPerCall) {
      const std::int32_t last = std::min(i + kRowsPerCall, child_.n_columns);
      count_pairs(child_, bits, i, last, rows, kRowsPerCall * stride);
      for (std::int32_t r = i; r < last; ++r)
        kernels_.evaluate_row(yes_.input, r,
                              {rows + static_cast<std::size_t>(r - i) * stride, kRowsPerCall * stride, nullptr, 0});
      if (is_stopped(child_)) return false;
    }
    out = finish_side(yes_);
    return true;
  }

  // Counts the smaller child row by row; the larger is the parent less the smaller.
  bool subtract_child(const Node& parent, const Expansion& pairs, std::int32_t column, bool small_holds,
                      bool want_small, bool want_large, SplitErrors& small_out, SplitErrors& large_out) {
    factory_.make_child(parent, column, small_holds, false, child_);
    const BitColumns bits = pair_view(child_);
    const auto stride = static_cast<std::size_t>(parent.stride);
    const auto parent_types = static_cast<std::size_t>(parent.n_columns) * stride;
    const V* parent_pairs = reinterpret_cast<const V*>(pairs.pairs.data());
    const V* parent_columns = reinterpret_cast<const V*>(pairs.columns.data());
    V* small_columns = scratch_columns_.ensure(n_types_ * stride);
    kernels_.count_columns(child_.view(), small_columns);
    set_totals(child_);
    if (want_small) {
      begin_side(yes_, parent, small_columns, totals_.data());
      budget_.add_work();
    }
    if (want_large) {
      V* large_columns = other_columns_.ensure(n_types_ * stride + n_types_);
      for (std::size_t k = 0; k < n_types_ * stride; ++k)
        large_columns[k] = static_cast<V>(parent_columns[k] - small_columns[k]);
      V* large_totals = large_columns + n_types_ * stride;
      for (std::size_t t = 0; t < n_types_; ++t) large_totals[t] = static_cast<V>(parent.totals[t] - child_.totals[t]);
      begin_side(no_, parent, large_columns, large_totals);
      budget_.add_work();
    }
    V* rows = rows_.ensure(n_pair_types_ * kRowsPerCall * stride);
    const std::size_t row_types = kRowsPerCall * stride;
    for (std::int32_t i = 0; i < parent.n_columns; i += kRowsPerCall) {
      const std::int32_t last = std::min(i + kRowsPerCall, parent.n_columns);
      count_pairs(child_, bits, i, last, rows, row_types);
      for (std::int32_t r = i; r < last; ++r) {
        const V* small = rows + static_cast<std::size_t>(r - i) * stride;
        const V* whole = parent_pairs + static_cast<std::size_t>(r) * stride;
        if (want_small) kernels_.evaluate_row(yes_.input, r, {small, row_types, nullptr, 0});
        if (want_large) kernels_.evaluate_row(no_.input, r, {whole, parent_types, small, row_types});
      }
      if (is_stopped(child_)) return false;
    }
    if (want_small) small_out = finish_side(yes_);
    if (want_large) large_out = finish_side(no_);
    return true;
  }

  DepthTwoSettings settings_;
  const CountTask& task_;
  NodeFactory& factory_;
  Budget& budget_;
  Stopwatch stopwatch_;
  const Kernels<V>& kernels_;
  std::size_t n_types_;       // counted for columns
  std::size_t n_pair_types_;  // counted for pairs
  bool has_conflicts_;
  std::vector<V> weights_, matrix_;
  std::vector<Cost> worst_;
  Cost common_weight_ = 0;  // the worst cost of every type, 0: they differ
  LeafRule<V> rule_;
  std::vector<V> totals_;
  Node child_, probe_;
  AlignedArray<V> scratch_columns_, other_columns_, probe_columns_, rows_;
  Side yes_, no_;
};

}  // namespace

std::unique_ptr<DepthTwo> CountDepthTwo::make(const DepthTwoSettings& settings, NodeFactory& factory, Budget& budget,
                                              MemoryBudget& memory) const {
  const Cost largest = largest_count(data_, task_);
  if (largest < kInfeasible<std::int16_t>)
    return std::make_unique<DepthTwoSolver<std::int16_t>>(data_, task_, settings, factory, budget, memory);
  if (largest < kInfeasible<std::int32_t>)
    return std::make_unique<DepthTwoSolver<std::int32_t>>(data_, task_, settings, factory, budget, memory);
  return std::make_unique<DepthTwoSolver<std::int64_t>>(data_, task_, settings, factory, budget, memory);
}

}  // namespace certree
