// What earlier solves of the same rows with other prices have proved: their tables, and the shares of their bounds that
// hold now (bounds/weight_reuse.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"
#include "bounds/weight_reuse.hpp"
#include "search/shared/curve_table.hpp"
#include "search/shared/options.hpp"
#include "search/shared/scale.hpp"
#include "search/shared/table.hpp"
#include "tasks/count_task.hpp"

namespace certree {

// The part of the objective of a solve that its bounds depend on.
struct Pricing {
  Pricing(const Dataset& data, const CountTask& task, const Options& options, const Scale& scale);
  bool operator==(const Pricing&) const = default;
  // The prices as the search sees them, with the tie-break.
  Prices inner() const;
  // Of leaves alone, in units of the cost matrix.
  Pricing of_leaves() const;
  // Bounds proved for `this` give bounds for trees priced as `now`.
  bool bounds(const Pricing& now) const;

  Prices prices;  // the caller's: types by labels, then the split; 0 for types without rows
  std::int32_t n_labels;
  Cost factor;  // search/shared/scale.hpp
  Cost tie_break;
  std::int64_t min_leaf;
  Cost error_scale;
};

// The shares of several earlier bounds that hold now.
class SharePlan {
 public:
  SharePlan() = default;
  // `then`: the prices of earlier solves; empty where their bounds are of no use.
  SharePlan(const std::vector<Prices>& then, const Prices& now);
  bool is_empty() const { return singles_.empty(); }
  bool uses(std::size_t solve) const { return is_used_[solve]; }
  // The best combination of lower bounds, one per earlier solve.
  Cost of(const Cost* bounds) const;

 private:
  struct Single {
    std::size_t solve;
    Shares shares;
  };
  struct Pair {
    std::size_t first, second;
    Shares shares;
  };
  std::vector<Single> singles_;
  std::vector<Pair> pairs_;
  std::vector<bool> is_used_;
};

// Tables of earlier solves, oldest first.
template <class T>
class EarlierTables {
 public:
  // The table of an earlier solve with the same objective, whose entries hold as they are; it is taken out.
  std::unique_ptr<T> take(const Pricing& now) {
    for (std::size_t k = solves_.size(); k-- > 0;) {
      if (!(solves_[k].pricing == now)) continue;
      auto table = std::move(solves_[k].table);
      solves_.erase(solves_.begin() + static_cast<std::ptrdiff_t>(k));
      return table;
    }
    return nullptr;
  }
  // The fewest entries go first.
  void add(const Pricing& pricing, std::unique_ptr<T> table) {
    if (table->n_entries() == 0) return;
    const auto is_smaller = [](const Solve& a, const Solve& b) { return a.table->n_entries() < b.table->n_entries(); };
    if (solves_.size() == kMost) solves_.erase(std::min_element(solves_.begin(), solves_.end(), is_smaller));
    solves_.push_back({pricing, std::move(table)});
  }
  void clear() { solves_.clear(); }
  // Drops the oldest until the rest fit.
  void shrink(std::int64_t max_bytes) {
    while (!solves_.empty() && bytes() > max_bytes) solves_.erase(solves_.begin());
  }
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const Solve& solve : solves_) sum += solve.table->bytes();
    return sum;
  }
  bool is_useful() const { return !plan_.is_empty(); }

 protected:
  static constexpr std::size_t kMost = 8;
  struct Solve {
    Pricing pricing;
    std::unique_ptr<T> table;
  };
  std::vector<Solve> solves_;
  SharePlan plan_;
};

// For one value per subproblem.
class EarlierSolves : public EarlierTables<Table> {
 public:
  // Says which objective the bounds are for.
  void prepare(const Pricing& now);
  // A lower bound for the subproblem; 0: nothing is known.
  Cost bound(const Fingerprint& key) const;

 private:
  std::vector<Shares> inner_;  // of the bounds as the search has them, with the tie-break
  Cost factor_ = 1;
};

// For one value per number of splits.  The values are leaf costs, without prices of splits.
class EarlierCurves : public EarlierTables<CurveTable> {
 public:
  void prepare(const Pricing& now);
  // Raises the lower ends of the curve; false: nothing is known.
  bool raise(const Fingerprint& key, Curve& curve) const;
};

}  // namespace certree
