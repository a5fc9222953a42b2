// What the search over ordered features is asked about one node.
#pragma once

#include "base/cost.hpp"
#include "search/ordered/depth_two.hpp"
#include "search/ordered/shape.hpp"

namespace certree {

struct OrderedQuestion;

// Who asks about all rows, and hears of what is found while the search goes on.
class OrderedListener {
 public:
  virtual ~OrderedListener() = default;
  // There is a tree of this value with this root test.  Returns its value, or that of an even better tree.
  virtual Cost found(const OrderedQuestion& question, OrderedSplit split, Cost value) = 0;
  // No tree of the problem costs less.
  virtual void raise(Cost lower) = 0;
};

// Passed by value: what holds for one question says nothing of the questions about its sides.
struct OrderedQuestion {
  Shape shape;                   // the trees that are candidates
  Cost ceiling = kInfinite;      // trees at or above it do not matter
  Cost slack = 0;                // sides are solved this much beyond what could still win
  Cost known_upper = kInfinite;  // a tree of this value is known
  // All rows: whom to tell of better trees; null: some of the rows.
  OrderedListener* listener = nullptr;
  // All rows, and the answer is the one of the whole problem: its bound is told as it rises, and the gap is enough.
  bool is_whole = false;
  // No tree of the problem that is not of the shape costs less.
  Cost left_out = kInfinite;

  // The same slack for a side of a threshold.
  OrderedQuestion of_side(Shape side, Cost side_ceiling) const { return {side, side_ceiling, slack}; }
};

}  // namespace certree
