#include "search/limits/collector.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bits.hpp"

namespace certree {

namespace {

// With three or more dimensions a point is compared with so many others: dropping fewer costs time only.
constexpr std::size_t kComparisons = 256;
constexpr std::size_t kFirstSlots = 256;
constexpr std::size_t kFirstSweep = 256;

}  // namespace

void LimitCollector::choose_dimensions(const std::vector<std::uint8_t>& active) {
  equal_.clear();
  less_.clear();
  for (std::size_t m = data_.first_plane() + 1; m < data_.n_bounded(); ++m) {
    if (active[m] == 0) continue;
    const std::int32_t other = data_.opposite(m);
    if (other < 0 || active[static_cast<std::size_t>(other)] == 0) {
      less_.push_back(m);
    } else if (m < static_cast<std::size_t>(other)) {
      // Points that are equal in each digit are equal; those equal after carrying are both kept.
      for (std::size_t digit = m; digit != 0; digit = data_.finer_than(digit)) equal_.push_back(digit);
    }
  }
}

void LimitCollector::start(const std::vector<std::uint8_t>& active, LimitPoints& out) {
  choose_dimensions(active);
  out_ = &out;
  swept_ = kFirstSweep;
  if (!is_hashed()) return;
  const LimitPoints before = out;
  out.clear();
  if (slots_.empty()) set_slots(kFirstSlots);
  if (++epoch_ == 0) {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    epoch_ = 1;
  }
  for (std::size_t k = 0; k < before.size(); ++k)
    if (is_useful(before.values(k))) add(before.point(k), before.values(k), before.plan(k));
}

// One value stands for itself, several for their hash.
std::uint64_t LimitCollector::key_of(const Cost* values) const {
  if (equal_.size() == 1) return static_cast<std::uint64_t>(values[equal_[0]]);
  std::uint64_t key = 0x9e3779b97f4a7c15ULL;
  for (const std::size_t m : equal_)
    key = fold_product(key ^ static_cast<std::uint64_t>(values[m]), 0xa0761d6478bd642fULL);
  return key;
}

// The slot of the point with the same values in equal_, or the free one where it belongs.
std::size_t LimitCollector::slot_of(std::uint64_t key, const Cost* values) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_);
  while (slots_[at].epoch == epoch_) {
    if (slots_[at].key == key) {
      if (equal_.size() <= 1) break;
      const Cost* other = out_->values(slots_[at].index);
      if (std::all_of(equal_.begin(), equal_.end(), [&](auto m) { return other[m] == values[m]; })) break;
    }
    at = (at + 1) & mask;
  }
  return at;
}

bool LimitCollector::is_useful(const Cost* values) {
  if (!is_hashed()) return true;
  last_key_ = key_of(values);
  last_slot_ = slot_of(last_key_, values);
  const Slot& slot = slots_[last_slot_];
  return slot.epoch != epoch_ || values[data_.first_plane()] < slot.objective;
}

void LimitCollector::add(const Cost* point, const Cost* values, std::int32_t plan) {
  if (!is_hashed()) {
    out_->add(point, values, plan);
    if (uses_dominance_ && out_->size() > 2 * swept_) sweep();
    return;
  }
  Slot& slot = slots_[last_slot_];
  if (slot.epoch == epoch_) {
    slot.objective = values[data_.first_plane()];
    out_->replace(slot.index, point, values, plan);
    return;
  }
  slot = {epoch_, static_cast<std::uint32_t>(out_->size()), last_key_, values[data_.first_plane()]};
  out_->add(point, values, plan);
  if (2 * out_->size() > slots_.size()) set_slots(2 * slots_.size());
}

// Makes room and puts all points of the list back in.
void LimitCollector::set_slots(std::size_t count) {
  slots_.assign(count, {});
  shift_ = 64 - std::countr_zero(count);
  for (std::size_t k = 0; k < out_->size(); ++k) {
    const Cost* values = out_->values(k);
    const std::uint64_t key = key_of(values);
    slots_[slot_of(key, values)] = {epoch_, static_cast<std::uint32_t>(k), key, values[data_.first_plane()]};
  }
}

bool LimitCollector::is_less(std::uint32_t a, std::uint32_t b) const {
  const Cost *x = out_->values(a), *y = out_->values(b);
  for (const std::size_t m : equal_)
    if (x[m] != y[m]) return x[m] < y[m];
  const std::size_t objective = data_.first_plane();
  if (less_.size() == 1)
    if (const int sign = data_.compare(x, y, less_[0]); sign != 0) return sign < 0;
  if (x[objective] != y[objective]) return x[objective] < y[objective];
  for (const std::size_t m : less_)
    if (const int sign = data_.compare(x, y, m); sign != 0) return sign < 0;
  const std::size_t splits = data_.task().n_quantities;
  return out_->point(a)[splits] < out_->point(b)[splits];
}

void LimitCollector::sweep() {
  order_.resize(out_->size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [&](auto a, auto b) { return is_less(a, b); });
  const std::size_t objective = data_.first_plane();
  kept_.clear();
  std::size_t group = 0;  // where in `kept_` the points with the same values of equal_ start
  for (const std::uint32_t k : order_) {
    const Cost* x = out_->values(k);
    if (!kept_.empty()) {
      const Cost* last = out_->values(kept_.back());
      if (std::any_of(equal_.begin(), equal_.end(), [&](auto m) { return x[m] != last[m]; })) group = kept_.size();
    }
    // Sorted by the one limit, the last one kept has the least objective so far.
    const std::size_t window = less_.size() <= 1 ? 1 : kComparisons;
    const std::size_t first = std::max(group, kept_.size() - std::min(window, kept_.size()));
    const bool is_dominated =
        std::any_of(kept_.begin() + static_cast<std::ptrdiff_t>(first), kept_.end(), [&](auto other) {
          const Cost* y = out_->values(other);
          return y[objective] <= x[objective] &&
                 std::all_of(less_.begin(), less_.end(), [&](auto m) { return data_.compare(y, x, m) <= 0; });
        });
    if (!is_dominated) kept_.push_back(k);
  }
  if (kept_.size() < out_->size()) out_->keep(kept_);
  swept_ = std::max(out_->size(), kFirstSweep);
}

void LimitCollector::finish() {
  if (uses_dominance_ && !is_hashed() && out_->size() > 1) sweep();
}

}  // namespace certree
