#include "search/vectors/depth_two.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "search/vectors/callback_leaves.hpp"
#include "search/vectors/leaves.hpp"
#include "search/vectors/quantile_leaves.hpp"
#include "search/vectors/saving_leaves.hpp"
#include "search/vectors/sums.hpp"
#include "search/vectors/table_leaves.hpp"
#include "search/vectors/type_sums.hpp"

namespace certree {

namespace {

std::int32_t round_up(std::int32_t n) { return (std::max(n, 1) + 15) / 16 * 16; }

// Statistics of a group in the order in which they are summed: those of pairs come first.
struct Order {
  std::int32_t n_costs = 0;      // statistics that leaf costs are functions of
  std::int32_t rows = 0;         // number of rows
  std::int32_t worst = 0;        // worst change
  std::int32_t n_in_child = 0;   // summed for the pairs of children
  std::int32_t n_in_parent = 0;  // summed for the pairs of nodes that are searched
  std::int32_t weight = -1;      // what prices of tests are paid for
  std::int32_t n_values = 0;     // summed for columns

  Order(std::int32_t costs, bool pairs_need_rows, bool pairs_need_worst, bool tests_have_prices) : n_costs(costs) {
    n_values = costs;
    if (pairs_need_rows) rows = n_values++;
    n_in_child = n_values;
    worst = n_values++;
    if (tests_have_prices) weight = n_values++;
    n_in_parent = pairs_need_worst ? n_values : n_in_child;
    if (!pairs_need_rows) rows = n_values++;
  }
};

template <class V, class Sums, class Leaves>
class VectorSolver final : public DepthTwo {
 public:
  using Side = typename Leaves::Side;

  VectorSolver(const VectorData& data, const Order& order, Sums sums, Leaves leaves, const DepthTwoSettings& settings,
               Budget& budget, MemoryBudget& memory)
      : data_(data),
        settings_(settings),
        order_(order),
        budget_(budget),
        stopwatch_(budget),
        sums_(std::move(sums)),
        leaves_(std::move(leaves)),
        rows_(memory),
        columns_(memory),
        other_columns_(memory),
        pair_row_(memory),
        wide_columns_(memory),
        only_columns_(memory),
        prices_(memory),
        first_{Side(memory)},
        second_{Side(memory)} {}

  bool expand(const Node& node, Expansion& out) override {
    budget_.add_work();
    sums_.lay_out(node, out.rows);
    use_rows(node);
    const std::int32_t stride = round_up(node.n_columns);
    const std::size_t row_size = static_cast<std::size_t>(order_.n_in_parent) * static_cast<std::size_t>(stride);
    const std::size_t pairs = static_cast<std::size_t>(node.n_columns) * row_size;
    out.has_pairs = settings_.subtracts_sibling && pairs * sizeof(V) <= settings_.pair_bytes;
    const auto n_values = static_cast<std::size_t>(order_.n_values);
    V* columns = reinterpret_cast<V*>(
        out.columns.ensure(n_values * static_cast<std::size_t>(stride + 1) * sizeof(V) + kWideTotals * sizeof(Cost)));
    if (data_.tests() != nullptr) prices_.set(*data_.tests(), node, *node.paid);
    const SideSums<V> sums = add_columns(node, columns, stride);
    kept_ = {};
    V* store = out.has_pairs ? reinterpret_cast<V*>(out.pairs.ensure(pairs * sizeof(V))) : pair_row_.ensure(row_size);
    begin(first_, sums);
    for (std::int32_t i = 0; i < node.n_columns; ++i) {
      V* row = out.has_pairs ? store + static_cast<std::size_t>(i) * row_size : store;
      add_pairs(sums, i, order_.n_in_parent, row);
      leaves_.add_row(first_, i, {row, static_cast<std::size_t>(stride), nullptr, 0});
      if (is_stopped(node)) return false;
    }
    if (!leaves_.finish(true)) return false;
    out.errors = monotone(leaves_.errors(first_));
    publish(node, sums, out);
    return true;
  }

  bool evaluate_children(const Node& parent, const Expansion& expansion, std::int32_t column, bool want_yes,
                         bool want_no, ChildErrors& out) override {
    sums_.use(parent, expansion.rows.data());
    use_rows(parent);
    const bool is_kept = kept_ == Kept{parent.rows.key, column, true};
    if (data_.tests() != nullptr && !is_kept) {
      data_.tests()->pay(*parent.paid, parent.column[static_cast<std::size_t>(column)], child_paid_);
      prices_.set(*data_.tests(), parent, child_paid_);
    }
    if (!expansion.has_pairs) {
      return (!want_yes || sum_child(parent, column, true, out.yes)) &&
             (!want_no || sum_child(parent, column, false, out.no));
    }
    const V* columns = reinterpret_cast<const V*>(expansion.columns.data());
    const auto step = static_cast<std::size_t>(round_up(parent.n_columns));
    const V held = columns[static_cast<std::size_t>(order_.rows) * step + static_cast<std::size_t>(column)];
    const bool sums_yes = held <= totals_of(columns, step)[order_.rows] - held;
    return subtract_child(parent, expansion, column, sums_yes, sums_yes ? want_yes : want_no,
                          sums_yes ? want_no : want_yes, sums_yes ? out.yes : out.no, sums_yes ? out.no : out.yes);
  }

  // Prices make bounds of the children differ, so that one of them often is enough.
  bool keeps_pairs(const Node& parent) const override {
    const auto n = static_cast<std::size_t>(parent.n_columns) * static_cast<std::size_t>(round_up(parent.n_columns));
    return data_.tests() != nullptr && n * static_cast<std::size_t>(order_.n_in_child) * sizeof(V) <= kMostKept;
  }

  Cost leaf_cost(const Node& node, std::int32_t* label) const override { return data_.leaf_cost(node, label); }

  Cost best_split(const Node& node, std::int32_t* column, Cost* test) override {
    Expansion& out = only_columns_;
    kept_ = {};
    sums_.lay_out(node, rows_);
    use_rows(node);
    const std::int32_t stride = round_up(node.n_columns);
    V* columns = column_buffer(columns_, stride);
    if (data_.tests() != nullptr) prices_.set(*data_.tests(), node, *node.paid);
    const SideSums<V> sums = add_columns(node, columns, stride);
    begin(first_, sums);
    leaves_.finish(false);
    publish_costs(node, sums, out);
    *column = -1;
    Cost best = kInfinite;
    for (std::int32_t j = 0; j < node.n_columns; ++j) {
      const auto k = static_cast<std::size_t>(j);
      const Cost cost = out.yes0[k] + out.no0[k] + sums.test(k);
      if (out.yes0[k] >= kInfinite || cost >= best) continue;
      best = cost;
      *column = j;
      if (test != nullptr) *test = sums.test(k);
    }
    return best;
  }

  void common_worst(const Node& node, const Expansion& expansion, std::int32_t column, Cost* out) const override {
    CERTREE_DCHECK(expansion.has_pairs && order_.n_in_parent > order_.worst);
    const auto n = static_cast<std::size_t>(node.n_columns), f = static_cast<std::size_t>(column);
    const auto stride = static_cast<std::size_t>(round_up(node.n_columns));
    const std::size_t row_size = static_cast<std::size_t>(order_.n_in_parent) * stride;
    const V* worst =
        reinterpret_cast<const V*>(expansion.pairs.data()) + static_cast<std::size_t>(order_.worst) * stride;
    for (std::size_t h = 0; h < f; ++h) out[h] = worst[h * row_size + f] * sums_.worst_unit();
    for (std::size_t h = f; h < n; ++h) out[h] = worst[f * row_size + h] * sums_.worst_unit();
    if (!expansion.has_tests) return;
    const V* weight = worst + stride;  // the next statistic
    for (std::size_t h = 0; h < f; ++h) out[h] += weight[h * row_size + f] * expansion.path_price;
    for (std::size_t h = f; h < n; ++h) out[h] += weight[f * row_size + h] * expansion.path_price;
  }

 private:
  static constexpr bool kEstimates = requires { Leaves::kEstimates; };
  static constexpr std::size_t kWideTotals = 2;
  static constexpr std::size_t kMostKept = std::size_t{1} << 17;

  // Whose sums are in small_ and pair_row_, with its prices in prices_: the smaller child of a column.
  struct Kept {
    Fingerprint key;
    std::int32_t column = -1;
    bool is_kept = false;
    bool operator==(const Kept&) const = default;
  };

  static SplitErrors monotone(SplitErrors errors) {
    for (std::size_t k = 1; k < errors.size(); ++k) errors[k] = std::min(errors[k], errors[k - 1]);
    return errors;
  }

  // Some leaves read the rows of a node, besides their sums.
  void use_rows(const Node& node) {
    if constexpr (Leaves::kReadsRows) leaves_.use(node);
  }
  // The rows of the node, or those where a column does or does not hold.
  void begin(Side& side, const SideSums<V>& sums, std::int32_t column = -1, bool holds = true) {
    if constexpr (Leaves::kReadsRows) leaves_.choose(side, column, holds);
    leaves_.begin(side, sums);
  }

  const TestPrices<V>* prices() const { return data_.tests() != nullptr ? &prices_ : nullptr; }

  // Room for the sums of all columns, of all rows, and for the wide sums of all rows.
  V* column_buffer(AlignedArray<V>& buffer, std::int32_t stride) {
    const auto n_values = static_cast<std::size_t>(order_.n_values);
    return buffer.ensure(n_values * static_cast<std::size_t>(stride + 1) + kWideTotals * sizeof(Cost) / sizeof(V));
  }
  Cost* wide_totals(V* columns, std::size_t stride) const {
    // The columns' sums are whole cache lines; totals follow the wide ones.
    return reinterpret_cast<Cost*>(columns + static_cast<std::size_t>(order_.n_values) * stride);
  }
  const V* totals_of(const V* columns, std::size_t stride) const {
    return reinterpret_cast<const V*>(
        reinterpret_cast<const Cost*>(columns + static_cast<std::size_t>(order_.n_values) * stride) + kWideTotals);
  }

  // Sums of the chosen rows for every column, and for all of them together.
  SideSums<V> add_columns(const Node& node, V* columns, std::int32_t stride) {
    Cost* wide = wide_totals(columns, static_cast<std::size_t>(stride));
    V* totals = reinterpret_cast<V*>(wide + kWideTotals);
    std::fill_n(wide, kWideTotals, Cost{0});
    sums_.add_columns(columns, static_cast<std::size_t>(stride), totals, wide);
    return {node.n_columns, stride, totals, columns, wide, prices(), order_.weight};
  }

  // Pair sums of column i with those from i on, over the chosen rows, whose column sums are known.
  void add_pairs(const SideSums<V>& sums, std::int32_t i, std::int32_t n_statistics, V* out) {
    if (data_.tests() != nullptr) prices_.set_row(i);
    sums_.add_pairs(i, n_statistics, sums.columns, static_cast<std::size_t>(sums.stride), out);
  }

  bool sum_child(const Node& parent, std::int32_t column, bool holds, SplitErrors& out) {
    budget_.add_work();
    sums_.choose(column, holds);
    const std::int32_t stride = round_up(parent.n_columns);
    const SideSums<V> sums = add_columns(parent, column_buffer(columns_, stride), stride);
    begin(first_, sums, column, holds);
    kept_ = {};
    V* row = pair_row_.ensure(static_cast<std::size_t>(order_.n_in_child) * static_cast<std::size_t>(stride));
    for (std::int32_t i = 0; i < parent.n_columns; ++i) {
      add_pairs(sums, i, order_.n_in_child, row);
      leaves_.add_row(first_, i, {row, static_cast<std::size_t>(stride), nullptr, 0});
      if (is_stopped(parent)) return false;
    }
    if (!leaves_.finish(true)) return false;
    out = monotone(leaves_.errors(first_));
    return true;
  }

  // Sums the smaller child row by row; the larger is the parent less the smaller.
  bool subtract_child(const Node& parent, const Expansion& expansion, std::int32_t column, bool small_holds,
                      bool want_small, bool want_large, SplitErrors& small_out, SplitErrors& large_out) {
    const Kept asked{parent.rows.key, column, keeps_pairs(parent)};
    const bool is_kept = asked.is_kept && kept_ == asked;
    const std::int32_t stride = round_up(parent.n_columns);
    if (!is_kept) {
      sums_.choose(column, small_holds);
      small_ = add_columns(parent, column_buffer(columns_, stride), stride);
    }
    const SideSums<V>& small = small_;
    if (want_small) {
      begin(first_, small, column, small_holds);
      budget_.add_work();
    }
    if (want_large) {
      begin(second_, subtract_columns(reinterpret_cast<const V*>(expansion.columns.data()), small), column,
            !small_holds);
      budget_.add_work();
    }
    const auto step = static_cast<std::size_t>(stride);
    const std::size_t parent_row = static_cast<std::size_t>(order_.n_in_parent) * step;
    const V* parent_pairs = reinterpret_cast<const V*>(expansion.pairs.data());
    const std::size_t row_size = static_cast<std::size_t>(order_.n_in_child) * step;
    const bool estimates = has_estimates(), keeps_rows = asked.is_kept || estimates;
    V* rows = pair_row_.ensure(keeps_rows ? row_size * static_cast<std::size_t>(parent.n_columns) : row_size);
    kept_ = {};
    if (estimates) begin_estimates(want_small, want_large);
    for (std::int32_t i = 0; i < parent.n_columns; ++i) {
      V* row = keeps_rows ? rows + static_cast<std::size_t>(i) * row_size : rows;
      if (is_kept) {
        prices_.set_row(i);
      } else {
        add_pairs(small, i, order_.n_in_child, row);
      }
      if (want_small) add_row(first_, i, {row, step, nullptr, 0}, estimates);
      if (want_large)
        add_row(second_, i, {parent_pairs + static_cast<std::size_t>(i) * parent_row, step, row, step}, estimates);
      if (is_stopped(parent)) return false;
    }
    if (!leaves_.finish(true)) return false;
    if constexpr (kEstimates) {
      if (estimates && want_small) leaves_.refine(first_, {rows, row_size, nullptr, 0, step});
      if (estimates && want_large) leaves_.refine(second_, {parent_pairs, parent_row, rows, row_size, step});
    }
    kept_ = asked;
    if (want_small) small_out = monotone(leaves_.errors(first_));
    if (want_large) large_out = monotone(leaves_.errors(second_));
    return true;
  }

  // Some leaves know the best of a child from estimates of all its pairs, and from some of its pairs.
  bool has_estimates() const {
    if constexpr (kEstimates) return leaves_.has_estimates();
    return false;
  }
  void begin_estimates(bool of_small, bool of_large) {
    if constexpr (kEstimates) {
      if (of_small) leaves_.begin_estimates(first_);
      if (of_large) leaves_.begin_estimates(second_);
    }
  }
  void add_row(Side& side, std::int32_t i, const PairRow<V>& pairs, bool estimates) {
    if constexpr (kEstimates) {
      if (estimates) return leaves_.estimate_row(side, i, pairs);
    }
    leaves_.add_row(side, i, pairs);
  }

  SideSums<V> subtract_columns(const V* parent, const SideSums<V>& small) {
    V* large = column_buffer(other_columns_, small.stride);
    const std::size_t n = static_cast<std::size_t>(order_.n_values) * static_cast<std::size_t>(small.stride);
    for (std::size_t k = 0; k < n; ++k) large[k] = parent[k] - small.columns[k];
    Cost* wide = wide_totals(large, static_cast<std::size_t>(small.stride));
    const Cost* parent_wide = reinterpret_cast<const Cost*>(parent + n);
    for (std::size_t k = 0; k < kWideTotals; ++k) wide[k] = parent_wide[k] - small.wide_totals[k];
    V* totals = reinterpret_cast<V*>(wide + kWideTotals);
    const V* parent_totals = reinterpret_cast<const V*>(parent_wide + kWideTotals);
    for (std::int32_t s = 0; s < order_.n_values; ++s) totals[s] = parent_totals[s] - small.totals[s];
    return {small.n_columns, small.stride, totals, large, wide, prices(), order_.weight};
  }

  // Costs of columns in 64 bits; the wide sums of columns are left in wide_columns_.
  void publish_costs(const Node& node, const SideSums<V>& sums, Expansion& out) {
    const auto stride = static_cast<std::size_t>(round_up(node.n_columns));
    for (AlignedArray<Cost>* array : {&out.yes0, &out.no0, &out.yes1, &out.no1}) array->ensure(stride);
    Cost* wide = wide_columns_.ensure(kWideTotals * stride);
    sums_.add_wide(wide, stride, sums.wide_totals);
    leaves_.publish(first_, wide + stride, out);
    out.has_tests = sums.prices != nullptr;
    if (!out.has_tests) return;
    Cost* tests = out.tests.ensure(stride);
    Cost* weights = out.yes_weight.ensure(stride);
    const V* weight = sums.columns + static_cast<std::size_t>(order_.weight) * stride;
    out.weight = sums.totals[order_.weight];
    out.path_price = 0;
    for (std::size_t j = 0; j < static_cast<std::size_t>(node.n_columns); ++j) {
      tests[j] = sums.test(j);
      weights[j] = weight[j];
    }
  }

  void publish(const Node& node, const SideSums<V>& sums, Expansion& out) {
    publish_costs(node, sums, out);
    const auto stride = static_cast<std::size_t>(sums.stride);
    const V* column_worst = sums.columns + static_cast<std::size_t>(order_.worst) * stride;
    Cost* unavoidable = out.yes_unavoidable.ensure(stride);
    Cost* worst = out.yes_worst.ensure(stride);
    for (std::size_t j = 0; j < static_cast<std::size_t>(node.n_columns); ++j) {
      unavoidable[j] = sums_.n_wide() > 0 ? wide_columns_[j] : 0;
      worst[j] = column_worst[j] * sums_.worst_unit();
    }
    out.worst = sums.totals[order_.worst] * sums_.worst_unit();
    out.unavoidable = sums.wide_totals[0];
  }

  // Passes look at the clock between rows, short ones once for many.
  bool is_stopped(const Node& node) {
    const auto steps = static_cast<std::int64_t>(node.n_columns) * node.n_words * order_.n_in_parent;
    if (leaves_.is_stopped()) return true;
    return steps > (1 << 17) ? budget_.poll() : stopwatch_.is_over(8 * steps);
  }

  const VectorData& data_;
  DepthTwoSettings settings_;
  Order order_;
  Budget& budget_;
  Stopwatch stopwatch_;
  Sums sums_;
  Leaves leaves_;
  AlignedArray<std::byte> rows_;
  AlignedArray<V> columns_, other_columns_, pair_row_;
  AlignedArray<Cost> wide_columns_;
  Expansion only_columns_;  // for best_split
  TestPrices<V> prices_;
  Paid child_paid_;
  Kept kept_;
  SideSums<V> small_;
  Side first_, second_;
};

// How many numbers a sum has.
Cost most_terms(const VectorData& data) {
  const std::vector<Cost>& totals = data.groups().totals();
  return data.has_types() ? std::accumulate(totals.begin(), totals.end(), Cost{0}) : data.groups().n_groups();
}

// All statistics of all parts in one width; with `places`, these instead of what leaf costs are functions of.
template <class V>
PartValues<V> narrow_parts(const VectorData& data, const Order& order, const LeafPlaces* places = nullptr) {
  PartValues<V> out;
  out.n_values = order.n_values;
  out.values.resize(data.n_parts() * static_cast<std::size_t>(order.n_values));
  // Sums of n numbers, each rounded up to whole units, are less than the sum of the numbers and n units.
  while (data.worst_total() / out.worst_unit + most_terms(data) >= kInfeasible<V>) out.worst_unit *= 2;
  for (std::size_t part = 0; part < data.n_parts(); ++part) {
    V* values = out.values.data() + part * static_cast<std::size_t>(order.n_values);
    if (places != nullptr) {
      values[0] = static_cast<V>(places->place(data, part));
    } else {
      for (std::int32_t s = 0; s < order.n_costs; ++s) values[s] = static_cast<V>(data.sums(part)[s]);
    }
    values[order.rows] = static_cast<V>(data.rows(part));
    if (order.weight >= 0) values[order.weight] = static_cast<V>(data.weight(part));
    values[order.worst] = static_cast<V>((data.worst(part) + out.worst_unit - 1) / out.worst_unit);
  }
  const auto n_groups = static_cast<std::size_t>(data.groups().n_groups());
  const bool has_savings = data.task().has_savings();
  bool has_conflicts = false;
  for (std::size_t g = 0; g < n_groups; ++g) has_conflicts |= data.unavoidable(g) > 0;
  out.n_wide = has_savings ? 2 : has_conflicts ? 1 : 0;
  for (std::size_t g = 0; out.n_wide > 0 && g < n_groups; ++g) {
    out.wide.push_back(data.unavoidable(g));
    if (has_savings) out.wide.push_back(data.sums(g)[data.n_statistics() - 1]);
  }
  return out;
}

template <class V>
bool fits(const VectorData& data, const Order& order) {
  Cost largest = std::max<Cost>({data.n_rows(), data.groups().n_groups() * Cost{2}, most_terms(data)});
  for (std::int32_t s = 0; s < order.n_costs; ++s) largest = std::max(largest, data.size(static_cast<std::size_t>(s)));
  if (!data.task().outputs.empty() && data.task().kind == VectorKind::least)  // what outputs cost is added
    largest = std::max(largest, data.worst_total());
  // Slopes of losses, and their values at any target of any row.
  if (data.task().kind == VectorKind::quantile) largest = std::max(largest, data.most_loss());
  if (data.tests() != nullptr) {
    // Two tests on top of the leaves.
    Cost tests = 0;
    if (__builtin_mul_overflow(data.weight(), 2 * data.tests()->highest(), &tests) ||
        __builtin_add_overflow(largest, std::max(tests, data.weight()), &largest))
      return false;
  }
  return largest < kInfeasible<V>;
}

// What a solver is made of, besides the task.
struct Surroundings {
  const DepthTwoSettings& settings;
  NodeFactory& factory;
  Budget& budget;
  MemoryBudget& memory;
};

// With the sums that fit the data.
template <class V, class Leaves>
std::unique_ptr<DepthTwo> make_with_sums(const VectorData& data, const Order& order, PartValues<V> values,
                                         Leaves leaves, const Surroundings& in) {
  const Isa isa = in.settings.isa;
  if (data.has_types())
    return std::make_unique<VectorSolver<V, TypeSums<V>, Leaves>>(
        data, order, TypeSums<V>(data, std::move(values), in.factory, isa, in.memory), std::move(leaves), in.settings,
        in.budget, in.memory);
  return std::make_unique<VectorSolver<V, VectorSums<V>, Leaves>>(
      data, order, VectorSums<V>(std::move(values), data.groups().group_words(), order.n_in_child, isa, in.memory),
      std::move(leaves), in.settings, in.budget, in.memory);
}

template <class V>
std::unique_ptr<DepthTwo> make_for(const VectorData& data, const Order& order, const Surroundings& in) {
  const LeafSize size{order.rows, order.rows < order.n_in_child, in.settings.min_leaf};
  const auto make = [&]<class Leaves>() -> std::unique_ptr<DepthTwo> {
    return make_with_sums<V, Leaves>(data, order, narrow_parts<V>(data, order),
                                     Leaves(data, size, in.settings, in.budget, in.memory), in);
  };
  switch (data.task().kind) {
    case VectorKind::squares:
    case VectorKind::rates:
      return make.template operator()<SavingLeaves<V>>();
    case VectorKind::quantile:
      return make.template operator()<QuantileLeaves<V>>();
    case VectorKind::callback:
      return make.template operator()<CallbackLeaves<V>>();
    case VectorKind::least:
      break;
  }
  return make.template operator()<LeastLeaves<V>>();
}

// Places in the table are the only statistic.
template <class V>
std::unique_ptr<DepthTwo> make_with_table(const VectorData& data, const LeafPlaces& places,
                                          std::unique_ptr<LeafTable<V>>& table, const Surroundings& in) {
  if (table == nullptr) table = std::make_unique<LeafTable<V>>(places, data, in.budget, in.memory);
  const Order order(1, false, data.task().has_worst, false);
  return make_with_sums<V, TableLeaves<V>>(data, order, narrow_parts<V>(data, order, &places),
                                           TableLeaves<V>(*table, in.settings.isa), in);
}

}  // namespace

VectorDepthTwo::VectorDepthTwo(const VectorData& data) : data_(data) {}
VectorDepthTwo::~VectorDepthTwo() = default;

std::unique_ptr<DepthTwo> VectorDepthTwo::make(const DepthTwoSettings& settings, NodeFactory& factory, Budget& budget,
                                               MemoryBudget& memory) const {
  const VectorTask& task = data_.task();
  const Surroundings in{settings, factory, budget, memory};
  if (task.kind == VectorKind::callback) {
    const Cost most =
        std::max<Cost>({data_.leaf_limit(), data_.n_rows(), data_.groups().n_groups() * Cost{2}, most_terms(data_)});
    const bool is_narrow = most < kInfeasible<std::int32_t>;
    const std::size_t room = settings.leaf_table_bytes / (is_narrow ? sizeof(std::int32_t) : sizeof(std::int64_t));
    if (const auto places = LeafPlaces::make(data_, settings.min_leaf, room))
      return is_narrow ? make_with_table(data_, *places, narrow_table_, in)
                       : make_with_table(data_, *places, wide_table_, in);
  }
  // What does not depend on the tree is not summed for pairs, and targets are not summed at all; a function of the caller is not asked about
  // cells without rows.
  const bool is_quantile = task.kind == VectorKind::quantile;
  const std::int32_t n_costs = is_quantile ? 1 : task.n_statistics - (task.has_savings() ? 1 : 0);
  const bool has_prices = data_.tests() != nullptr;
  const Order order(n_costs, settings.min_leaf > 1 || task.kind == VectorKind::callback, task.has_worst, has_prices);
  return fits<std::int32_t>(data_, order) ? make_for<std::int32_t>(data_, order, in)
                                          : make_for<std::int64_t>(data_, order, in);
}

}  // namespace certree
