#include "chain_solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "bounds/tangent.hpp"
#include "entry_point.hpp"
#include "search/chains/search.hpp"

namespace certree {

namespace {

constexpr int kMostRounds = 12;
// Solves of shallow trees, to start from where depth has no such limit: the deepest, what each may cost in depth-two
// evaluations, and its share of the time that is left.
constexpr std::int32_t kShallow = 4;
constexpr std::int64_t kShallowWork = 50000;
constexpr double kShallowTime = 0.25;
constexpr Cost kFinestMixture = 64;
// Scores, and all penalties: a solve of a tangent adds the worst scores of both row types, and penalties, below kInfinite.
constexpr Cost kLargest = Cost{1} << 58;

void check_arguments(const TableView& table, const ChainQuestion& question, const Options& options) {
  check_options(table.n_rows, options);
  require(question.fpr_num >= 1 && question.fpr_num <= question.fpr_den,
          "the largest false positive rate must be above 0 and at most 1");
  require(options.known_value < 0, "a known value is not supported for areas");
  check_two_types(table);
}

bool product_overflows(std::initializer_list<Cost> factors, Cost& product) {
  product = 1;
  for (const Cost factor : factors)
    if (__builtin_mul_overflow(product, factor, &product)) return true;
  return product >= kLargest;
}

ChainObjective make_objective(const TableView& table, const ChainQuestion& question, const Options& options) {
  ChainObjective objective;
  bool overflows = false;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    require(table.weight(row) >= 1, "weights must be at least 1; leave rows of weight 0 out");
    Cost& sum = table.row_types[row] == 1 ? objective.positives : objective.negatives;
    overflows |= __builtin_add_overflow(sum, table.weight(row), &sum);
  }
  require(objective.negatives > 0 && objective.positives > 0, "the area needs rows of both types, 0 and 1");
  objective.fpr_num = question.fpr_num;
  objective.fpr_den = question.fpr_den;
  objective.area_scale = options.error_scale;
  objective.split_penalty = options.split_penalty;
  Cost most = 0;
  overflows |=
      product_overflows({2, objective.positives, objective.negatives, question.fpr_den, options.error_scale}, most);
  Cost splits = 0;
  overflows |= product_overflows({std::max<Cost>(options.split_penalty, 1), table.n_rows + 1}, splits);
  require(!overflows, "the area overflows 64-bit integers; scale weights, max_fpr's denominator or penalties down");
  return objective;
}

// The finest grid for mixtures on which scores stay within 64 bits.
Cost mixture_unit(const ChainObjective& o, std::int64_t n_rows) {
  Cost unit = kFinestMixture, product = 0;
  while (unit > 1 && (product_overflows({2, unit, o.positives, o.negatives, o.fpr_den, o.area_scale}, product) ||
                      product_overflows({unit, std::max<Cost>(o.split_penalty, 1), n_rows + 1}, product)))
    unit /= 2;
  return unit;
}

// Leaf counts of a tree over the caller's columns.
std::vector<Edge> count_leaves(const TableView& table, const Tree& tree) {
  std::vector<Edge> counts(tree.nodes.size());
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    std::size_t at = 0;
    while (tree.nodes[at].column >= 0) {
      const TreeNode& node = tree.nodes[at];
      at = static_cast<std::size_t>(table.holds(row, node.column) ? node.yes : node.no);
    }
    (table.row_types[row] == 1 ? counts[at].y : counts[at].x) += table.weight(row);
  }
  return counts;
}

// Copies the subtree without splits whose leaves have the same slope: they change no area.
std::int32_t copy_useful(const Tree& from, std::int32_t at, std::vector<Edge>& counts, Tree& to,
                         std::vector<Edge>& to_counts) {
  const TreeNode& node = from.nodes[static_cast<std::size_t>(at)];
  const std::int32_t root = to.add({-1, -1, -1, -1});
  to_counts.push_back(counts[static_cast<std::size_t>(at)]);
  if (node.column < 0) return root;
  const std::int32_t yes = copy_useful(from, node.yes, counts, to, to_counts);
  const std::int32_t no = copy_useful(from, node.no, counts, to, to_counts);
  const auto leaf = [&](std::int32_t n) { return to.nodes[static_cast<std::size_t>(n)].column < 0; };
  const Edge a = to_counts[static_cast<std::size_t>(yes)], b = to_counts[static_cast<std::size_t>(no)];
  if (leaf(yes) && leaf(no) && cross(a, b) == 0) {
    to.nodes.resize(static_cast<std::size_t>(root) + 1);
    to_counts.resize(static_cast<std::size_t>(root) + 1);
    to_counts.back() = a + b;
    return root;
  }
  to.nodes[static_cast<std::size_t>(root)] = {node.column, yes, no, -1};
  to_counts[static_cast<std::size_t>(root)] = a + b;
  return root;
}

struct Measured {
  Tree tree;
  std::vector<Edge> chain;
  ChainValue value;
};

Measured measure(const TableView& table, const ChainObjective& objective, const Tree& tree) {
  Measured out;
  std::vector<Edge> counts = count_leaves(table, tree), kept;
  copy_useful(tree, 0, counts, out.tree, kept);
  for (std::size_t v = 0; v < out.tree.nodes.size(); ++v) {
    TreeNode& node = out.tree.nodes[v];
    if (node.column >= 0) continue;
    // A leaf is positive if it has a larger share of the positives than of the negatives.
    node.label = Exact{kept[v].y} * objective.negatives >= Exact{kept[v].x} * objective.positives ? 1 : 0;
    out.chain.push_back(kept[v]);
  }
  sort_by_slope(out.chain);
  out.value = objective.value(out.chain.data(), out.chain.size(), out.tree.n_splits());
  return out;
}

// A quarter of an ellipse, to start from.
ReferenceChain round_chain(const ChainObjective& objective, Cost unit) {
  constexpr int kEdges = 10;
  ReferenceChain out{{}, unit};
  const Edge end{objective.negatives * unit, objective.positives * unit};
  Edge at;
  for (int k = 1; k <= kEdges; ++k) {
    const double angle = k * 1.5707963267948966 / kEdges;
    const Edge next = k == kEdges ? end
                                  : Edge{std::llround((1 - std::cos(angle)) * static_cast<double>(end.x)),
                                         std::llround(std::sin(angle) * static_cast<double>(end.y))};
    if (next == at) continue;
    out.edges.push_back(next - at);
    at = next;
  }
  return out;
}

// Everything one solve owns.
class ChainSolve {
 public:
  ChainSolve(const TableView& table, const ChainQuestion& question, const Options& options, Observer observer)
      : table_(table),
        question_(question),
        options_(options),
        objective_(make_objective(table, question, options)),
        unit_(mixture_unit(objective_, table.n_rows)),
        budget_(options.time_limit_s, options.work_limit),
        memory_(options.memory_limit),
        progress_(budget_, std::move(observer), 1),
        most_splits_(options.max_splits) {}

  ChainResult run() {
    ChainResult result;
    Tree leaf;
    leaf.add({});
    offer(leaf);
    bound_ = largest_area_ = objective_.perfect();
    run_within(budget_, [&] {
      const Dataset data(table_, CountTask(2, 2, {0, 1, 1, 0}), dataset_settings(table_, options_), budget_, memory_);
      result.counters.row_groups = data.n_groups();
      result.counters.columns = data.n_columns();
      if (options_.use_chain_equivalent_points) bound_by_groups(data);
      start_shallow(data, result.counters);
      limit_splits();
      if (options_.use_chain_tangents) descend(result.counters);
      if (!is_done()) prove(data, result.counters);
    });
    progress_.observe();
    report(result);
    return result;
  }

 private:
  bool is_done() const {
    if (budget_.stopped()) return true;
    const Interval now = progress_.interval();
    return now.upper - now.lower <= options_.gap;
  }

  // A tree over the caller's columns.
  Measured offer(const Tree& tree) {
    Measured measured = measure(table_, objective_, tree);
    if (incumbent_.value < measured.value) {
      incumbent_ = {measured.value, measured.chain, measured.tree, measured.tree.n_splits()};
      progress_.improve(objective_.perfect() - measured.value.whole, measured.tree);
      progress_.replace_tree(measured.tree);
    }
    return measured;
  }

  void stop_as(Status status) {
    if (status == Status::memory_limit) budget_.stop(StopReason::memory);
    if (status == Status::interrupted) budget_.stop(StopReason::interrupted);
    if (status == Status::time_limit) budget_.stop(StopReason::time);
    if (status == Status::work_limit) budget_.stop(StopReason::work);
  }

  // Options for a solve within this one.  One thread does it: of equally good trees, and of work, several would find now these
  // and now those, and the tree of the whole problem would depend on the clock.
  Options inner_options() const {
    Options inner = options_;
    inner.threads = 1;
    inner.gap = 0;
    inner.debug_tree = {};
    inner.time_limit_s = budget_.seconds_left();
    inner.work_limit = budget_.work_left();
    return inner;
  }

  Observer inner_observer() {
    return [this](const ProgressEvent&) {
      progress_.observe();
      return budget_.stopped();
    };
  }

  void add_work_of(const Counters& inner, Counters& counters) {
    for (std::int64_t k = 0; k < inner.depth_two_evaluations; ++k) budget_.add_work();
    const auto row_groups = counters.row_groups, columns = counters.columns;
    counters.add(inner);
    counters.row_groups = row_groups;
    counters.columns = columns;
  }

  // Where penalties alone keep trees small, the best shallow ones are good, and their proofs need few tangents.
  void start_shallow(const Dataset& data, Counters& counters) {
    if (objective_.split_penalty == 0 || depth_of(data) <= kShallow) return;
    for (std::int32_t depth = 2; depth <= kShallow && !is_done(); ++depth) {
      Options inner = inner_options();
      inner.max_depth = depth;
      inner.work_limit = inner.work_limit > 0 ? std::min(inner.work_limit, kShallowWork) : kShallowWork;
      if (inner.time_limit_s > 0) inner.time_limit_s *= kShallowTime;
      const ChainResult found = ChainSolve(table_, question_, inner, inner_observer()).run();
      add_work_of(found.counters, counters);
      if (found.status == Status::memory_limit || found.status == Status::interrupted) stop_as(found.status);
      budget_.poll();
      offer(found.tree);
    }
  }

  // A tree of k splits that beats the incumbent has  k * penalty  less than the incumbent lacks of the largest area
  // (docs/theory/auc.md, theorem 3).
  void limit_splits() {
    if (objective_.split_penalty == 0 || !options_.use_chain_split_limit) return;
    const Cost room = std::max<Cost>(largest_area_ - incumbent_.value.whole, 1);
    const Cost splits = (room - 1) / objective_.split_penalty;
    if (most_splits_ < 0 || splits < most_splits_) most_splits_ = splits;
  }

  // Solves the additive problem of one tangent; its tree is a candidate, its bound holds for all trees.
  Measured follow(const Tangent& tangent, Counters& counters, Cost& bound) {
    Options inner = inner_options();
    inner.error_scale = 1;
    inner.split_penalty = tangent.penalty();
    inner.smallest = false;
    if (most_splits_ >= 0 && (inner.max_depth < 0 || most_splits_ < inner.max_depth))
      inner.max_depth = static_cast<std::int32_t>(std::min<std::int64_t>(most_splits_, table_.n_rows));
    const Result found = solve(table_, tangent.task(), inner, inner_observer());
    add_work_of(found.counters, counters);
    stop_as(found.status);
    bound = tangent.bound(tangent.ceiling() * objective_.positives - found.lower_bound);
    bound_ = std::min(bound_, bound);
    Measured measured = offer(found.tree);
    progress_.raise(objective_.perfect() - std::max(bound_, incumbent_.value.whole));
    return measured;
  }

  // Lowers the bound of the whole problem, from tangent to tangent: each is that of the best mixture of the trees that
  // attained the bounds before it (docs/theory/auc.md).  Keeps the tangents of the best bounds.
  void descend(Counters& counters) {
    ReferenceChain reference = round_chain(objective_, unit_);
    std::vector<ReferenceChain> trees;
    std::vector<std::pair<Cost, Tangent>> found;
    int failures = 0;
    for (int round = 0; round < kMostRounds && !is_done(); ++round) {
      const Tangent tangent(objective_, reference);
      const Cost before = bound_;
      Cost bound = 0;
      const Measured attained = follow(tangent, counters, bound);
      trees.push_back({attained.chain, 1, attained.tree.n_splits()});
      limit_splits();
      found.emplace_back(bound, tangent);
      // Steps that gain less than a tenth of the gap are not worth the next one.
      if (before - bound_ <= (bound_ - incumbent_.value.whole) / 10) ++failures;
      if (failures > 2) break;
      if (round % 2 == 0) trees.push_back({incumbent_.chain, 1, incumbent_.splits});
      reference = best_mixture(objective_, trees, unit_);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < std::min<std::size_t>(found.size(), 2); ++k) tangents_.push_back(found[k].second);
  }

  // No chain is anywhere above the one with a leaf for every group of equal rows.
  void bound_by_groups(const Dataset& data) {
    const auto n_types = static_cast<std::size_t>(data.n_pair_types());
    std::vector<Edge> groups;
    for (std::size_t g = 0; g < static_cast<std::size_t>(data.n_groups()); ++g)
      groups.push_back({data.group_weights()[g * n_types], data.group_weights()[g * n_types + 1]});
    sort_by_slope(groups);
    const ChainValue value = objective_.value(groups.data(), groups.size(), 0);
    largest_area_ = value.whole + (value.rest > 0 ? 1 : 0);
    bound_ = std::min(bound_, largest_area_);
    progress_.raise(objective_.perfect() - std::max(bound_, incumbent_.value.whole));
  }

  void prove(const Dataset& data, Counters& counters) {
    const Options options = within_splits();
    const ChainContext context{data, options, objective_, budget_, memory_, progress_};
    const ChainIncumbent incumbent{incumbent_.value, incumbent_.chain, {}, incumbent_.splits};
    search_chains(context, incumbent, depth_of(data), tangents_, bound_, counters);
  }

  Options within_splits() const {
    Options options = options_;
    options.max_splits = most_splits_;
    return options;
  }
  std::int32_t depth_of(const Dataset& data) const { return deepest(data, within_splits()); }

  void report(ChainResult& result) {
    offer(progress_.tree());  // without splits that change nothing
    const Interval interval = progress_.interval();
    result.upper_bound = interval.upper;
    result.lower_bound = std::min(interval.lower, interval.upper);
    result.status = status_of(budget_, {result.lower_bound, result.upper_bound}, options_.gap);
    result.tree = measure(table_, objective_, progress_.tree()).tree;
    result.history = progress_.history();
    result.counters.depth_two_evaluations = budget_.work();
    result.counters.peak_bytes = std::max(result.counters.peak_bytes, memory_.peak());
    result.seconds = budget_.seconds();
    result.loss_denominator = 2 * objective_.positives * objective_.most_x();
  }

  const TableView& table_;
  const ChainQuestion& question_;
  const Options& options_;
  ChainObjective objective_;
  Cost unit_;
  Budget budget_;
  MemoryBudget memory_;
  Progress progress_;
  ChainIncumbent incumbent_;
  Cost bound_ = kInfinite;
  Cost largest_area_ = kInfinite;  // no tree has a larger one, penalties aside
  std::int64_t most_splits_;       // of the trees that are looked for; -1: no limit
  std::vector<Tangent> tangents_;
};

}  // namespace

ChainResult solve_chain(const TableView& table, const ChainQuestion& question, const Options& options,
                        Observer observer) {
  check_arguments(table, question, options);
  return ChainSolve(table, question, options, std::move(observer)).run();
}

}  // namespace certree
