// Which trees are candidates for some rows: a depth, and a number of splits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace certree {

struct Shape {
  std::int32_t depth = 0;
  std::int64_t splits = 0;

  static std::int64_t most_splits(std::int32_t depth) {
    return depth < 62 ? (std::int64_t{1} << depth) - 1 : std::numeric_limits<std::int64_t>::max();
  }
  // Without a limit on splits.
  static Shape full(std::int32_t depth) { return {depth, most_splits(depth)}; }
  // The same trees with the least numbers: a chain has as many levels as splits.
  static Shape of(std::int32_t depth, std::int64_t splits) {
    depth = static_cast<std::int32_t>(std::min<std::int64_t>(depth, splits));
    return {depth, std::min(splits, most_splits(depth))};
  }
  bool is_full() const { return splits == most_splits(depth); }
  // What tells the entries of different shapes apart in the table; bit 32 is free.
  std::uint64_t key() const {
    const auto limited = is_full() ? 0 : static_cast<std::uint64_t>(splits);
    return static_cast<std::uint64_t>(depth) + (limited << 33);
  }
};

// How the splits below a root may be shared out between its sides.
struct Division {
  Shape side[2];  // where the test holds, and where it does not
};

// All that no other one contains; by rising splits where the test holds.
inline void list_divisions(const Shape& shape, std::vector<Division>& out) {
  out.clear();
  if (shape.splits == 0) return;
  const std::int64_t most = Shape::most_splits(shape.depth - 1), rest = shape.splits - 1;
  if (shape.is_full()) {
    out.push_back({{Shape::full(shape.depth - 1), Shape::full(shape.depth - 1)}});
    return;
  }
  for (std::int64_t a = std::max<std::int64_t>(0, rest - most); a <= std::min(rest, most); ++a)
    out.push_back({{Shape::of(shape.depth - 1, a), Shape::of(shape.depth - 1, rest - a)}});
}

}  // namespace certree
