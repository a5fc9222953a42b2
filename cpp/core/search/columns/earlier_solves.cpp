#include "search/columns/earlier_solves.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace certree {

Pricing::Pricing(const Dataset& data, const CountTask& task, const Options& options, const Scale& scale)
    : n_labels(task.n_labels()),
      factor(scale.factor),
      tie_break(options.smallest ? 1 : 0),
      min_leaf(options.min_leaf),
      error_scale(options.error_scale) {
  for (std::int32_t t = 0; t < task.n_types(); ++t)
    for (std::int32_t l = 0; l < task.n_labels(); ++l)
      prices.push_back(data.totals()[static_cast<std::size_t>(t)] > 0 ? options.error_scale * task.cost(t, l) : 0);
  prices.push_back(options.split_penalty);
}

Prices Pricing::inner() const {
  Prices out = prices;
  for (Cost& price : out) price *= factor;
  out.back() += tie_break;
  return out;
}

Pricing Pricing::of_leaves() const {
  Pricing out = *this;
  for (Cost& price : out.prices) price /= error_scale;
  out.prices.back() = 0;
  out.factor = out.error_scale = 1;
  out.tie_break = 0;
  return out;
}

bool Pricing::bounds(const Pricing& now) const {
  return n_labels == now.n_labels && prices.size() == now.prices.size() && min_leaf <= now.min_leaf;
}

SharePlan::SharePlan(const std::vector<Prices>& then, const Prices& now) : is_used_(then.size(), false) {
  for (std::size_t k = 0; k < then.size(); ++k) {
    const auto shares = then[k].empty() ? std::nullopt : share_of_one(then[k], now);
    if (!shares) continue;
    is_used_[k] = true;
    singles_.push_back({k, *shares});
  }
  for (std::size_t i = 0; i < singles_.size(); ++i) {
    for (std::size_t j = i + 1; j < singles_.size(); ++j) {
      const std::size_t first = singles_[i].solve, second = singles_[j].solve;
      for (const Shares& shares : shares_of_two(then[first], then[second], now))
        pairs_.push_back({first, second, shares});
    }
  }
}

Cost SharePlan::of(const Cost* bounds) const {
  Cost best = 0;
  for (const Single& single : singles_) best = std::max(best, single.shares.of(bounds[single.solve], 0));
  for (const Pair& pair : pairs_) best = std::max(best, pair.shares.of(bounds[pair.first], bounds[pair.second]));
  return best;
}

void EarlierSolves::prepare(const Pricing& now) {
  std::vector<Prices> then;
  inner_.clear();
  for (const Solve& solve : solves_) {
    const bool is_valid = solve.pricing.bounds(now);
    then.push_back(is_valid ? solve.pricing.prices : Prices{});
    inner_.push_back((is_valid ? share_of_one(solve.pricing.inner(), now.inner()) : std::nullopt).value_or(Shares{}));
  }
  plan_ = SharePlan(then, now.prices);
  factor_ = now.factor;
}

Cost EarlierSolves::bound(const Fingerprint& key) const {
  std::array<Cost, kMost> callers{};
  Cost best = 0;
  for (std::size_t k = 0; k < solves_.size(); ++k) {
    Record record;
    if (!plan_.uses(k) || !solves_[k].table->find(key, record)) continue;
    // A bound counts the splits of its tree in the tie-break; rounding these away gives a bound without them.
    callers[k] = record.interval.lower / solves_[k].pricing.factor;
    best = std::max(best, inner_[k].of(record.interval.lower, 0));
  }
  return std::max(best, plan_.of(callers.data()) * factor_);
}

void EarlierCurves::prepare(const Pricing& now) {
  std::vector<Prices> then;
  for (const Solve& solve : solves_) then.push_back(solve.pricing.bounds(now) ? solve.pricing.prices : Prices{});
  plan_ = SharePlan(then, now.prices);
}

bool EarlierCurves::raise(const Fingerprint& key, Curve& curve) const {
  std::array<const Curve*, kMost> known{};
  bool is_known = false;
  for (std::size_t k = 0; k < solves_.size(); ++k) {
    if (!plan_.uses(k)) continue;
    known[k] = solves_[k].table->look(key);
    is_known = is_known || known[k] != nullptr;
  }
  if (!is_known) return false;
  for (std::size_t splits = 0; splits < curve.size(); ++splits) {
    std::array<Cost, kMost> lower{};
    // A shorter curve was asked for fewer splits, and has no bounds for more.
    for (std::size_t k = 0; k < solves_.size(); ++k)
      if (known[k] != nullptr && splits < known[k]->size()) lower[k] = known[k]->lower[splits];
    curve.lower[splits] = std::max(curve.lower[splits], plan_.of(lower.data()));
  }
  return true;
}

}  // namespace certree
