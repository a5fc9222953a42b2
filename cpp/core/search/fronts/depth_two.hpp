// Fronts of trees of depth at most two, from the counts of all pairs of columns.
//
// One pass over the pairs gives, for every column i and each of its sides, the least value of one more split in every
// direction (the scalar kernels, once per direction).  Only for the columns whose bounds leave something wanted are the
// points themselves made: a second column g on a side with p positives and n negatives gives (n_g, p - p_g) and
// (n - n_g, p_g), the leaf (0, p) and (n, 0), and the fronts of the two sides are added.  Of the two children of a split
// only the smaller is counted, the larger is the parent less the smaller.  docs/theory/front.md
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "data/node.hpp"
#include "search/fronts/directions.hpp"
#include "search/fronts/front.hpp"

namespace certree {

// Pair counts of a node, kept for the search at that node.
struct FrontExpansion {
  explicit FrontExpansion(MemoryBudget& memory) : pairs(memory), columns(memory) {}
  AlignedArray<std::byte> pairs;
  AlignedArray<std::byte> columns;
};

// One place for every number of splits, or one for all of them.
struct FrontSlots {
  bool by_splits = false;
  std::int64_t max_splits = -1;  // by_splits: at most this many

  // Slot k holds the trees with at most k splits.
  std::size_t count(std::int32_t depth) const {
    if (!by_splits) return 1;
    const std::int64_t by_depth = depth < 40 ? (std::int64_t{1} << depth) - 1 : max_splits;
    return static_cast<std::size_t>(std::min(max_splits, by_depth)) + 1;
  }
};

// Sets of rows whose trees of depth two are under evaluation.
enum class FrontRows : std::uint8_t { no, yes, node };

class FrontDepthTwo {
 public:
  virtual ~FrontDepthTwo() = default;

  virtual void set_directions(const Directions& directions) = 0;
  // Counts a node, and makes it FrontRows::node.  `pairs`: not only columns.  False: the budget ended half-way.
  virtual bool count(const Node& node, bool pairs, FrontExpansion& out) = 0;
  // Values in all directions for the node just counted.  False: stopped.
  virtual bool weigh(const Node& node, const FrontExpansion& expansion) = 0;
  // Counts and weighs both children of a column of a counted node.  False: stopped.
  virtual bool count_children(const Node& parent, const FrontExpansion& expansion, std::int32_t column) = 0;
  // After weigh: least value of the side where a column holds or not, with no and with at most one more split;
  // kInfinite where a side would be smaller than the minimum leaf size.
  virtual Cost side_value(std::int32_t column, bool holds, std::size_t direction, bool one_more) const = 0;
  // Least value of trees of depth at most two, [slot][direction].
  virtual void lower(FrontRows rows, std::size_t n_slots, Cost* out) const = 0;
  // False: the column leaves a side smaller than the minimum leaf size.
  virtual bool may_split(FrontRows rows, std::int32_t column) const = 0;
  virtual Cost negatives(FrontRows rows) const = 0;
  virtual Cost positives(FrontRows rows) const = 0;
  // Adds the wanted points of trees of depth 1 or 2 with at least one split to `front`, whose origins are then
  // (column, side, side); a side is a leaf, -1 - label, or 2 * column + (label where the column does not hold).
  // False: stopped.
  virtual bool add_front(FrontRows rows, std::int32_t depth, const std::vector<Wanted>& wanted, bool uses_directions,
                         std::vector<Stairs>& front) = 0;
  // Weight of the negatives and positives where each column holds, and their unavoidable errors.
  virtual void columns(const Node& node, const FrontExpansion& expansion, Cost* negatives, Cost* positives,
                       Cost* unavoidable) const = 0;
  // Weight of the negatives and positives where `column` and each column hold.
  virtual void common(const Node& node, const FrontExpansion& expansion, std::int32_t column, Cost* negatives,
                      Cost* positives) = 0;
};

struct FrontDepthTwoSettings {
  std::int64_t min_leaf = 1;
  Isa isa = Isa::baseline;
  FrontSlots slots;
};

// Largest weight of a direction that the integers chosen for these data can hold.
Cost most_direction_weight(const Dataset& data);

// Chooses the narrowest integers that hold every count and value of the data.
std::unique_ptr<FrontDepthTwo> make_front_depth_two(const Dataset& data, const FrontDepthTwoSettings& settings,
                                                    NodeFactory& factory, Budget& budget, MemoryBudget& memory);

// Adds to all slots from `slot` on.
inline bool offer_from(std::vector<Stairs>& front, std::size_t slot, Cost fp, Cost fn, const Origin& origin) {
  bool is_new = false;
  for (; slot < front.size(); ++slot) is_new |= front[slot].offer(fp, fn, origin);
  return is_new;
}

}  // namespace certree
