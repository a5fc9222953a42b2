#include "search/fronts/depth_two.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace certree {

namespace {

constexpr std::int32_t kRowsPerCall = 4;

template <class V>
class FrontDepthTwoSolver final : public FrontDepthTwo {
 public:
  FrontDepthTwoSolver(const Dataset& data, const FrontDepthTwoSettings& settings, NodeFactory& factory, Budget& budget,
                      MemoryBudget& memory)
      : settings_(settings),
        factory_(factory),
        budget_(budget),
        stopwatch_(budget),
        memory_(memory),
        kernels_(kernels_for<V>(settings.isa)),
        n_types_(static_cast<std::size_t>(data.n_types())),
        n_pair_types_(static_cast<std::size_t>(data.n_pair_types())),
        count_type_(data.has_row_count() ? data.n_pair_types() - 1 : -1),
        min_leaf_(static_cast<V>(std::min<std::int64_t>(settings.min_leaf, kInfeasible<V>))),
        child_(memory),
        small_pairs_(memory),
        row_(memory),
        views_{View(memory), View(memory), View(memory)} {}

  void set_directions(const Directions& directions) override {
    directions_ = directions;
    weights_.clear();
    for (const Direction& d : directions) {
      weights_.push_back(static_cast<V>(d.fp));
      weights_.push_back(static_cast<V>(d.fn));
    }
    rules_.assign(directions.size(), {});
    for (std::size_t d = 0; d < directions.size(); ++d) {
      LeafRule<V>& rule = rules_[d];
      rule.form = LeafForm::weighted_labels;
      rule.weight = weights_.data() + 2 * d;
      rule.has_unit_weights = rule.weight[0] == 1 && rule.weight[1] == 1;
      if (rule.has_unit_weights) rule.form = LeafForm::binary_unit;
      rule.min_leaf = min_leaf_;
      rule.count_type = count_type_;
    }
    for (View& view : views_)
      while (view.sides.size() < directions.size()) view.sides.emplace_back(memory_);
  }

  bool count(const Node& node, bool pairs, FrontExpansion& out) override {
    budget_.add_work();
    const auto stride = static_cast<std::size_t>(node.stride);
    const std::size_t matrix = static_cast<std::size_t>(node.n_columns) * stride;
    V* columns = reinterpret_cast<V*>(out.columns.ensure((n_types_ * stride + n_types_) * sizeof(V)));
    kernels_.count_columns(node.view(), columns);
    View& view = views_[static_cast<std::size_t>(FrontRows::node)];
    set_view(view, node, columns, columns + n_types_ * stride);
    for (std::size_t t = 0; t < n_types_; ++t) columns[n_types_ * stride + t] = static_cast<V>(node.totals[t]);
    if (!pairs) return true;
    V* store = reinterpret_cast<V*>(out.pairs.ensure_unset(n_pair_types_ * matrix * sizeof(V)));
    const BitColumns bits = pair_view(node);
    for (std::int32_t i = 0; i < node.n_columns; i += kRowsPerCall) {
      const std::int32_t last = std::min(i + kRowsPerCall, node.n_columns);
      kernels_.count_rows(bits, i, last, store + static_cast<std::size_t>(i) * stride, matrix);
      if (is_stopped(node)) return false;
    }
    view.minuend = store;
    view.minuend_types = matrix;
    return true;
  }

  bool weigh(const Node& node, const FrontExpansion& expansion) override {
    View& view = views_[static_cast<std::size_t>(FrontRows::node)];
    begin_sides(view);
    const V* pairs = reinterpret_cast<const V*>(expansion.pairs.data());
    for (std::int32_t i = 0; i < node.n_columns; ++i) {
      const V* row = pairs + static_cast<std::size_t>(i) * view.stride();
      for (std::size_t d = 0; d < directions_.size(); ++d)
        kernels_.evaluate_row(view.sides[d].input, i, {row, view.minuend_types, nullptr, 0});
      if (stopwatch_.is_over(view.line * static_cast<std::int64_t>(directions_.size()))) return false;
    }
    for (std::size_t d = 0; d < directions_.size(); ++d) finish_side(view.sides[d], view);
    return true;
  }

  bool count_children(const Node& parent, const FrontExpansion& expansion, std::int32_t column) override {
    const auto stride = static_cast<std::size_t>(parent.stride);
    const V* parent_columns = reinterpret_cast<const V*>(expansion.columns.data());
    Cost yes_weight = 0, weight = 0;
    for (std::size_t t = 0; t < n_pair_types_; ++t) {
      yes_weight += parent_columns[t * stride + static_cast<std::size_t>(column)];
      weight += parent.totals[t];
    }
    const bool counts_yes = 2 * yes_weight <= weight;
    factory_.make_child(parent, column, counts_yes, false, child_);
    budget_.add_work();
    budget_.add_work();
    View& small = views_[counts_yes ? 1 : 0];
    View& large = views_[counts_yes ? 0 : 1];
    V* columns = small.columns.ensure(n_types_ * stride + n_types_);
    V* large_columns = large.columns.ensure(n_types_ * stride + n_types_);
    kernels_.count_columns(child_.view(), columns);
    for (std::size_t t = 0; t < n_types_; ++t) columns[n_types_ * stride + t] = static_cast<V>(child_.totals[t]);
    for (std::size_t k = 0; k < n_types_ * stride; ++k)
      large_columns[k] = static_cast<V>(parent_columns[k] - columns[k]);
    for (std::size_t t = 0; t < n_types_; ++t)
      large_columns[n_types_ * stride + t] = static_cast<V>(parent.totals[t] - child_.totals[t]);
    set_view(small, parent, columns, columns + n_types_ * stride);
    set_view(large, parent, large_columns, large_columns + n_types_ * stride);
    const std::size_t matrix = static_cast<std::size_t>(parent.n_columns) * stride;
    V* store = small_pairs_.ensure_unset(n_pair_types_ * matrix);
    const V* whole = reinterpret_cast<const V*>(expansion.pairs.data());
    small.minuend = store;
    small.minuend_types = large.subtrahend_types = large.minuend_types = matrix;
    large.minuend = whole;
    large.subtrahend = store;
    begin_sides(small);
    begin_sides(large);
    const BitColumns bits = pair_view(child_);
    for (std::int32_t i = 0; i < parent.n_columns; i += kRowsPerCall) {
      const std::int32_t last = std::min(i + kRowsPerCall, parent.n_columns);
      kernels_.count_rows(bits, i, last, store + static_cast<std::size_t>(i) * stride, matrix);
      for (std::int32_t r = i; r < last; ++r) {
        const std::size_t at = static_cast<std::size_t>(r) * stride;
        for (std::size_t d = 0; d < directions_.size(); ++d) {
          kernels_.evaluate_row(small.sides[d].input, r, {store + at, matrix, nullptr, 0});
          kernels_.evaluate_row(large.sides[d].input, r, {whole + at, matrix, store + at, matrix});
        }
      }
      if (is_stopped(child_)) return false;
    }
    for (std::size_t d = 0; d < directions_.size(); ++d) {
      finish_side(small.sides[d], small);
      finish_side(large.sides[d], large);
    }
    return true;
  }

  Cost side_value(std::int32_t column, bool holds, std::size_t direction, bool one_more) const override {
    const Side& side = views_[static_cast<std::size_t>(FrontRows::node)].sides[direction];
    const auto j = static_cast<std::size_t>(column);
    const V leaf = (holds ? side.yes0 : side.no0)[j];
    return widen(one_more ? std::min(leaf, (holds ? side.yes1 : side.no1)[j]) : leaf);
  }

  void lower(FrontRows rows, std::size_t n_slots, Cost* out) const override {
    const View& view = views_[static_cast<std::size_t>(rows)];
    const std::size_t m = directions_.size();
    for (std::size_t k = 0; k < n_slots; ++k)
      for (std::size_t d = 0; d < m; ++d)
        out[k * m + d] = view.sides[d].best[settings_.slots.by_splits ? std::min<std::size_t>(k, 3) : 3];
  }

  bool may_split(FrontRows rows, std::int32_t column) const override {
    const View& view = views_[static_cast<std::size_t>(rows)];
    const V yes = view.rows_of(view.column_counts, view.stride(), static_cast<std::size_t>(column), count_type_);
    const V all = view.rows_of(view.totals, 1, 0, count_type_);
    return yes >= min_leaf_ && static_cast<V>(all - yes) >= min_leaf_;
  }

  Cost negatives(FrontRows rows) const override { return views_[static_cast<std::size_t>(rows)].totals[0]; }
  Cost positives(FrontRows rows) const override { return views_[static_cast<std::size_t>(rows)].totals[1]; }

  bool add_front(FrontRows rows, std::int32_t depth, const std::vector<Wanted>& wanted, bool uses_directions,
                 std::vector<Stairs>& front) override {
    const View& view = views_[static_cast<std::size_t>(rows)];
    for (std::int32_t i = 0; i < view.n_columns; ++i) {
      if (!may_split(rows, i)) continue;
      if (uses_directions && depth > 1 && !is_wanted(view, static_cast<std::size_t>(i), wanted)) continue;
      make_sides(view, i, depth);
      combine_sides(view.column[i], front);
      const std::size_t n_pairs = mixed_[0].size() * mixed_[1].size();
      if (n_pairs > (1 << 12) ? budget_.poll() : stopwatch_.is_over(8 * view.line)) return false;
    }
    return true;
  }

  void columns(const Node& node, const FrontExpansion& expansion, Cost* negatives, Cost* positives,
               Cost* unavoidable) const override {
    const V* counts = reinterpret_cast<const V*>(expansion.columns.data());
    const auto stride = static_cast<std::size_t>(node.stride);
    for (std::size_t j = 0; j < static_cast<std::size_t>(node.n_columns); ++j) {
      negatives[j] = counts[j];
      positives[j] = counts[stride + j];
      unavoidable[j] = n_types_ > n_pair_types_ ? static_cast<Cost>(counts[n_pair_types_ * stride + j]) : 0;
    }
  }

  void common(const Node& node, const FrontExpansion& expansion, std::int32_t column, Cost* negatives,
              Cost* positives) override {
    const auto stride = static_cast<std::size_t>(node.stride);
    const std::size_t matrix = static_cast<std::size_t>(node.n_columns) * stride;
    const V* pairs = reinterpret_cast<const V*>(expansion.pairs.data());
    Cost* out[] = {negatives, positives};
    const auto f = static_cast<std::size_t>(column);
    for (std::size_t t = 0; t < 2; ++t) {
      const V* own = pairs + t * matrix;
      for (std::size_t h = 0; h < f; ++h) out[t][h] = own[h * stride + f];
      for (std::size_t h = f; h < static_cast<std::size_t>(node.n_columns); ++h) out[t][h] = own[f * stride + h];
    }
  }

 private:
  struct Side {
    explicit Side(MemoryBudget& memory) : yes0(memory), no0(memory), yes1(memory), no1(memory) {}
    AlignedArray<V> yes0, no0, yes1, no1;
    PairInput<V> input;
    Cost best[4] = {};  // least value with at most so many splits
  };
  struct View {
    explicit View(MemoryBudget& memory) : columns(memory) {}
    AlignedArray<V> columns;  // of a child
    std::vector<Side> sides;  // [direction]
    std::int32_t n_columns = 0;
    std::int32_t line = 0;
    const std::int32_t* column = nullptr;
    const V* column_counts = nullptr;  // [type][stride]
    const V* totals = nullptr;
    const V* minuend = nullptr;
    const V* subtrahend = nullptr;
    std::size_t minuend_types = 0, subtrahend_types = 0;
    std::size_t stride() const { return static_cast<std::size_t>(line); }
    V rows_of(const V* counts, std::size_t type_stride, std::size_t at, std::int32_t count_type) const {
      if (count_type >= 0) return counts[static_cast<std::size_t>(count_type) * type_stride + at];
      return static_cast<V>(counts[at] + counts[type_stride + at]);
    }
  };
  // A point of one side of a column.
  struct SidePoint {
    V fp, fn;
    std::int32_t origin;
  };

  static Cost widen(V cost) { return cost >= kInfeasible<V> ? kInfinite : static_cast<Cost>(cost); }

  BitColumns pair_view(const Node& node) const {
    BitColumns view = node.view();
    view.n_types = static_cast<std::int32_t>(n_pair_types_);
    return view;
  }

  bool is_stopped(const Node& node) {
    const auto words_per_call = static_cast<std::int64_t>(node.n_columns) * node.n_words * kRowsPerCall;
    if (words_per_call > (1 << 20)) return budget_.poll();
    return stopwatch_.is_over(words_per_call + node.n_columns * static_cast<std::int64_t>(directions_.size()));
  }

  void set_view(View& view, const Node& shape, const V* columns, const V* totals) {
    view.n_columns = shape.n_columns;
    view.line = shape.stride;
    view.column = shape.column.data();
    view.column_counts = columns;
    view.totals = totals;
    view.minuend = view.subtrahend = nullptr;
  }

  void begin_sides(View& view) {
    for (std::size_t d = 0; d < directions_.size(); ++d) {
      Side& side = view.sides[d];
      side.input = {rules_[d],
                    view.n_columns,
                    view.line,
                    view.totals,
                    view.column_counts,
                    side.yes1.ensure(view.stride()),
                    side.no1.ensure(view.stride())};
      std::fill_n(side.input.yes1, view.stride(), kInfeasible<V>);
      std::fill_n(side.input.no1, view.stride(), kInfeasible<V>);
      kernels_.leaf_costs(side.input, side.yes0.ensure(view.stride()), side.no0.ensure(view.stride()));
    }
  }

  void finish_side(Side& side, const View& view) {
    const SplitCosts<V> costs =
        kernels_.summarise(view.n_columns, side.yes0.data(), side.no0.data(), side.input.yes1, side.input.no1);
    side.best[0] = static_cast<Cost>(kernels_.leaf_cost(side.input.rule, view.totals, nullptr));
    const V more[] = {costs.one, costs.two, costs.three};
    for (std::size_t k = 0; k < 3; ++k) side.best[k + 1] = std::min(side.best[k], widen(more[k]));
  }

  // Can a tree of depth two with this root be wanted, judged by its values?
  bool is_wanted(const View& view, std::size_t i, const std::vector<Wanted>& wanted) {
    value_.resize(directions_.size());
    const auto fits = [&](std::size_t slot, auto value) {
      if (slot >= wanted.size() || wanted[slot].is_empty()) return false;
      for (std::size_t d = 0; d < directions_.size(); ++d) value_[d] = value(view.sides[d]);
      return wanted[slot].admits(value_.data());
    };
    const auto leaf = [&](const Side& s) { return static_cast<Cost>(s.yes0[i]) + s.no0[i]; };
    const auto two = [&](const Side& s) {
      return std::min(static_cast<Cost>(s.yes1[i]) + s.no0[i], static_cast<Cost>(s.yes0[i]) + s.no1[i]);
    };
    const auto three = [&](const Side& s) { return static_cast<Cost>(s.yes1[i]) + s.no1[i]; };
    if (settings_.slots.by_splits) return fits(1, leaf) || fits(2, two) || fits(3, three);
    return fits(0, [&](const Side& s) {
      return static_cast<Cost>(std::min(s.yes0[i], s.yes1[i])) + std::min(s.no0[i], s.no1[i]);
    });
  }

  // Counts of the pairs of column i: row_[type * stride + j].
  void gather(const View& view, std::size_t i) {
    const std::size_t stride = view.stride();
    V* row = row_.ensure(n_pair_types_ * stride);
    const auto n = static_cast<std::size_t>(view.n_columns);
    for (std::size_t t = 0; t < n_pair_types_; ++t) {
      const V* from = view.minuend + t * view.minuend_types;
      V* to = row + t * stride;
      for (std::size_t j = 0; j < i; ++j) to[j] = from[j * stride + i];
      for (std::size_t j = i; j < n; ++j) to[j] = from[i * stride + j];
      if (view.subtrahend == nullptr) continue;
      const V* less = view.subtrahend + t * view.subtrahend_types;
      for (std::size_t j = 0; j < i; ++j) to[j] = static_cast<V>(to[j] - less[j * stride + i]);
      for (std::size_t j = i; j < n; ++j) to[j] = static_cast<V>(to[j] - less[i * stride + j]);
    }
  }

  // The points of both sides of column i: leaf_[holds], mixed_[holds].
  void make_sides(const View& view, std::int32_t column, std::int32_t depth) {
    const auto i = static_cast<std::size_t>(column);
    const std::size_t stride = view.stride();
    V negatives[2], positives[2];
    negatives[1] = view.column_counts[i];
    positives[1] = view.column_counts[stride + i];
    negatives[0] = static_cast<V>(view.totals[0] - negatives[1]);
    positives[0] = static_cast<V>(view.totals[1] - positives[1]);
    for (const int holds : {0, 1}) {
      leaf_[holds][0] = {V{0}, positives[holds], -1};
      leaf_[holds][1] = {negatives[holds], V{0}, -2};
      mixed_[holds].clear();
    }
    if (depth < 2) return;
    gather(view, i);
    if (min_leaf_ > 1) mask_small_leaves(view, i, 1);
    V* row = row_.data();
    make_mixed(row, row + stride, view, negatives[1], positives[1], mixed_[1]);
    if (min_leaf_ > 1) gather(view, i);
    for (std::size_t t = 0; t < n_pair_types_; ++t) {
      const V* counts = view.column_counts + t * stride;
      for (std::size_t j = 0; j < static_cast<std::size_t>(view.n_columns); ++j)
        row[t * stride + j] = static_cast<V>(counts[j] - row[t * stride + j]);
    }
    if (min_leaf_ > 1) mask_small_leaves(view, i, 0);
    make_mixed(row, row + stride, view, negatives[0], positives[0], mixed_[0]);
  }

  // A second column with a leaf that is too small counts as one that holds nowhere: no better than a leaf.
  void mask_small_leaves(const View& view, std::size_t i, int holds) {
    const std::size_t stride = view.stride();
    V* row = row_.data();
    V all = view.rows_of(view.column_counts, stride, i, count_type_);
    if (holds == 0) all = static_cast<V>(view.rows_of(view.totals, 1, 0, count_type_) - all);
    for (std::size_t j = 0; j < static_cast<std::size_t>(view.n_columns); ++j) {
      const V rows = view.rows_of(row, stride, j, count_type_);
      if (rows < min_leaf_ || static_cast<V>(all - rows) < min_leaf_) row[j] = row[stride + j] = 0;
    }
  }

  // Points with both labels, better than a leaf: the staircase of (n_j, p - p_j) and (n - n_j, p_j).
  void make_mixed(const V* neg, const V* pos, const View& view, V n, V p, std::vector<SidePoint>& out) {
    if (n == 0 || p == 0) return;
    const auto columns = static_cast<std::size_t>(view.n_columns);
    if (static_cast<std::size_t>(n) <= 16 * columns + 256) {
      best_.assign(static_cast<std::size_t>(n) + 1, p);
      if (best_column_.size() < best_.size()) best_column_.resize(best_.size());
      V* best = best_.data();
      std::int32_t* origin = best_column_.data();
      const auto put = [=](std::size_t at, V fn, std::int32_t from) {
        if (fn < best[at]) {
          best[at] = fn;
          origin[at] = from;
        }
      };
      for (std::size_t j = 0; j < columns; ++j) {
        const auto local = static_cast<std::int32_t>(2 * j);
        put(static_cast<std::size_t>(neg[j]), static_cast<V>(p - pos[j]), local);
        put(static_cast<std::size_t>(n - neg[j]), pos[j], local + 1);
      }
      V last = p;
      for (std::size_t x = 0; x < static_cast<std::size_t>(n) && last > 0; ++x) {
        if (best[x] >= last) continue;
        last = best[x];
        out.push_back({static_cast<V>(x), last, 2 * view.column[origin[x] >> 1] + (origin[x] & 1)});
      }
      return;
    }
    candidates_.clear();
    for (std::size_t j = 0; j < columns; ++j) {
      candidates_.push_back({neg[j], static_cast<V>(p - pos[j]), view.column[j] * 2});
      candidates_.push_back({static_cast<V>(n - neg[j]), pos[j], view.column[j] * 2 + 1});
    }
    std::sort(candidates_.begin(), candidates_.end(),
              [](const SidePoint& a, const SidePoint& b) { return a.fp != b.fp ? a.fp < b.fp : a.fn < b.fn; });
    V last = p;
    for (const SidePoint& c : candidates_) {
      if (c.fp >= n) break;
      if (c.fn >= last) continue;
      last = c.fn;
      out.push_back(c);
    }
  }

  void combine_sides(std::int32_t column, std::vector<Stairs>& front) {
    const Cost* levels = front.front().levels();
    if (!settings_.slots.by_splits && levels != nullptr) return combine_dense(column, levels, front.front());
    const auto add = [&](const SidePoint& yes, const SidePoint& no, std::size_t splits) {
      offer_from(front, settings_.slots.by_splits ? splits : 0, static_cast<Cost>(yes.fp) + no.fp,
                 static_cast<Cost>(yes.fn) + no.fn, {column, yes.origin, no.origin});
    };
    for (const SidePoint& yes : leaf_[1]) {
      for (const SidePoint& no : leaf_[0]) add(yes, no, 1);
      for (const SidePoint& no : mixed_[0]) add(yes, no, 2);
    }
    for (const SidePoint& yes : mixed_[1]) {
      for (const SidePoint& no : leaf_[0]) add(yes, no, 2);
      for (const SidePoint& no : mixed_[0]) add(yes, no, 3);
    }
  }

  // The same for one slot in an array: most sums are excluded, which one load tells.
  void combine_dense(std::int32_t column, const Cost* levels, Stairs& front) {
    const auto add = [&](const SidePoint& yes, const SidePoint& no) {
      const Cost fp = static_cast<Cost>(yes.fp) + no.fp, fn = static_cast<Cost>(yes.fn) + no.fn;
      if (levels[fp] > fn) front.offer(fp, fn, {column, yes.origin, no.origin});
    };
    const auto add_all = [&](const SidePoint& yes) {
      for (const SidePoint& no : leaf_[0]) add(yes, no);
      for (const SidePoint& no : mixed_[0]) add(yes, no);
    };
    for (const SidePoint& yes : leaf_[1]) add_all(yes);
    for (const SidePoint& yes : mixed_[1]) add_all(yes);
  }

  FrontDepthTwoSettings settings_;
  NodeFactory& factory_;
  Budget& budget_;
  Stopwatch stopwatch_;
  MemoryBudget& memory_;
  const Kernels<V>& kernels_;
  std::size_t n_types_;       // counted for columns
  std::size_t n_pair_types_;  // counted for pairs
  std::int32_t count_type_;
  V min_leaf_;
  Directions directions_;
  std::vector<V> weights_;
  std::vector<LeafRule<V>> rules_;
  Node child_;
  AlignedArray<V> small_pairs_;
  AlignedArray<V> row_;
  View views_[3];
  std::vector<Cost> value_;
  SidePoint leaf_[2][2];
  std::vector<SidePoint> mixed_[2];
  std::vector<SidePoint> candidates_;
  std::vector<V> best_;
  std::vector<std::int32_t> best_column_;
};

Cost total_weight(const Dataset& data) {
  Cost total = 1;
  for (std::int32_t t = 0; t < data.n_types(); ++t) {
    require(!__builtin_add_overflow(total, data.totals()[static_cast<std::size_t>(t)], &total) && total < kInfinite,
            "the total weight overflows 64-bit integers; scale the weights down");
  }
  return total;
}

// Directions with small weights are coarse; below this, wider integers are worth their price.
constexpr Cost kLeastNarrowWeight = 6;
constexpr Cost kMostWeight = 64;

template <class V>
bool fits(Cost total, Cost weight) {
  return total < kInfeasible<V> / weight;
}

}  // namespace

Cost most_direction_weight(const Dataset& data) {
  const Cost total = total_weight(data);
  const auto most = [&](Cost infeasible) { return std::clamp<Cost>((infeasible - 1) / total, 1, kMostWeight); };
  if (fits<std::int16_t>(total, kLeastNarrowWeight)) return most(kInfeasible<std::int16_t>);
  if (fits<std::int32_t>(total, kLeastNarrowWeight)) return most(kInfeasible<std::int32_t>);
  return most(kInfeasible<std::int64_t>);
}

std::unique_ptr<FrontDepthTwo> make_front_depth_two(const Dataset& data, const FrontDepthTwoSettings& settings,
                                                    NodeFactory& factory, Budget& budget, MemoryBudget& memory) {
  const Cost total = total_weight(data);
  if (fits<std::int16_t>(total, kLeastNarrowWeight))
    return std::make_unique<FrontDepthTwoSolver<std::int16_t>>(data, settings, factory, budget, memory);
  if (fits<std::int32_t>(total, kLeastNarrowWeight))
    return std::make_unique<FrontDepthTwoSolver<std::int32_t>>(data, settings, factory, budget, memory);
  return std::make_unique<FrontDepthTwoSolver<std::int64_t>>(data, settings, factory, budget, memory);
}

}  // namespace certree
