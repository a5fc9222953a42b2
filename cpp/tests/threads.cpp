// Several threads on random tables, for ThreadSanitizer (`make tsan`): no data race, and the answer of one thread.
#include <cstdio>
#include <random>
#include <vector>

#include "chain_solver.hpp"
#include "front_solver.hpp"
#include "limit_solver.hpp"
#include "multiway_solver.hpp"
#include "ordered_solver.hpp"
#include "solver.hpp"

namespace {

using namespace certree;

constexpr int kRows = 400;
constexpr int kColumns = 25;

struct Problem {
  std::vector<std::uint8_t> columns = std::vector<std::uint8_t>(static_cast<std::size_t>(kRows) * kColumns);
  std::vector<std::int32_t> types = std::vector<std::int32_t>(kRows);

  explicit Problem(unsigned seed) {
    std::mt19937 random(seed);
    for (std::uint8_t& value : columns) value = random() & 1;
    const auto bit = [&](std::size_t row, std::size_t column) { return columns[column * kRows + row]; };
    for (std::size_t row = 0; row < kRows; ++row) {
      const bool is_noise = random() % 4 == 0;
      types[row] = is_noise ? random() & 1 : bit(row, 0) ^ bit(row, 1) ^ (bit(row, 2) & bit(row, 3));
    }
  }
  TableView view() const {
    TableView table;
    table.columns = columns.data();
    table.n_rows = kRows;
    table.n_columns = kColumns;
    table.row_stride = 1;
    table.column_stride = kRows;
    table.row_types = types.data();
    return table;
  }
  Result solve_with(std::int32_t threads, Cost penalty, std::int64_t memory_limit) const {
    const TableView table = view();
    Options options;
    options.max_depth = 4;
    options.threads = threads;
    options.split_penalty = penalty;
    options.memory_limit = memory_limit;
    return solve(table, CountTask(2, 2, {0, 1, 1, 0}), options, [](const ProgressEvent&) { return false; });
  }
  // Of any depth: best-first.
  Result sparse(std::int32_t threads) const {
    Options options;
    options.threads = threads;
    options.error_scale = 2;
    options.split_penalty = 9;
    return solve(view(), CountTask(2, 2, {0, 1, 1, 0}), options, [](const ProgressEvent&) { return false; });
  }
  // Every column is a test; the last two make one test with three outcomes.
  MultiwayResult multiway(std::int32_t threads) const {
    Problem three = *this;
    for (std::size_t row = 0; row < kRows; ++row)
      for (std::size_t k = 0; k < 3; ++k)
        three.columns[(kColumns - 3 + k) * kRows + row] = (row * 7 / 5 + types[row] % 2) % 3 == k;
    MultiwayQuestion question;
    for (std::int32_t c = 0; c < kColumns - 3; ++c) question.tests.push_back({c});
    question.tests.push_back({kColumns - 3, kColumns - 2, kColumns - 1});
    Options options;
    options.threads = threads;
    options.error_scale = 2;
    options.split_penalty = 13;
    return solve_multiway(three.view(), CountTask(2, 2, {0, 1, 1, 0}), question, options,
                          [](const ProgressEvent&) { return false; });
  }
  FrontResult front(std::int32_t threads, bool per_splits) const {
    Options options;
    options.max_depth = per_splits ? 3 : 4;
    options.threads = threads;
    FrontQuestion question;
    question.per_splits = per_splits;
    return solve_front(view(), question, options, [](const PointEvent&) { return false; });
  }
  ChainResult largest_area(std::int32_t threads) const {
    Options options;
    options.max_depth = 3;
    options.threads = threads;
    return solve_chain(view(), {}, options, [](const ProgressEvent&) { return false; });
  }
  // Errors, with a limit on the rows of label 1.
  PointsResult within_limit(std::int32_t threads) const {
    std::vector<std::int64_t> values;
    for (const std::int32_t type : types)
      for (const std::int32_t label : {0, 1}) values.insert(values.end(), {type != label ? 1 : 0, label});
    LimitTable table;
    table.table = view();
    table.values = values.data();
    LimitTask task;
    task.n_labels = task.n_quantities = task.n_planes = 2;
    task.planes = {1, 0, 0, 0, 1, 0};
    task.multipliers = {2, 1};
    task.corners = {kRows, kRows / 3};
    Options options;
    options.max_depth = 4;
    options.threads = threads;
    return solve_limited(table, task, options, [](const PointEvent&) { return false; });
  }
};

// Ranks: threads share the pair tables of large row sets.
struct Ranks {
  static constexpr int kRanked = 3000, kFeatures = 10, kRanks = 40;
  std::vector<std::int32_t> ranks = std::vector<std::int32_t>(static_cast<std::size_t>(kRanked) * kFeatures);
  std::vector<std::int32_t> n_ranks = std::vector<std::int32_t>(kFeatures, kRanks);
  std::vector<std::int32_t> types = std::vector<std::int32_t>(kRanked);

  explicit Ranks(unsigned seed) {
    std::mt19937 random(seed);
    for (std::int32_t& rank : ranks) rank = static_cast<std::int32_t>(random() % kRanks);
    for (std::size_t row = 0; row < kRanked; ++row)
      types[row] = (ranks[row] + ranks[kRanked + row] > kRanks) != (random() % 5 == 0) ? 1 : 0;
  }
  Result solve_with(std::int32_t threads) const {
    OrderedView view;
    view.ranks = ranks.data();
    view.n_features = kFeatures;
    view.n_rows = kRanked;
    view.n_ranks = n_ranks.data();
    view.row_types = types.data();
    Options options;
    options.max_depth = 3;
    options.threads = threads;
    return solve_ordered(view, CountTask(2, 2, {0, 1, 1, 0}), options, [](const ProgressEvent&) { return false; });
  }
};

bool same_tree(const Tree& a, const Tree& b) {
  if (a.nodes.size() != b.nodes.size()) return false;
  for (std::size_t v = 0; v < a.nodes.size(); ++v)
    if (a.nodes[v].column != b.nodes[v].column || a.nodes[v].label != b.nodes[v].label) return false;
  return true;
}

bool same_tree(const MultiwayTree& a, const MultiwayTree& b) {
  if (a.nodes.size() != b.nodes.size()) return false;
  for (std::size_t v = 0; v < a.nodes.size(); ++v)
    if (a.nodes[v].test != b.nodes[v].test || a.nodes[v].label != b.nodes[v].label) return false;
  return true;
}

template <class Answer>
bool report(const char* what, unsigned seed, const Answer& one, const Answer& four) {
  const bool agree = one.status == four.status && one.upper_bound == four.upper_bound &&
                     one.lower_bound == four.lower_bound && same_tree(one.tree, four.tree);
  std::printf("%s %u: %s, value %lld, %s\n", what, seed, status_name(four.status),
              static_cast<long long>(four.upper_bound), agree ? "as with one thread" : "NOT AS WITH ONE THREAD");
  return agree;
}

bool report(const char* what, unsigned seed, const PointsResult& one, const PointsResult& four) {
  bool agree = one.status == four.status && !one.trees.empty() && one.trees.size() == four.trees.size();
  for (std::size_t k = 0; agree && k < one.trees.size(); ++k)
    agree = one.trees[k].point == four.trees[k].point && same_tree(one.trees[k].tree, four.trees[k].tree);
  std::printf("%s %u: %s, %zu trees, %s\n", what, seed, status_name(four.status), four.trees.size(),
              agree ? "as with one thread" : "NOT AS WITH ONE THREAD");
  return agree;
}

}  // namespace

int main() {
  bool agree = true;
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Problem problem(seed);
    const std::int64_t memory_limit = seed == 5 ? 4'000'000 : 0;  // a full table, where entries are replaced
    const Result one = problem.solve_with(1, seed % 2 * 3, memory_limit);
    const Result four = problem.solve_with(4, seed % 2 * 3, memory_limit);
    agree = report("columns", seed, one, four) && agree;
    if (seed > 1) continue;
    agree = report("area", seed, problem.largest_area(1), problem.largest_area(4)) && agree;
    agree = report("limit", seed, problem.within_limit(1), problem.within_limit(4)) && agree;
    agree = report("sparse", seed, problem.sparse(1), problem.sparse(4)) && agree;
    agree = report("multiway", seed, problem.multiway(1), problem.multiway(4)) && agree;
    for (const bool per_splits : {false, true}) {
      const PointsResult alone = problem.front(1, per_splits), together = problem.front(4, per_splits);
      agree = report("front", seed, alone, together) && agree;
    }
  }
  for (unsigned seed = 0; seed < 2; ++seed) {
    const Ranks problem(seed);
    agree = report("ranks", seed, problem.solve_with(1), problem.solve_with(4)) && agree;
  }
  return agree ? 0 : 1;
}
