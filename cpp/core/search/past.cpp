#include "search/past.hpp"

#include <algorithm>
#include <array>

namespace certree {

Pricing::Pricing(const Dataset& data, const CountTask& task, const Options& options, const Scale& scale)
    : n_labels(task.n_labels()), factor(scale.factor), tie_break(options.smallest ? 1 : 0), min_leaf(options.min_leaf) {
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

std::unique_ptr<Table> Past::take(const Pricing& now) {
  for (std::size_t k = solves_.size(); k-- > 0;) {
    if (!(solves_[k].pricing == now)) continue;
    auto table = std::move(solves_[k].table);
    solves_.erase(solves_.begin() + static_cast<std::ptrdiff_t>(k));
    return table;
  }
  return nullptr;
}

void Past::add(const Pricing& pricing, std::unique_ptr<Table> table) {
  if (table->n_entries() == 0) return;
  if (solves_.size() == kMost) {
    const auto least = std::min_element(solves_.begin(), solves_.end(), [](const Solve& a, const Solve& b) {
      return a.table->n_entries() < b.table->n_entries();
    });
    solves_.erase(least);
  }
  solves_.push_back({pricing, std::move(table)});
}

std::int64_t Past::bytes() const {
  std::int64_t sum = 0;
  for (const Solve& solve : solves_) sum += solve.table->bytes();
  return sum;
}

void Past::shrink(std::int64_t max_bytes) {
  while (!solves_.empty() && bytes() > max_bytes) solves_.erase(solves_.begin());
}

void Past::prepare(const Pricing& now) {
  singles_.clear();
  pairs_.clear();
  factor_ = now.factor;
  for (std::size_t k = 0; k < solves_.size(); ++k) {
    const Pricing& then = solves_[k].pricing;
    if (then.n_labels != now.n_labels || then.prices.size() != now.prices.size() || then.min_leaf > now.min_leaf)
      continue;
    const auto callers = share_of_one(then.prices, now.prices);
    if (!callers) continue;
    singles_.push_back({k, *callers, share_of_one(then.inner(), now.inner()).value_or(Shares{})});
  }
  for (std::size_t i = 0; i < singles_.size(); ++i)
    for (std::size_t j = i + 1; j < singles_.size(); ++j)
      for (const Shares& shares : shares_of_two(solves_[singles_[i].solve].pricing.prices,
                                                solves_[singles_[j].solve].pricing.prices, now.prices))
        pairs_.push_back({i, j, shares});
}

Cost Past::bound(const Fingerprint& key) const {
  std::array<Cost, kMost> callers{};
  Cost best_callers = 0, best = 0;
  for (std::size_t i = 0; i < singles_.size(); ++i) {
    const Single& single = singles_[i];
    const Solve& solve = solves_[single.solve];
    Record record;
    if (!solve.table->find(key, record)) continue;
    // A bound counts the splits of its tree in the tie-break; what is left when these are rounded away holds without.
    callers[i] = record.interval.lower / solve.pricing.factor;
    best_callers = std::max(best_callers, single.callers.of(callers[i], 0));
    best = std::max(best, single.inner.of(record.interval.lower, 0));
  }
  for (const Pair& pair : pairs_)
    best_callers = std::max(best_callers, pair.shares.of(callers[pair.first], callers[pair.second]));
  return std::max(best, best_callers * factor_);
}

}  // namespace certree
