// Pair tables of the two sides of a threshold: the smaller side is counted, the larger is the node less the smaller.
//
// This needs the same bins on both sides, so it is for nodes whose features have few ranks: there every rank is a bin, and
// the tables are the whole answer.  The tables of the node stay while its thresholds are tried.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "search/ordered/bins.hpp"
#include "search/ordered/bits.hpp"
#include "search/shared/options.hpp"

namespace certree {

template <class V>
class SiblingTables {
 public:
  SiblingTables(const OrderedData& data, const Options& options, Budget& budget, MemoryBudget& memory)
      : data_(data),
        is_on_(options.use_sibling_subtraction && data.rule().form != PlaneForm::rows),
        n_planes_(data.rule().n_planes + (options.min_leaf > 1 ? 1 : 0)),
        whole_(data, options.min_leaf, budget, memory),
        part_(data, options.min_leaf, budget, memory),
        whole_cells_(memory),
        part_cells_(memory),
        whole_bits_(memory),
        part_bits_(memory) {
    place_tables(options);
  }

  bool fits(const OrderedRows& rows) const {
    return is_on_ && rows.others != nullptr && rows.node->n_rows() >= kLeastRows;
  }

  // The rows in the bins of their node: counted, or as what the other rows leave.  Null: the budget ended on the way.
  RowSetBins<V>* take(const OrderedRows& rows, RowSetBins<V>& own, BitPairs<V>& bits) {
    OrderedNode& node = *rows.node;
    if (!has_whole_ || !(node.key() == whole_key_)) {
      OrderedRows all;
      all.node = &node;
      all.rows = node.rows();
      all.n_rows = node.n_rows();
      whole_.take(all, 0, 0);
      bits.choose(whole_, node.n_rows() / kCountedShare, layout_);
      has_whole_bits_ = false;
      whole_key_ = node.key();
      has_whole_ = whole_.is_complete();
      whole_has_.assign(whole_has_.size(), 0);
      has_part_ = false;
    }
    OrderedRows small = rows;
    const bool is_small = 2 * rows.n_rows <= node.n_rows();
    if (!is_small) {
      small.rows = rows.others;
      small.n_rows = node.n_rows() - rows.n_rows;
      small.key = less_key(node.key(), rows.key);
    }
    if (!has_part_ || !(small.key == part_key_)) {
      part_.take(small, 0, 0);
      has_part_bits_ = false;
      part_key_ = small.key;
      has_part_ = part_.is_complete();
      part_has_.assign(part_has_.size(), 0);
    }
    if (!whole_.is_complete() || !part_.is_complete()) return nullptr;
    if (is_small) return &part_;
    own.take_rest(whole_, part_, rows);
    return &own;
  }

  // The columns of bits of the node.
  const BitLayout& layout() const { return layout_; }
  // False: stopped.
  bool evaluate_bits(const RowSetBins<V>& set, BitPairs<V>& bits) {
    const bool is_part = &set == &part_;
    if (!has_part_bits_) has_part_bits_ = bits.count(part_, layout_, part_bits_);
    if (!has_whole_bits_ && !is_part) has_whole_bits_ = bits.count(whole_, layout_, whole_bits_);
    if (!has_part_bits_ || (!has_whole_bits_ && !is_part)) return false;
    bits.evaluate(layout_, is_part ? part_bits_ : whole_bits_, is_part ? nullptr : &part_bits_);
    return true;
  }

  // Once for all threads that count.
  void make_room() {
    if (!is_on_) return;
    part_cells_.ensure(size_);
    whole_cells_.ensure(size_);
  }

  // Sets the cells of a table of two features.  Threads may count different pairs.
  void count(const PairKernels<V>& kernels, std::int32_t f, std::int32_t g, const RowSetBins<V>& set,
             PairTable<V>& table) {
    const auto at = static_cast<std::size_t>(std::min(f, g)) * static_cast<std::size_t>(data_.n_features()) +
                    static_cast<std::size_t>(std::max(f, g));
    table.cells = counted(kernels, part_, part_cells_, part_has_, f, g, at);
    if (&set == &part_) return;
    table.less = table.cells;
    table.cells = counted(kernels, whole_, whole_cells_, whole_has_, f, g, at);
  }

 private:
  static constexpr std::int32_t kLeastRows = 2000;  // with fewer, bins that suit each side are better
  // Of the rows of a node, a pass counts so many: the smaller side has a quarter, and serves both.
  static constexpr std::int32_t kCountedShare = 8;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 27;

  // One place per pair f <= g, whichever of them comes first in its table.
  void place_tables(const Options& options) {
    const std::int32_t n = data_.n_features();
    std::size_t size = 0;
    std::size_t most = kMostBytes;
    if (options.memory_limit > 0) most = std::min(most, static_cast<std::size_t>(options.memory_limit) / 8);
    is_on_ = is_on_ && data_.n_rows() >= kLeastRows;
    for (std::int32_t f = 0; f < n && is_on_; ++f) {
      for (std::int32_t g = 0; g < n; ++g) {
        offset_.push_back(size);
        if (g < f) continue;
        const std::int32_t a = data_.n_ranks(f), b = data_.n_ranks(g);
        size += static_cast<std::size_t>(n_planes_) *
                static_cast<std::size_t>(std::max(a * padded<V>(b), b * padded<V>(a)));
      }
      is_on_ = data_.n_ranks(f) <= kFewBins && size * sizeof(V) <= most;
    }
    size_ = size;
    if (!is_on_) return;
    whole_has_.assign(offset_.size(), 0);
    part_has_.assign(offset_.size(), 0);
  }

  const V* counted(const PairKernels<V>& kernels, const RowSetBins<V>& set, AlignedArray<V>& cells,
                   std::vector<std::uint8_t>& has, std::int32_t f, std::int32_t g, std::size_t at) {
    V* out = cells.ensure(size_) + offset_[at];
    if (has[at]) return out;
    const SetFeature<V>&first = set.feature(f), &second = set.feature(g);
    const auto plane = static_cast<std::size_t>(first.n_bins) * static_cast<std::size_t>(second.stride);
    std::fill_n(out, plane * static_cast<std::size_t>(n_planes_), V{0});
    set.count_pair(kernels, f, g, second.stride, plane, out);
    has[at] = 1;
    return out;
  }

  const OrderedData& data_;
  bool is_on_;
  std::int32_t n_planes_;
  RowSetBins<V> whole_, part_;
  AlignedArray<V> whole_cells_, part_cells_;
  std::vector<std::uint8_t> whole_has_, part_has_;
  std::vector<std::size_t> offset_;
  std::size_t size_ = 0;
  Fingerprint whole_key_, part_key_;
  bool has_whole_ = false, has_part_ = false;
  BitLayout layout_;
  BitCounts<V> whole_bits_, part_bits_;
  bool has_whole_bits_ = false, has_part_bits_ = false;
};

}  // namespace certree
