// The rows of a vector task, those with the same vector next to each other.
//
// Groups of rows are numbered in the order of the rows, and the words of a node's columns hold them in that order.  Where only
// a few vectors occur they are counted one by one (search/vector_sums.hpp): sorted, most words have rows of a single one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "data/vector_data.hpp"

namespace certree {

class SortedRows {
 public:
  // The table itself where it has many vectors or is large.
  SortedRows(const VectorTable& table, std::size_t n_statistics) : table_(table) {
    const auto n = static_cast<std::size_t>(table.table.n_rows);
    const auto n_columns = static_cast<std::size_t>(table.table.n_columns);
    if (n * n_columns > kMostCells || !find_kinds(n, n_statistics)) return;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return kind_[a] < kind_[b]; });
    columns_.resize(n * n_columns);
    for (std::size_t c = 0; c < n_columns; ++c) {
      const std::uint8_t* from = table.table.columns + static_cast<std::int64_t>(c) * table.table.column_stride;
      for (std::size_t k = 0; k < n; ++k)
        columns_[c * n + k] = from[static_cast<std::int64_t>(order[k]) * table.table.row_stride];
    }
    table_.table.columns = columns_.data();
    table_.table.row_stride = 1;
    table_.table.column_stride = static_cast<std::int64_t>(n);
    table_.statistics = sort(table.statistics, n_statistics, order, statistics_);
    table_.row_counts = sort(table.row_counts, 1, order, row_counts_);
    table_.row_worst = sort(table.row_worst, 1, order, row_worst_);
    table_.tests.weights = sort(table.tests.weights, 1, order, weights_);
  }
  SortedRows(const SortedRows&) = delete;
  SortedRows& operator=(const SortedRows&) = delete;

  const VectorTable& table() const { return table_; }

 private:
  static constexpr std::size_t kMostKinds = 32, kMostCells = std::size_t{1} << 22;

  // Numbers the vectors; false: there are too many.
  bool find_kinds(std::size_t n, std::size_t n_statistics) {
    std::vector<const std::int64_t*> known;
    kind_.resize(n);
    for (std::size_t row = 0; row < n; ++row) {
      const std::int64_t* mine = table_.statistics + row * n_statistics;
      std::size_t kind = 0;
      while (kind < known.size() && !std::equal(mine, mine + n_statistics, known[kind])) ++kind;
      if (kind == known.size()) known.push_back(mine);
      if (known.size() > kMostKinds) return false;
      kind_[row] = static_cast<std::uint8_t>(kind);
    }
    return known.size() > 1;
  }

  static const std::int64_t* sort(const std::int64_t* from, std::size_t width, const std::vector<std::size_t>& order,
                                  std::vector<std::int64_t>& out) {
    if (from == nullptr) return nullptr;
    out.reserve(order.size() * width);
    for (const std::size_t row : order) out.insert(out.end(), from + row * width, from + (row + 1) * width);
    return out.data();
  }

  VectorTable table_;
  std::vector<std::uint8_t> kind_;
  std::vector<std::uint8_t> columns_;
  std::vector<std::int64_t> statistics_, row_counts_, row_worst_, weights_;
};

}  // namespace certree
