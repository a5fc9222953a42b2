// What earlier solves of the same rows with other prices have proved: their tables, and the shares of their bounds that
// hold now (bounds/weight_reuse.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"
#include "bounds/weight_reuse.hpp"
#include "search/options.hpp"
#include "search/scale.hpp"
#include "search/table.hpp"
#include "tasks/count_task.hpp"

namespace certree {

// The objective of a solve as far as its bounds depend on it.
struct Pricing {
  Pricing(const Dataset& data, const CountTask& task, const Options& options, const Scale& scale);
  bool operator==(const Pricing&) const = default;
  // The prices as the search sees them, with the tie-break.
  Prices inner() const;

  Prices prices;  // the caller's: types by labels, then the split; 0 for types without rows
  std::int32_t n_labels;
  Cost factor;  // search/scale.hpp
  Cost tie_break;
  std::int64_t min_leaf;
};

class Past {
 public:
  // The table of an earlier solve with the same objective, whose entries hold as they are; it leaves the past.
  std::unique_ptr<Table> take(const Pricing& now);
  void add(const Pricing& pricing, std::unique_ptr<Table> table);
  void clear() { solves_.clear(); }
  // Drops the oldest until the tables fit.
  void shrink(std::int64_t max_bytes);
  std::int64_t bytes() const;

  // Says which objective the bounds are for.
  void prepare(const Pricing& now);
  bool is_useful() const { return !singles_.empty(); }
  // A lower bound for the subproblem; 0: nothing is known.
  Cost bound(const Fingerprint& key) const;

 private:
  static constexpr std::size_t kMost = 8;  // solves kept

  struct Solve {
    Pricing pricing;
    std::unique_ptr<Table> table;
  };
  struct Single {
    std::size_t solve;
    Shares callers, inner;  // of the bound in the caller's units, and of the bound itself
  };
  struct Pair {
    std::size_t first, second;  // positions in singles_
    Shares shares;
  };

  std::vector<Solve> solves_;  // oldest first
  std::vector<Single> singles_;
  std::vector<Pair> pairs_;
  Cost factor_ = 1;
};

}  // namespace certree
