// Collects points of one row set and drops a point if another is at least as good in the objective and in every active
// limit (docs/theory/limits.md, theorem 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/limit_data.hpp"
#include "search/limits/points.hpp"

namespace certree {

// A limit from both sides asks for equal values.  Of points with equal values one is kept, found by hashing.  If limits
// from one side are active, too, the list is sorted and swept when it has doubled.
class LimitCollector {
 public:
  LimitCollector(const LimitData& data, bool uses_dominance) : data_(data), uses_dominance_(uses_dominance) {}

  // Into a list, which may hold points already.  `active`: one flag per plane.
  void start(const std::vector<std::uint8_t>& active, LimitPoints& out);
  // No point of the list is known to dominate a point with these values of the planes.
  bool is_useful(const Cost* values);
  // Right after is_useful said so of the same values.
  void add(const Cost* point, const Cost* values, std::int32_t plan);
  // Sweeps once more.
  void finish();
  // Of what it holds beside the list.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(slots_.capacity() * sizeof(Slot) +
                                     (order_.capacity() + kept_.capacity()) * sizeof(std::uint32_t));
  }

 private:
  struct Slot {
    std::uint32_t epoch = 0;
    std::uint32_t index = 0;
    std::uint64_t key = 0;
    Cost objective = 0;
  };
  bool is_hashed() const { return uses_dominance_ && less_.empty(); }
  void choose_dimensions(const std::vector<std::uint8_t>& active);
  std::uint64_t key_of(const Cost* values) const;
  std::size_t slot_of(std::uint64_t key, const Cost* values) const;
  void set_slots(std::size_t count);
  bool is_less(std::uint32_t a, std::uint32_t b) const;
  void sweep();

  const LimitData& data_;
  bool uses_dominance_;
  LimitPoints* out_ = nullptr;
  std::vector<std::size_t> equal_;  // planes limited on both sides: one of each pair
  std::vector<std::size_t> less_;   // planes limited from above
  std::vector<Slot> slots_;
  std::uint32_t epoch_ = 0;
  int shift_ = 64;  // from a hash to a slot
  std::uint64_t last_key_ = 0;
  std::size_t last_slot_ = 0;
  std::size_t swept_ = 0;  // size of the list after the last sweep
  std::vector<std::uint32_t> order_, kept_;
};

}  // namespace certree
