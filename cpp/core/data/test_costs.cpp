#include "data/test_costs.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "base/check.hpp"

namespace certree {

void check_test_costs(const TestCostTable& table, std::int64_t n_columns) {
  for (std::int64_t c = 0; c < n_columns; ++c)
    require(table.feature[c] >= 0 && table.feature[c] < table.n_features,
            "feature of column " + std::to_string(c) + " is outside 0 .. n_features - 1");
  for (std::int64_t f = 0; f < table.n_features; ++f) {
    require(table.price[f] >= 0, "price of feature " + std::to_string(f) + " is negative");
    require(table.discounted[f] >= 0, "discounted price of feature " + std::to_string(f) + " is negative");
    require(table.discounted[f] <= table.price[f],
            "discounted price of feature " + std::to_string(f) + " is above its price");
  }
}

TestCosts::TestCosts(const TestCostTable& table, const Dataset& data)
    : columns_(static_cast<std::size_t>(table.n_features)),
      group_(table.group, table.group + table.n_features),
      price_(table.price, table.price + table.n_features),
      discounted_(table.discounted, table.discounted + table.n_features) {
  number_groups();
  for (std::int32_t c = 0; c < data.n_columns(); ++c) {
    const std::int32_t feature = table.feature[data.original_column(c)];
    feature_.push_back(feature);
    columns_[static_cast<std::size_t>(feature)].push_back(c);
    highest_ = std::max(highest_, price_[static_cast<std::size_t>(feature)]);
  }
}

void TestCosts::number_groups() {
  std::vector<std::int32_t> names(group_);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  names.erase(names.begin(), std::lower_bound(names.begin(), names.end(), 0));
  n_groups_ = static_cast<std::int32_t>(names.size());
  for (std::int32_t& group : group_)
    group =
        group < 0 ? -1 : static_cast<std::int32_t>(std::lower_bound(names.begin(), names.end(), group) - names.begin());
}

Cost TestCosts::most(std::int64_t tests) const {
  std::vector<Cost> prices;
  for (std::size_t f = 0; f < price_.size(); ++f)
    if (!columns_[f].empty()) prices.push_back(price_[f]);
  std::sort(prices.begin(), prices.end(), std::greater<>());
  Cost sum = 0;
  for (std::size_t k = 0; k < prices.size() && (tests < 0 || k < static_cast<std::size_t>(tests)); ++k)
    if (__builtin_add_overflow(sum, prices[k], &sum)) return kInfinite;
  return sum;
}

void TestCosts::start(Paid& out) const {
  out.price = price_;
  out.touched.clear();
}

void TestCosts::pay(const Paid& before, std::int32_t column, Paid& after) const {
  after = before;
  const std::int32_t paid = feature(column), its_group = group(paid);
  const auto set = [&](std::int32_t f, Cost price) {
    Cost& now = after.price[static_cast<std::size_t>(f)];
    if (now <= price) return;
    now = price;
    const auto place = std::lower_bound(after.touched.begin(), after.touched.end(), f);
    if (place == after.touched.end() || *place != f) after.touched.insert(place, f);
  };
  set(paid, 0);
  if (its_group < 0) return;
  for (std::size_t f = 0; f < group_.size(); ++f)
    if (group_[f] == its_group) set(static_cast<std::int32_t>(f), discounted_[f]);
}

bool TestCosts::varies(const Dataset& data, const Word* rows, std::int32_t feature) const {
  for (const std::int32_t column : columns_[static_cast<std::size_t>(feature)]) {
    const Word* holds = data.group_column(column);
    Word yes = 0, no = 0;
    for (std::size_t w = 0; w < data.group_words(); ++w) {
      yes |= rows[w] & holds[w];
      no |= rows[w] & ~holds[w];
      if (yes != 0 && no != 0) return true;
    }
  }
  return false;
}

Fingerprint TestCosts::key(const Dataset& data, const Word* rows, Fingerprint rows_key, const Paid& paid) const {
  Fingerprint out = rows_key;
#ifdef CERTREE_CHECKS
  std::vector<Word> described(rows, rows + data.group_words());
#endif
  for (const std::int32_t f : paid.touched) {
    if (!varies(data, rows, f)) continue;
    const auto price = static_cast<std::uint64_t>(paid.price[static_cast<std::size_t>(f)]);
    out = mix(mix(out, static_cast<std::uint64_t>(f) + 1), price + 1);
#ifdef CERTREE_CHECKS
    described.insert(described.end(), {static_cast<Word>(f), price});
#endif
  }
#ifdef CERTREE_CHECKS
  data.audit().see(out, described.data(), described.size());
#endif
  return out;
}

}  // namespace certree
