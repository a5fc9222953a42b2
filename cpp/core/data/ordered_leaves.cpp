#include "data/ordered_leaves.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/check.hpp"
#include "data/ordered_data.hpp"
#include "tasks/leaf_questions.hpp"
#include "tasks/quantile_loss.hpp"

namespace certree {

namespace {

bool parts(const std::int32_t* rows, const std::int32_t* ranks, std::int32_t k) {
  return ranks[rows[k - 1]] != ranks[rows[k]];
}

// A function of the sums of vectors (VectorKind::callback and VectorKind::rates).
class SumLeaves final : public OrderedLeaves {
 public:
  SumLeaves(const OrderedView& view, const VectorTask& task, Budget& budget, MemoryBudget& memory)
      : statistics_(view.statistics),
        task_(task),
        n_(static_cast<std::size_t>(task.n_statistics)),
        questions_(task, budget),
        sums_(memory),
        packed_(memory),
        costs_(memory),
        sides_(memory),
        total_(n_ + 1) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(view.n_rows));
    std::iota(all.begin(), all.end(), 0);
    limit_ = kInfinite;
    std::int32_t label = 0;
    limit_ = leaf(all.data(), static_cast<std::int32_t>(view.n_rows), &label);
  }

  bool has_sums() const override { return true; }
  void start(const std::int32_t*, std::int32_t) override {}

  void ask(const Cost* sums, std::size_t n, std::size_t stride, Cost* costs) override {
    const Cost* sizes = sums + n_ * stride;
    if (std::all_of(sizes, sizes + n, [](Cost size) { return size > 0; })) return put(sums, n, stride, costs);
    // Functions need not know what no rows cost.
    filled_.clear();
    for (std::size_t k = 0; k < n; ++k)
      if (sizes[k] > 0) filled_.push_back(k);
    packed_.resize(filled_.size() * n_);
    for (std::size_t s = 0; s < n_; ++s)
      for (std::size_t k = 0; k < filled_.size(); ++k) packed_[s * filled_.size() + k] = sums[s * stride + filled_[k]];
    costs_.resize(filled_.size());
    put(packed_.data(), filled_.size(), filled_.size(), costs_.data());
    std::fill_n(costs, n, Cost{0});
    for (std::size_t k = 0; k < filled_.size(); ++k) costs[filled_[k]] = costs_[k];
  }

  void along(const std::int32_t* rows, std::int32_t n_rows, const std::int32_t* ranks, Cost* first,
             Cost* others) override {
    add_up(rows, n_rows);
    std::size_t n = 0;
    for (std::int32_t k = 1; k < n_rows; ++k) n += parts(rows, ranks, k);
    sums_.resize(2 * n * n_);
    sides_.resize(2 * n);
    std::vector<Cost> sum(n_, 0);
    std::size_t at = 0;
    for (std::int32_t k = 1; k < n_rows; ++k) {
      const Cost* values = statistics_ + static_cast<std::size_t>(rows[k - 1]) * n_;
      for (std::size_t s = 0; s < n_; ++s) sum[s] += values[s];
      if (!parts(rows, ranks, k)) continue;
      for (std::size_t s = 0; s < n_; ++s) {
        sums_[s * 2 * n + at] = sum[s];
        sums_[s * 2 * n + n + at] = total_[s] - sum[s];
      }
      ++at;
    }
    put(sums_.data(), 2 * n, 2 * n, sides_.data());
    at = 0;
    for (std::int32_t k = 1; k < n_rows; ++k) {
      const bool is_asked = parts(rows, ranks, k);
      first[k] = is_asked ? sides_[at] : kNoCost;
      others[k] = is_asked ? sides_[n + at++] : kNoCost;
    }
  }

  Cost leaf(const std::int32_t* rows, std::int32_t n_rows, std::int32_t* label) override {
    add_up(rows, n_rows);
    Cost cost = 0;
    task_.leaf(total_.data(), 1, 1, &cost, label);
    if (cost < 0 || cost > limit_) refuse_leaf_cost(task_, cost, limit_);
    return cost;
  }

 private:
  void add_up(const std::int32_t* rows, std::int32_t n_rows) {
    std::fill(total_.begin(), total_.end(), Cost{0});
    for (std::int32_t k = 0; k < n_rows; ++k) {
      const Cost* values = statistics_ + static_cast<std::size_t>(rows[k]) * n_;
      for (std::size_t s = 0; s < n_; ++s) total_[s] += values[s];
    }
  }
  // Questions about sets that have rows.
  void put(const Cost* sums, std::size_t n, std::size_t stride, Cost* costs) {
    if (is_cut_ || !questions_.ask(sums, n, stride, costs, true)) {
      is_cut_ = true;
      std::fill_n(costs, n, kNoCost);
      return;
    }
    for (std::size_t k = 0; k < n; ++k)
      if (costs[k] < 0 || costs[k] > limit_) refuse_leaf_cost(task_, costs[k], limit_);
  }

  const Cost* statistics_;
  const VectorTask& task_;
  std::size_t n_;
  LeafQuestions questions_;
  Cost limit_;
  ChargedVector<Cost> sums_, packed_, costs_, sides_;
  std::vector<Cost> total_;
  std::vector<std::size_t> filled_;
};

// Losses around quantiles (tasks/quantile_loss.hpp).
//
// Rows are in a list by rising targets, and one row of it has the quantile.  Removing rows one after the other moves it a
// little each time, and so the costs of all rows up to each threshold take one pass, and those beyond it another.
class QuantileLeaves final : public OrderedLeaves {
 public:
  QuantileLeaves(const OrderedView& view, const VectorTask& task, MemoryBudget& memory)
      : statistics_(view.statistics),
        task_(task),
        above_(task.above),
        below_(task.below),
        place_(static_cast<std::size_t>(view.n_rows), 0, memory),
        sorted_(place_.size(), 0, memory),
        slot_(place_.size(), -1, memory),
        list_(memory) {
    std::iota(sorted_.begin(), sorted_.end(), 0);
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [&](std::int32_t a, std::int32_t b) { return target(a) < target(b); });
    for (std::size_t k = 0; k < sorted_.size(); ++k)
      place_[static_cast<std::size_t>(sorted_[k])] = static_cast<std::int32_t>(k);
    least_ = target(sorted_.front());
  }

  bool has_sums() const override { return false; }
  void ask(const Cost*, std::size_t, std::size_t, Cost*) override {
    require(false, "the loss around a quantile is not a function of sums");
  }

  void start(const std::int32_t* rows, std::int32_t n_rows) override {
    sorted_.assign(rows, rows + n_rows);
    sort(sorted_);
  }

  void along(const std::int32_t* rows, std::int32_t n_rows, const std::int32_t* ranks, Cost* first,
             Cost* others) override {
    make_list(rows, n_rows);
    begin();
    for (std::int32_t k = n_rows - 1; k > 0; --k) {
      remove(rows[k]);
      first[k] = parts(rows, ranks, k) ? cost() : kNoCost;
    }
    make_list(rows, n_rows);
    begin();
    for (std::int32_t k = 1; k < n_rows; ++k) {
      remove(rows[k - 1]);
      others[k] = parts(rows, ranks, k) ? cost() : kNoCost;
    }
    forget(rows, n_rows);
  }

  Cost leaf(const std::int32_t* rows, std::int32_t n_rows, std::int32_t* label) override {
    *label = 0;
    std::vector<std::int32_t> sorted(rows, rows + n_rows);
    sort(sorted);
    Cost weight = 0;
    for (const std::int32_t row : sorted) weight += weight_of(row);
    QuantileLoss loss(task_, weight);
    for (const std::int32_t row : sorted) loss.add(target(row), weight_of(row));
    return loss.cost();
  }

 private:
  struct Entry {
    Cost target, weight;
    std::int32_t before, after;  // -1: none
  };

  Cost weight_of(std::int32_t row) const { return statistics_[2 * static_cast<std::size_t>(row)]; }
  Cost target(std::int32_t row) const { return statistics_[2 * static_cast<std::size_t>(row) + 1]; }
  Entry& at(std::int32_t slot) { return list_[static_cast<std::size_t>(slot)]; }

  // By rising targets.
  template <class Rows>
  void sort(Rows& rows) const {
    std::sort(rows.begin(), rows.end(), [&](std::int32_t a, std::int32_t b) {
      return place_[static_cast<std::size_t>(a)] < place_[static_cast<std::size_t>(b)];
    });
  }

  void make_list(const std::int32_t* rows, std::int32_t n_rows) {
    for (std::int32_t k = 0; k < n_rows; ++k) slot_[static_cast<std::size_t>(rows[k])] = 0;
    list_.resize(static_cast<std::size_t>(n_rows));
    std::int32_t n = 0;
    for (const std::int32_t row : sorted_) {
      if (slot_[static_cast<std::size_t>(row)] < 0) continue;
      slot_[static_cast<std::size_t>(row)] = n;
      list_[static_cast<std::size_t>(n)] = {target(row) - least_, weight_of(row), n - 1, n + 1 < n_rows ? n + 1 : -1};
      ++n;
    }
    CERTREE_DCHECK(n == n_rows);
  }
  void forget(const std::int32_t* rows, std::int32_t n_rows) {
    for (std::int32_t k = 0; k < n_rows; ++k) slot_[static_cast<std::size_t>(rows[k])] = -1;
  }

  void begin() {
    all_ = passed_ = Sums{};
    for (const Entry& entry : list_) all_.add(entry, 1);
    quantile_ = 0;
    settle();
  }
  void remove(std::int32_t row) {
    const std::int32_t slot = slot_[static_cast<std::size_t>(row)];
    const Entry entry = at(slot);
    if (entry.before >= 0) at(entry.before).after = entry.after;
    if (entry.after >= 0) at(entry.after).before = entry.before;
    all_.add(entry, -1);
    if (slot < quantile_) passed_.add(entry, -1);
    if (slot == quantile_ && entry.after >= 0) {
      quantile_ = entry.after;
    } else if (slot == quantile_) {
      quantile_ = entry.before;
      passed_.add(at(quantile_), -1);
    }
    settle();
  }
  // Moves the quantile to where the weight before it, and with it, says.
  void settle() {
    for (Cost with = passed_.weight + at(quantile_).weight; below_ * with < above_ * (all_.weight - with);
         with = passed_.weight + at(quantile_).weight) {
      passed_.add(at(quantile_), 1);
      quantile_ = at(quantile_).after;
    }
    while (below_ * passed_.weight > above_ * (all_.weight - passed_.weight)) {
      quantile_ = at(quantile_).before;
      passed_.add(at(quantile_), -1);
    }
  }
  Cost cost() {
    const Cost value = at(quantile_).target;
    const Cost rest = (all_.product - passed_.product) - value * (all_.weight - passed_.weight);
    return below_ * (value * passed_.weight - passed_.product) + above_ * rest;
  }

  struct Sums {
    Cost weight = 0, product = 0;  // of weights and targets
    void add(const Entry& entry, Cost sign) {
      weight += sign * entry.weight;
      product += sign * entry.weight * entry.target;
    }
  };

  const Cost* statistics_;
  const VectorTask& task_;
  Cost above_, below_, least_ = 0;
  ChargedVector<std::int32_t> place_;   // [row]: among all rows by rising targets
  ChargedVector<std::int32_t> sorted_;  // the rows that those of a question are among, by rising targets
  ChargedVector<std::int32_t> slot_;    // [row]: in the list; -1: not there
  ChargedVector<Entry> list_;
  Sums all_, passed_;  // of all rows in the list, and of those before the quantile
  std::int32_t quantile_ = 0;
};

}  // namespace

std::unique_ptr<OrderedLeaves> make_ordered_leaves(const OrderedView& view, const VectorTask& task, Budget& budget,
                                                   MemoryBudget& memory) {
  if (task.kind == VectorKind::callback || task.kind == VectorKind::rates)
    return std::make_unique<SumLeaves>(view, task, budget, memory);
  if (task.kind == VectorKind::quantile) return std::make_unique<QuantileLeaves>(view, task, memory);
  return nullptr;
}

}  // namespace certree
