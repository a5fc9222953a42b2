#include "data/vector_data.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/check.hpp"
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
  if ((kind == VectorKind::squares || kind == VectorKind::quantile) && values[0] < 1)
    throw std::invalid_argument("statistics has a weight below 1 in row " + std::to_string(row) +
                                "; leave rows of weight 0 out");
}

// The vectors of a checked table: one of each type, or of each row.
const VectorTable& checked(const VectorTable& table, const VectorTask& task) {
  const auto n = static_cast<std::size_t>(task.n_statistics);
  const std::int64_t n_vectors = table.n_types > 0 ? table.n_types : table.table.n_rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(n_vectors); ++row)
    check_row(task.kind, row, table.statistics + row * n, n);
  if (table.n_types == 0) return table;
  require(task.kind == VectorKind::least || task.kind == VectorKind::callback,
          "rows of few types need a task of kind 'min_label' or 'callback'");
  require(table.row_counts == nullptr, "rows of few types stand for one row each; leave row_counts out");
  return table;
}

Cost checked_product(Cost a, Cost b, const char* what) {
  Cost product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kLargest || product < -kLargest)
    throw std::invalid_argument(std::string(what) + " overflow 64-bit integers; scale them down");
  return product;
}

}  // namespace

VectorData::VectorData(const VectorTable& table, const VectorTask& task, const DatasetSettings& settings,
                       Budget& budget, MemoryBudget& memory)
    : task_(task),
      n_statistics_(static_cast<std::size_t>(task.n_statistics)),
      has_types_(table.n_types > 0),
      group_of_row_(memory),
      groups_(checked(table, task).table, table.n_types, settings, budget, memory, group_of_row_) {
  if (has_types_) {
    take_types(table);
  } else {
    take_rows(table, group_of_row_);
  }
  add_parts();
  bound_parts(table, group_of_row_);
  bound_groups(budget);
  if (table.tests.feature != nullptr) weigh_parts(table, group_of_row_);
  release(group_of_row_);
}

void VectorData::take_rows(const VectorTable& table, const ChargedVector<std::int32_t>& group_of_row) {
  const auto n_groups = static_cast<std::size_t>(groups_.n_groups());
  sums_.assign(n_groups * n_statistics_, 0);
  rows_.assign(n_groups, 0);
  sizes_.assign(n_statistics_, 0);
  for (std::size_t row = 0; row < group_of_row.size(); ++row) {
    const auto group = static_cast<std::size_t>(group_of_row[row]);
    const std::int64_t* values = table.statistics + row * n_statistics_;
    for (std::size_t s = 0; s < n_statistics_; ++s) {
      add_checked(sizes_[s], values[s] < 0 ? -values[s] : values[s], "the sums of statistics");
      sums_[group * n_statistics_ + s] += values[s];
    }
    const Cost count = table.row_counts != nullptr ? table.row_counts[row] : 1;
    if (count < 1) throw std::invalid_argument("row_counts must be at least 1");
    add_checked(n_rows_, count, "row_counts");
    rows_[group] += count;
    if (task_.kind == VectorKind::quantile) targets_.push_back({values[1], values[0], group_of_row[row]});
  }
}

Cost VectorData::leaf_cost(const Node& node, std::int32_t* label) const {
  const std::vector<Cost> sums = sums_of(node);
  if (task_.kind != VectorKind::quantile) return task_.leaf_cost(sums.data(), label);
  QuantileLoss loss(task_, sums[0]);
  for (const Target& target : targets_) {
    const auto group = static_cast<std::size_t>(target.group);
    if ((node.rows_data()[group / kWordBits] >> (group % kWordBits) & 1) != 0) loss.add(target.value, target.weight);
  }
  if (label != nullptr) *label = 0;
  return loss.cost();
}

void VectorData::take_types(const VectorTable& table) {
  const auto n_types = static_cast<std::size_t>(table.n_types);
  sums_.assign(table.statistics, table.statistics + n_types * n_statistics_);
  rows_.assign(n_types, groups_.has_row_count() ? 0 : 1);
  if (groups_.has_row_count()) {
    rows_.push_back(1);
    sums_.resize(sums_.size() + n_statistics_, 0);
  }
  sizes_.assign(n_statistics_, 0);
  for (std::size_t part = 0; part < n_parts(); ++part) {
    add_checked(n_rows_, checked_product(rows_[part], size_of(part), "weights"), "weights");
    for (std::size_t s = 0; s < n_statistics_; ++s) {
      const Cost value = sums(part)[s];
      add_checked(sizes_[s], checked_product(value < 0 ? -value : value, size_of(part), "the sums of statistics"),
                  "the sums of statistics");
    }
  }
}

void VectorData::add_parts() {
  totals_.assign(n_statistics_, 0);
  for (std::size_t part = 0; part < n_parts(); ++part)
    for (std::size_t s = 0; s < n_statistics_; ++s) totals_[s] += size_of(part) * sums(part)[s];
}

std::vector<Cost> VectorData::sums_of(const Node& node) const {
  std::vector<Cost> out(n_statistics_, 0);
  if (has_types_) {
    for (std::size_t part = 0; part < n_parts(); ++part)
      for (std::size_t s = 0; s < n_statistics_; ++s) out[s] += node.totals[part] * sums(part)[s];
    return out;
  }
  for (std::size_t w = 0; w < groups_.group_words(); ++w) {
    for (Word rest = node.rows_data()[w]; rest != 0; rest &= rest - 1) {
      const Cost* group = sums(w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
      for (std::size_t s = 0; s < n_statistics_; ++s) out[s] += group[s];
    }
  }
  return out;
}

// The sums of a group's rows.
void VectorData::add_group(std::size_t group, Cost* out) const {
  if (!has_types_) {
    std::copy_n(sums(group), n_statistics_, out);
    return;
  }
  std::fill_n(out, n_statistics_, Cost{0});
  const Cost* weight = groups_.group_weights().data() + group * n_parts();
  for (std::size_t part = 0; part < n_parts(); ++part)
    for (std::size_t s = 0; weight[part] > 0 && s < n_statistics_; ++s) out[s] += weight[part] * sums(part)[s];
}

// Worst change of every part.  All rows of a group share their leaf, so for `least` the worst of the group is its dearest
// label, not the sum of its rows' dearest labels.
void VectorData::bound_parts(const VectorTable& table, const ChargedVector<std::int32_t>& group_of_row) {
  worst_.assign(n_parts(), 0);
  if (task_.kind == VectorKind::least) {
    for (std::size_t part = 0; part < n_parts(); ++part) worst_[part] = dearest(task_, sums(part));
  } else if (task_.kind == VectorKind::squares) {
    bound_squares();
  } else if (task_.kind == VectorKind::quantile) {
    bound_quantiles();
  } else if (table.row_worst != nullptr) {
    const std::size_t n = has_types_ ? static_cast<std::size_t>(table.n_types) : group_of_row.size();
    for (std::size_t k = 0; k < n; ++k) {
      if (table.row_worst[k] < 0) throw std::invalid_argument("row_worst must not be negative");
      const std::size_t part = has_types_ ? k : static_cast<std::size_t>(group_of_row[k]);
      add_checked(worst_[part], table.row_worst[k], "the sums of row_worst");
    }
  }
  for (std::size_t part = 0; part < n_parts(); ++part)
    add_checked(worst_total_, checked_product(worst_[part], size_of(part), "the worst costs of all rows"),
                "the worst costs of all rows");
}

// Unavoidable cost of every group, and the most that a tree costs.
void VectorData::bound_groups(Budget& budget) {
  const auto n_groups = static_cast<std::size_t>(groups_.n_groups());
  if (task_.kind == VectorKind::quantile) return;  // bound_quantiles has done it
  unavoidable_.assign(n_groups, 0);
  if (task_.has_floor()) {
    std::vector<Cost> mine(n_statistics_);
    if (task_.kind == VectorKind::callback) {
      std::vector<Cost> by_statistic(n_groups * n_statistics_);
      for (std::size_t g = 0; g < n_groups; ++g) {
        add_group(g, mine.data());
        for (std::size_t s = 0; s < n_statistics_; ++s) by_statistic[s * n_groups + g] = mine[s];
      }
      // Where the time is up before all are asked, the rest keep the bound 0.
      LeafQuestions(task_.superadditive ? task_.leaf : task_.floor, budget)
          .ask(by_statistic.data(), n_groups, n_groups, unavoidable_.data(), true);
    } else {
      for (std::size_t g = 0; g < n_groups; ++g) {
        add_group(g, mine.data());
        unavoidable_[g] = task_.leaf_cost(mine.data());
      }
    }
  }
  if (task_.superadditive) {
    // A tree never costs more than one leaf: superadditivity again.
    worst_total_ = std::max(worst_total_, task_.leaf_cost(totals_.data()));
  } else if (task_.kind == VectorKind::callback) {
    worst_total_ = kLargestUnbounded;
  }
  require(worst_total_ <= kLargest, "the total cost overflows 64-bit integers; scale statistics down");
}

void VectorData::weigh_parts(const VectorTable& table, const ChargedVector<std::int32_t>& group_of_row) {
  tests_.emplace(table.tests, groups_);
  weights_ = has_types_ ? std::vector<Cost>(n_parts(), 1) : rows_;
  if (has_types_ && groups_.has_row_count()) weights_.back() = 0;
  if (table.tests.weights != nullptr) {
    std::fill(weights_.begin(), weights_.end(), Cost{0});
    const std::size_t n = has_types_ ? static_cast<std::size_t>(table.n_types) : group_of_row.size();
    for (std::size_t k = 0; k < n; ++k) {
      if (table.tests.weights[k] < 0) throw std::invalid_argument("weights of test costs must not be negative");
      const std::size_t part = has_types_ ? k : static_cast<std::size_t>(group_of_row[k]);
      add_checked(weights_[part], table.tests.weights[k], "weights");
    }
  }
  for (std::size_t part = 0; part < n_parts(); ++part)
    add_checked(weight_, checked_product(weights_[part], size_of(part), "weights"), "weights");
}

// Means of groups bound means of leaves.
void VectorData::bound_squares() {
  const auto n_groups = static_cast<std::size_t>(groups_.n_groups());
  const SquareScales scales(task_);
  TargetRange range;
  for (std::size_t g = 0; g < n_groups; ++g) range.add(sums(g), scales.outputs.size());
  for (std::size_t g = 0; g < n_groups; ++g) worst_[g] = worst_square(range, sums(g), scales, kLargest);
}

// Quantiles of groups bound those of leaves, since losses are convex: the loss of a group is greatest at one of the two ends.
void VectorData::bound_quantiles() {
  std::sort(targets_.begin(), targets_.end(), [](const Target& a, const Target& b) {
    return a.value != b.value ? a.value < b.value : a.group < b.group;
  });
  std::size_t n = 0;
  for (const Target& target : targets_) {
    if (n > 0 && targets_[n - 1].value == target.value && targets_[n - 1].group == target.group) {
      targets_[n - 1].weight += target.weight;
    } else {
      targets_[n++] = target;
    }
  }
  targets_.resize(n);
  const Cost slopes = checked_product(task_.above + task_.below, totals_[0], "the losses");
  const Cost width = std::max<Cost>(targets_.back().value - targets_.front().value, 1);
  most_loss_ = checked_product(checked_product(slopes, width, "the losses"), 2, "the losses");
  require(most_loss_ < kLargestLoss, "the losses need more than 52 bits; scale targets or weights down");
  const auto n_groups = static_cast<std::size_t>(groups_.n_groups());
  std::vector<QuantileLoss> losses;
  for (std::size_t g = 0; g < n_groups; ++g) losses.emplace_back(task_, sums(g)[0]);
  for (const Target& target : targets_) losses[static_cast<std::size_t>(target.group)].add(target.value, target.weight);
  Cost least = kInfinite, most = -kInfinite;
  for (const QuantileLoss& loss : losses) {
    unavoidable_.push_back(loss.cost());
    least = std::min(least, loss.value());
    most = std::max(most, loss.value());
  }
  std::vector<Cost> at_least(n_groups, 0), at_most(n_groups, 0);
  for (const Target& target : targets_) {
    const auto group = static_cast<std::size_t>(target.group);
    const auto loss_at = [&](Cost value) {
      return target.weight * std::max(task_.above * (target.value - value), task_.below * (value - target.value));
    };
    at_least[group] += loss_at(least);
    at_most[group] += loss_at(most);
  }
  for (std::size_t g = 0; g < n_groups; ++g) worst_[g] = std::max(at_least[g], at_most[g]);
}

}  // namespace certree
