#include "search/shared/curve_table.hpp"

#include <algorithm>
#include <utility>

#include "search/shared/table.hpp"

namespace certree {

void Curve::reset(std::size_t size) {
  lower.assign(size, 0);
  upper.assign(size, kInfinite);
  column.assign(size, kNoTree);
  yes_splits.assign(size, 0);
}

void Curve::offer(std::size_t k, Cost cost, std::int32_t root, std::int32_t yes) {
  if (cost >= upper[k]) return;
  upper[k] = cost;
  column[k] = root;
  yes_splits[k] = yes;
}

void Curve::make_monotone() {
  for (std::size_t k = 1; k < size(); ++k) offer(k, upper[k - 1], column[k - 1], yes_splits[k - 1]);
  for (std::size_t k = size() - 1; k-- > 0;) lower[k] = std::max(lower[k], lower[k + 1]);
}

bool CurveTable::find(const Fingerprint& key, Curve& curve) const {
  const Curve* known = look(key);
  if (known == nullptr) return false;
  // An earlier solve may have asked for fewer splits, or for more.
  for (std::size_t k = 0; k < std::min(curve.size(), known->size()); ++k) {
    curve.lower[k] = std::max(curve.lower[k], known->lower[k]);
    curve.offer(k, known->upper[k], known->column[k], known->yes_splits[k]);
  }
  return true;
}

const Curve* CurveTable::look(const Fingerprint& key) const {
  const auto entry = known_.find(key);
  return entry == known_.end() ? nullptr : &entry->second;
}

std::int64_t CurveTable::store(const Fingerprint& key, Curve curve) {
  const auto bytes = static_cast<std::int64_t>(curve.size() * 24 + 160);
  std::int64_t forgotten = 0;
  if (max_bytes_ > 0 && bytes_ + bytes > max_bytes_) {
    // Forgetting costs time, and never makes an answer wrong.
    forgotten = static_cast<std::int64_t>(known_.size());
    clear();
  }
  const auto [entry, is_new] = known_.insert_or_assign(key, std::move(curve));
  if (is_new && memory_.try_charge(bytes)) bytes_ += bytes;
  return forgotten;
}

void CurveTable::clear() {
  known_.clear();
  memory_.release(bytes_);
  bytes_ = 0;
}

}  // namespace certree
