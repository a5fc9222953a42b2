// Sums of all values over the rows of a node and of its children: of every column and of every pair of columns.
//
// The kernels are those of vector tasks (counts/vector_kernels.hpp).  Of the two children of a split only the smaller is
// summed; the larger is the parent less the smaller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "data/limit_data.hpp"
#include "data/node.hpp"
#include "search/vectors/prices.hpp"
#include "search/vectors/sums.hpp"

namespace certree {

// The sums of one set of rows; borrowed.
struct LimitView {
  std::size_t n_columns = 0;
  std::size_t stride = 0;
  std::size_t n_pair_values = 0;
  const std::int32_t* column = nullptr;  // the data set's columns
  const Cost* columns = nullptr;         // [value][stride]: where the column holds
  const Cost* totals = nullptr;          // [value]
  const Cost* pairs = nullptr;           // [i][pair value][stride]: where i and j >= i hold; null: not summed
  TestPrices<Cost>* prices = nullptr;    // of the columns; null: tests are free

  const Cost* pair_row(std::size_t i) const { return pairs + i * n_pair_values * stride; }
  // Of the side of a column: where it holds, or does not.
  Cost side(std::size_t value, std::size_t split, bool holds) const {
    const Cost yes = columns[value * stride + split];
    return holds ? yes : totals[value] - yes;
  }
};

struct LimitSums {
  explicit LimitSums(MemoryBudget& memory) : rows(memory), columns(memory), pairs(memory) {}
  LimitView view;
  AlignedArray<std::byte> rows;  // of a node, laid out for the kernels
  AlignedArray<Cost> columns;    // and totals behind
  AlignedArray<Cost> pairs;
};

class LimitAdder {
 public:
  LimitAdder(const LimitData& data, Isa isa, Budget& budget, MemoryBudget& memory);

  // Sums a node.  `pairs`: not only columns.  False: a limit stopped it half-way.
  bool add_node(const Node& node, bool pairs, LimitSums& out);
  // Sums both children of a split of a node whose pairs are summed: children[holds].  False: stopped.
  bool add_children(const Node& parent, const LimitSums& sums, std::int32_t column, LimitSums* children);

 private:
  void start(const Node& node, LimitSums& out);
  void add_columns(LimitSums& out);
  bool add_pairs(const Node& node, LimitSums& out);
  void subtract(const LimitSums& parent, const LimitSums& small, LimitSums& large) const;

  const LimitData& data_;
  Budget& budget_;
  Stopwatch stopwatch_;
  VectorSums<Cost> sums_;
};

}  // namespace certree
