#include "search/shared/table.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace certree {

Table::Table(MemoryBudget& memory, std::int64_t max_bytes, bool shared)
    : memory_(memory), max_bytes_(max_bytes), stripes_(shared ? std::make_unique<Stripes>() : nullptr) {
  grow();
}

Table::~Table() {
  std::free(entries_);
  memory_.release(bytes());
}

void Table::swap(Table& other) {
  std::swap(entries_, other.entries_);
  n_buckets_ = other.n_buckets_.exchange(n_buckets_);
  used_ = other.used_.exchange(used_);
}

bool Table::find(const Fingerprint& key, Record& out) const {
  const auto guard = lock(key);
  if (n_buckets_ == 0) return false;
  const Entry* entry = bucket(key);
  for (std::size_t k = 0; k < kBucket; ++k) {
    if (entry[k].effort != 0 && entry[k].key == key) {
      out = {{entry[k].lower, entry[k].upper}, entry[k].column};
      return true;
    }
  }
  return false;
}

void Table::store(const Fingerprint& key, const Record& record, std::uint32_t effort) {
  if (journal_ != nullptr && effort >= least_effort_) {
    const std::lock_guard guard(journal_mutex_);
    journal_->push_back({key, record.interval.lower, record.interval.upper, record.column, effort});
  }
  grow_if_crowded();
  const auto guard = lock(key);
  if (n_buckets_ == 0) return;
  Entry* entry = bucket(key);
  for (std::size_t k = 0; k < kBucket; ++k) {
    Entry& seen = entry[k];
    if (seen.effort == 0 || !(seen.key == key)) continue;
    seen.lower = std::max(seen.lower, record.interval.lower);
    if (record.interval.upper < seen.upper) {
      seen.upper = record.interval.upper;
      seen.column = record.column;
    }
    if (seen.lower > seen.upper)
      alarm("a lower bound of " + std::to_string(seen.lower) + " of some rows is above a tree of " +
            std::to_string(seen.upper));
    seen.effort = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{seen.effort} + effort, ~0U));
    return;
  }
  put({key, record.interval.lower, record.interval.upper, record.column, std::max(effort, 1U)});
}

// Four-way buckets are full here and there from about 60 % load on.
void Table::grow_if_crowded() {
  if (!is_crowded()) return;
  if (!stripes_) {
    grow();
    return;
  }
  if (is_full_) return;
  for (Stripe& stripe : *stripes_) stripe.mutex.lock();
  if (is_crowded() && !grow()) is_full_ = true;
  for (Stripe& stripe : *stripes_) stripe.mutex.unlock();
}

void Table::put(const Entry& entry) {
  Entry* slots = bucket(entry.key);
  Entry* victim = slots;
  for (std::size_t k = 0; k < kBucket; ++k) {
    if (slots[k].effort < victim->effort) victim = &slots[k];
  }
  if (victim->effort == 0) {
    ++used_;
  } else {
    ++evictions_;
    // Ageing: what survives a replacement is worth less next time, so that nothing stays for ever.
    for (std::size_t k = 0; k < kBucket; ++k) slots[k].effort -= slots[k].effort / 4;
  }
  *victim = entry;
}

// In place: one more bit of the key decides between a bucket and its twin in the new half, which only receives from it.
// A second table beside the first would cost half as much again at the peak, and leave a hole in the heap.
bool Table::grow() {
  const std::size_t n_old = n_buckets_;
  const std::size_t wanted = std::max<std::size_t>(n_old * 2, 64);
  const auto bytes_of = [](std::size_t buckets) {
    return static_cast<std::int64_t>(buckets * kBucket * sizeof(Entry));
  };
  if ((max_bytes_ > 0 && bytes_of(wanted) > max_bytes_) || !memory_.try_charge(bytes_of(wanted - n_old))) return false;
  auto* grown = static_cast<Entry*>(std::realloc(entries_, wanted * kBucket * sizeof(Entry)));
  if (grown == nullptr) {
    memory_.release(bytes_of(wanted - n_old));
    return false;
  }
  entries_ = grown;
  n_buckets_ = wanted;
  std::fill(entries_ + n_old * kBucket, entries_ + wanted * kBucket, Entry{});
  for (std::size_t k = 0; k < n_old * kBucket; ++k) {
    if (entries_[k].effort == 0 || (entries_[k].key.low & n_old) == 0) continue;
    entries_[k + n_old * kBucket] = entries_[k];
    entries_[k] = {};
  }
  return true;
}

}  // namespace certree
