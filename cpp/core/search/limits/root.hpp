// What the search has found and what it still wants: the best tree, or the front of the objective and the gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/limit_data.hpp"
#include "search/limits/region.hpp"

namespace certree {

struct LimitEntry {
  std::vector<Cost> point;   // quantities and splits, as the caller counts them
  std::vector<Cost> values;  // of the caller's planes
  std::int32_t plan = -1;
  int worker = 0;  // whose plan it is
};

class LimitRoot {
 public:
  explicit LimitRoot(const LimitData& data);

  const LimitRegion& region() const { return region_; }
  const std::vector<LimitEntry>& entries() const { return entries_; }
  // Trees with a larger objective are not wanted either; less what label 0 adds.
  void lower_objective(Cost most);
  // A tree within the region; the region becomes what is better than it.  False: it breaks a limit in its finer digits, or
  // another tree is as good in all of several objectives.
  bool take(const Cost* point, std::int32_t plan, int worker);

 private:
  // Numerator and denominator of the gap, the greatest of value / scale.
  struct Gap {
    Cost value = 0, scale = 1;
  };
  bool keep_nondominated(LimitEntry entry);
  Gap gap_of(const std::vector<Cost>& values) const;
  void split_corners(const std::vector<Cost>& values);
  void keep_maximal_corners();
  void drop_dominated(const LimitEntry& entry);
  void refresh();

  const LimitData& data_;
  std::vector<Cost> corners_;  // [corner][plane], the caller's
  LimitRegion region_;
  std::vector<LimitEntry> entries_;
};

}  // namespace certree
