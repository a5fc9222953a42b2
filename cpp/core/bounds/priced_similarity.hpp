// Similar sets and nested sets where tests have prices (data/test_costs.hpp).
//
// Theorem.  Let A, B be row sets, P, Q sets of tested features, d a depth, X the most that a unit of weight can pay on a path
// of d tests from Q on, and e the most that it pays more on one from Q on than on the same path from P on.  With leaves of any
// size,
//
//     V_d(A, P) >= V_d(B, Q) - S (worst(B \ A) + X w(B \ A) + (e + l) w(A and B)),
//
// where l bounds the discounts that are lost when tests that do not separate B are left out of a path.  If A is a subset of B
// none is left out, l is 0, and leaves may have any least size.
// Proof.  Apply the best tree for A to B.  Leaves and tests of rows in both cost what they cost in A, and e + l a unit more;
// every other row costs its worst, and pays X at most.
//
// Here P = R + h and Q = R + f, two tests of a node in state R, or Q = R.  From Q on only the feature of h and those of its
// group can cost more than from P on: h its price, or its reduced price once the group was tested; another of the group its
// discount, once.  docs/theory/test-costs.md
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/cost.hpp"
#include "data/node.hpp"
#include "data/test_costs.hpp"

namespace certree {

// What a unit of weight pays below a node, at most.
class PathPrices {
 public:
  // For paths of `tests` tests below the splits of a node, in the state `paid`.
  void set(const TestCosts& costs, const Paid& paid, std::int64_t tests) {
    const auto n = static_cast<std::size_t>(costs.n_features());
    costs_ = &costs;
    price_.clear();
    for (std::size_t f = 0; f < n; ++f)
      if (costs.is_used(static_cast<std::int32_t>(f))) price_.push_back(paid.price[f]);
    const auto most =
        static_cast<std::size_t>(std::clamp<std::int64_t>(tests, 0, static_cast<std::int64_t>(price_.size())));
    std::partial_sort(price_.begin(), price_.begin() + static_cast<std::ptrdiff_t>(most), price_.end(),
                      std::greater<>());
    path_ = 0;
    for (std::size_t k = 0; k < most; ++k) path_ += price_[k];
    find_discounts(costs, paid);
    alone_.assign(n, 0);
    reduced_.assign(n, 0);
    for (std::size_t f = 0; f < n; ++f) {
      const auto feature = static_cast<std::int32_t>(f);
      const std::int32_t group = costs.group(feature);
      reduced_[f] = std::min(paid.price[f], costs.discounted(feature));
      alone_[f] = paid.price[f];
      if (group >= 0) alone_[f] = std::max(alone_[f], discount_[static_cast<std::size_t>(group)] + reduced_[f]);
    }
  }

  // X of the theorem.
  Cost path() const { return path_; }
  // e for P = R + column, Q = R.
  Cost more_above(std::int32_t column) const {
    return std::min(alone_[static_cast<std::size_t>(costs_->feature(column))], path_);
  }
  // e + l for P = R + column, Q = R + other.
  Cost more_beside(std::int32_t column, std::int32_t other) const {
    const std::int32_t mine = costs_->feature(column), its = costs_->feature(other);
    if (mine == its) return std::min(lost_, path_);
    const std::int32_t group = costs_->group(mine);
    const bool is_related = group >= 0 && group == costs_->group(its);
    return std::min(lost_ + (is_related ? reduced_ : alone_)[static_cast<std::size_t>(mine)], path_);
  }

 private:
  // The largest discount of every group that has several features, and all of them together.
  void find_discounts(const TestCosts& costs, const Paid& paid) {
    discount_.assign(static_cast<std::size_t>(costs.n_groups()), 0);
    members_.assign(discount_.size(), 0);
    for (std::size_t f = 0; f < static_cast<std::size_t>(costs.n_features()); ++f) {
      const auto feature = static_cast<std::int32_t>(f);
      const std::int32_t group = costs.group(feature);
      if (group < 0 || !costs.is_used(feature)) continue;
      Cost& most = discount_[static_cast<std::size_t>(group)];
      most = std::max(most, paid.price[f] - std::min(paid.price[f], costs.discounted(feature)));
      ++members_[static_cast<std::size_t>(group)];
    }
    lost_ = 0;
    for (std::size_t g = 0; g < discount_.size(); ++g)
      if (members_[g] > 1) lost_ = std::min(lost_ + discount_[g], path_);
  }

  const TestCosts* costs_ = nullptr;
  std::vector<Cost> price_, alone_, reduced_, discount_;
  std::vector<std::int32_t> members_;
  Cost path_ = 0, lost_ = 0;
};

// As apply_split_similarity; `worst` are with X for every unit of weight, `more` is e + l for every split h.
struct PricedSides {
  const Cost* common = nullptr;
  const Cost* yes_worst = nullptr;
  Cost worst = 0;
  const Cost* yes_weight = nullptr;
  Cost weight = 0;
  const Cost* tests = nullptr;  // what all rows pay for each split
};

inline void apply_priced_similarity(const Objective& objective, const PathPrices& prices, const Node& node,
                                    std::int32_t split, const PricedSides& sides, Cost* no_lower, Cost* yes_lower,
                                    Cost* lower) {
  const Cost yes = yes_lower[split], no = no_lower[split], mine = sides.yes_worst[split];
  for (std::int32_t h = 0; h < node.n_columns; ++h) {
    const Cost both = sides.common[h], other = sides.yes_worst[h];
    const Cost more =
        prices.more_beside(node.column[static_cast<std::size_t>(h)], node.column[static_cast<std::size_t>(split)]);
    const Cost yes_more = objective.leaf(more * sides.yes_weight[h]);
    const Cost no_more = objective.leaf(more * (sides.weight - sides.yes_weight[h]));
    const Cost to_yes =
        std::max(yes - objective.leaf(mine - both), no - objective.leaf(sides.worst - mine - other + both));
    const Cost to_no = std::max(yes - objective.leaf(both), no - objective.leaf(other - both));
    yes_lower[h] = std::max(yes_lower[h], to_yes - yes_more);
    no_lower[h] = std::max(no_lower[h], to_no - no_more);
    lower[h] = std::max(lower[h], objective.split(yes_lower[h] + no_lower[h]) + objective.leaf(sides.tests[h]));
  }
}

}  // namespace certree
