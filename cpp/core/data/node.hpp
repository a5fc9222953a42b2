// Node data: the rows that reach a node, compacted, and the columns that still tell them apart.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "data/dataset.hpp"

namespace certree {

struct Paid;

// A set of row groups with its fingerprint: what a subproblem is, before anything is computed for it.
struct RowSet {
  explicit RowSet(MemoryBudget& memory) : words(memory) {}
  AlignedArray<Word> words;
  Fingerprint key;
};

struct Node {
  explicit Node(MemoryBudget& memory) : rows(memory), bits(memory), valid(memory), column(memory) {}

  BitColumns view() const {
    return {bits.data(),
            stride,
            n_columns,
            planes.data(),
            static_cast<std::int32_t>(planes.size()),
            static_cast<std::int32_t>(totals.size())};
  }
  const Word* rows_data() const { return rows.words.data(); }

  RowSet rows;
  std::int32_t n_columns = 0;
  std::int32_t stride = 0;
  std::int32_t n_words = 0;
  AlignedArray<Word> bits;   // word-major
  AlignedArray<Word> valid;  // per word: the rows that exist
  std::vector<Plane> planes;
  AlignedArray<std::int32_t> column;  // the data set's column of each column here, ascending
  std::vector<Cost> totals;           // weight per type
  const Paid* paid = nullptr;         // where tests have prices: what is left to pay (data/test_costs.hpp)
};

// Makes nodes.  One per worker: it owns scratch memory.
class NodeFactory {
 public:
  NodeFactory(const Dataset& data, const BitKernels& kernels, MemoryBudget& memory, bool reduce_columns)
      : data_(data),
        kernels_(kernels),
        reduce_columns_(reduce_columns),
        mask_(memory),
        full_(memory),
        hashes_(memory),
        varies_(memory) {}

  void make_root(Node& root) const;
  // The rows of `parent` where its column `local` holds (or not): set and fingerprint only.
  void child_rows(const Node& parent, std::int32_t local, bool holds, RowSet& out) const;
  // Compacts the child's columns.  `reduce`: drop those constant, equal or complementary among its rows.
  void make_child(const Node& parent, std::int32_t local, bool holds, bool reduce, Node& out);

 private:
  void keep_distinct_columns(const Node& parent, Node& out);

  const Dataset& data_;
  const BitKernels& kernels_;
  bool reduce_columns_;
  AlignedArray<Word> mask_;
  AlignedArray<Word> full_;  // the child before its columns are reduced
  AlignedArray<std::uint64_t> hashes_;
  AlignedArray<Word> varies_;
  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> kept_;
};

}  // namespace certree
