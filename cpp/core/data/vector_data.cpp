#include "data/vector_data.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/check.hpp"
#include "data/sorted_rows.hpp"
#include "tasks/leaf_questions.hpp"

namespace certree {

namespace {

// The searches add a few costs together and multiply them by scales; beyond this nothing is safe.
constexpr Cost kLargest = kInfinite / 4;
// What a tree may cost whose task says nothing of it; leaf functions are held to it.
constexpr Cost kLargestUnbounded = Cost{1} << 44;

// Messages are made only when they are needed: this is done for every number of the table.
void add_checked(Cost& sum, Cost term, const char* what) {
  if (__builtin_add_overflow(sum, term, &sum) || sum > kLargest || sum < -kLargest)
    throw std::invalid_argument(std::string(what) + " overflow 64-bit integers; scale them down");
}

// Of the caller's rows, which messages name.
void check_row(VectorKind kind, std::size_t row, const std::int64_t* values, std::size_t n) {
  const bool has_costs = kind == VectorKind::least;
  for (std::size_t s = 0; s < n; ++s) {
    if (has_costs && values[s] < 0)
      throw std::invalid_argument("statistics has a negative cost in row " + std::to_string(row) +
                                  "; add a constant to the row, which changes no comparison of labels");
    if (values[s] == std::numeric_limits<std::int64_t>::min())
      throw std::invalid_argument("statistics overflow 64-bit integers in row " + std::to_string(row));
  }
  if (kind == VectorKind::squares && values[0] < 1)
    throw std::invalid_argument("statistics has a weight below 1 in row " + std::to_string(row) +
                                "; leave rows of weight 0 out");
}

const VectorTable& checked(const VectorTable& table, const VectorTask& task) {
  const auto n = static_cast<std::size_t>(task.n_statistics);
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.table.n_rows); ++row)
    check_row(task.kind, row, table.statistics + row * n, n);
  return table;
}

}  // namespace

VectorData::VectorData(const VectorTable& given, const VectorTask& task, const DatasetSettings& settings,
                       Budget& budget, MemoryBudget& memory)
    : VectorData(SortedRows(checked(given, task), static_cast<std::size_t>(task.n_statistics)).table(), task, settings,
                 budget, memory, IsSorted{}) {}

VectorData::VectorData(const VectorTable& table, const VectorTask& task, const DatasetSettings& settings,
                       Budget& budget, MemoryBudget& memory, IsSorted)
    : task_(task),
      n_statistics_(static_cast<std::size_t>(task.n_statistics)),
      groups_(table.table, settings, memory, group_of_row_) {
  add_up(table, group_of_row_);
  bound_groups(table, group_of_row_, budget);
  if (table.tests.feature != nullptr) weigh_groups(table, group_of_row_);
  group_of_row_ = {};
}

void VectorData::add_up(const VectorTable& table, const std::vector<std::int32_t>& group_of_row) {
  const auto n_groups = static_cast<std::size_t>(groups_.n_groups());
  sums_.assign(n_groups * n_statistics_, 0);
  rows_.assign(n_groups, 0);
  sizes_.assign(n_statistics_, 0);
  totals_.assign(n_statistics_, 0);
  for (std::size_t row = 0; row < group_of_row.size(); ++row) {
    const auto group = static_cast<std::size_t>(group_of_row[row]);
    const std::int64_t* values = table.statistics + row * n_statistics_;
    for (std::size_t s = 0; s < n_statistics_; ++s) {
      add_checked(sizes_[s], values[s] < 0 ? -values[s] : values[s], "the sums of statistics");
      sums_[group * n_statistics_ + s] += values[s];
      totals_[s] += values[s];
    }
    const Cost count = table.row_counts != nullptr ? table.row_counts[row] : 1;
    if (count < 1) throw std::invalid_argument("row_counts must be at least 1");
    add_checked(n_rows_, count, "row_counts");
    rows_[group] += count;
  }
}

// Worst change and unavoidable cost of every group.  All rows of a group share their leaf, so for `least` the worst of the
// group is its dearest label, not the sum of its rows' dearest labels.
void VectorData::bound_groups(const VectorTable& table, const std::vector<std::int32_t>& group_of_row, Budget& budget) {
  const auto n_groups = static_cast<std::size_t>(groups_.n_groups());
  worst_.assign(n_groups, 0);
  unavoidable_.assign(n_groups, 0);
  if (task_.kind == VectorKind::least) {
    for (std::size_t g = 0; g < n_groups; ++g) worst_[g] = *std::max_element(sums(g), sums(g) + n_statistics_);
  } else if (task_.kind == VectorKind::squares) {
    bound_squares();
  } else if (table.row_worst != nullptr) {
    for (std::size_t row = 0; row < group_of_row.size(); ++row) {
      if (table.row_worst[row] < 0) throw std::invalid_argument("row_worst must not be negative");
      add_checked(worst_[static_cast<std::size_t>(group_of_row[row])], table.row_worst[row], "the sums of row_worst");
    }
  }
  if (task_.superadditive) {
    if (task_.kind == VectorKind::callback) {
      std::vector<Cost> by_statistic(sums_.size());
      for (std::size_t g = 0; g < n_groups; ++g)
        for (std::size_t s = 0; s < n_statistics_; ++s) by_statistic[s * n_groups + g] = sums(g)[s];
      // Where the time is up before all are asked, the rest keep the bound 0.
      LeafQuestions(task_, budget).ask(by_statistic.data(), n_groups, n_groups, unavoidable_.data(), true);
    } else {
      for (std::size_t g = 0; g < n_groups; ++g) unavoidable_[g] = task_.leaf_cost(sums(g));
    }
  }
  for (const Cost worst : worst_) add_checked(worst_total_, worst, "the worst costs of all rows");
  if (task_.superadditive) {
    // A tree never costs more than one leaf: superadditivity again.
    worst_total_ = std::max(worst_total_, task_.leaf_cost(totals_.data()));
  } else if (task_.kind == VectorKind::callback) {
    worst_total_ = kLargestUnbounded;
  }
  require(worst_total_ <= kLargest, "the total cost overflows 64-bit integers; scale statistics down");
}

void VectorData::weigh_groups(const VectorTable& table, const std::vector<std::int32_t>& group_of_row) {
  tests_.emplace(table.tests, groups_);
  weights_ = rows_;
  if (table.tests.weights != nullptr) {
    std::fill(weights_.begin(), weights_.end(), Cost{0});
    for (std::size_t row = 0; row < group_of_row.size(); ++row) {
      if (table.tests.weights[row] < 0) throw std::invalid_argument("weights of test costs must not be negative");
      add_checked(weights_[static_cast<std::size_t>(group_of_row[row])], table.tests.weights[row], "weights");
    }
  }
  for (const Cost weight : weights_) add_checked(weight_, weight, "weights");
}

// The mean of any leaf lies between the least and the largest target, and the squared distance of a group from a point is
// convex in the point: the worst is at one of the two ends.
void VectorData::bound_squares() {
  __extension__ using Signed = __int128;
  Cost least = kInfinite, most = -kInfinite;
  const auto n_groups = static_cast<std::size_t>(groups_.n_groups());
  for (std::size_t g = 0; g < n_groups; ++g) {
    // Means of groups bound means of leaves.
    const Cost w = sums(g)[0], s = sums(g)[1];
    least = std::min(least, s / w - (s % w < 0 ? 1 : 0));
    most = std::max(most, s / w + (s % w > 0 ? 1 : 0));
  }
  for (std::size_t g = 0; g < n_groups; ++g) {
    const Cost* s = sums(g);
    for (const Cost end : {least, most}) {
      const Signed distance =
          static_cast<Signed>(s[2]) - 2 * static_cast<Signed>(end) * s[1] + static_cast<Signed>(end) * end * s[0];
      const Signed scaled = distance * task_.scale;
      if (scaled < 0) throw std::invalid_argument("statistics of kind 'squares' must be w, w * y, w * y * y");
      if (scaled > kLargest)
        throw std::invalid_argument("the squared errors overflow 64-bit integers; scale the targets down");
      worst_[g] = std::max(worst_[g], static_cast<Cost>(scaled));
    }
  }
}

}  // namespace certree
