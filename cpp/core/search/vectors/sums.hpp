// Sums of the vectors of a node's rows, or of a child's: over all of them, for every column, and for pairs of columns.
//
// There are two ways.  Rows can be laid out one by one and added up, the rarer side of every column
// (counts/vector_kernels.hpp).  Where the sums of row groups take only a few values, as for budget on two classes, groups
// with the same sum are a plane: counting them by words of bits and multiplying by the sum is several times faster.  Rows of
// few types, which may share a group, have a way of their own (search/vectors/type_sums.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "counts/vector_kernels.hpp"
#include "data/node.hpp"
#include "search/vectors/rows.hpp"

namespace certree {

// The different vectors of row groups.
template <class V>
struct GroupPlanes {
  std::int32_t n = 0;                  // 0: too many
  bool has_small_values = true;        // all within 32 bits
  std::vector<V> values;               // [plane][n_values]
  std::vector<std::uint8_t> of_group;  // the plane of each group
};

template <class V>
GroupPlanes<V> find_planes(const PartValues<V>& groups, std::int32_t most) {
  GroupPlanes<V> out;
  const auto n_values = static_cast<std::size_t>(groups.n_values);
  for (std::size_t g = 0; g < groups.values.size() / n_values; ++g) {
    const V* mine = groups.values.data() + g * n_values;
    std::int32_t plane = 0;
    while (plane < out.n && !std::equal(mine, mine + n_values, out.values.data() + plane * groups.n_values)) ++plane;
    if (plane == out.n) {
      if (++out.n > most) return {};
      out.values.insert(out.values.end(), mine, mine + n_values);
    }
    out.of_group.push_back(static_cast<std::uint8_t>(plane));
  }
  for (const V value : out.values) out.has_small_values &= value == static_cast<V>(static_cast<std::int32_t>(value));
  return out;
}

template <class V>
class VectorSums {
 public:
  // `n_summed`: statistics that are summed for pairs.
  VectorSums(PartValues<V> groups, std::size_t group_words, std::int32_t n_summed, Isa isa, MemoryBudget& memory)
      : kernels_(vector_kernels_for<V>(isa)),
        wide_kernels_(vector_kernels_for<Cost>(isa)),
        groups_(std::move(groups)),
        group_words_(group_words),
        all_rows_(memory),
        list_(memory),
        mask_(memory) {
    const std::size_t n = groups_.values.size() / static_cast<std::size_t>(groups_.n_values);
    std::int32_t* all = all_rows_.ensure(n);
    for (std::size_t g = 0; g < n; ++g) all[g] = static_cast<std::int32_t>(g);
    // A plane costs about what a tenth of a statistic of 64 bits does.
    const std::int32_t most = std::min<std::int32_t>(10 * n_summed * static_cast<std::int32_t>(sizeof(V)) / 8, 32);
    if (kernels_.add_planes != nullptr && groups_.n_wide <= 1) planes_ = find_planes(groups_, most);
  }

  Cost worst_unit() const { return groups_.worst_unit; }
  std::int32_t n_wide() const { return groups_.n_wide; }

  // Lays out the rows of a node in `bytes`, for `use`, and chooses all of them.
  void lay_out(const Node& node, AlignedArray<std::byte>& bytes) {
    if (has_planes()) {
      lay_out_planes(node, bytes);
    } else {
      NodeRows<V>::lay_out(node, groups_, group_words_, bytes);
    }
    use(node, bytes.data());
    if (has_planes()) {
      choose_in_planes([](Word mask, std::int32_t) { return mask; });
    } else {
      among_ = node.valid.data();
      chosen_ = all_rows_.data();
      n_chosen_ = rows().size();
    }
  }

  // The node whose rows were laid out in `bytes`.
  void use(const Node& node, const std::byte* bytes) {
    node_ = &node;
    bytes_ = bytes;
    previous_ = {};
  }

  // From now on sums are over the rows where the column does or does not hold.
  void choose(std::int32_t column, bool holds) {
    previous_ = {};
    if (has_planes()) {
      choose_in_planes([&](Word mask, std::int32_t w) {
        const Word bits = word(w, column);
        return mask & (holds ? bits : ~bits);
      });
      return;
    }
    Word* mask = mask_.ensure(static_cast<std::size_t>(node_->n_words));
    child_rows_.clear();
    const Word* of_column = rows().column(column);
    for (std::int32_t w = 0; w < node_->n_words; ++w) {
      const Word bits = of_column[w];
      mask[w] = holds ? bits : ~bits & node_->valid[static_cast<std::size_t>(w)];
      for (Word rest = mask[w]; rest != 0; rest &= rest - 1)
        child_rows_.push_back(w * kWordBits + std::countr_zero(rest));
    }
    among_ = mask;
    chosen_ = child_rows_.data();
    n_chosen_ = static_cast<std::int32_t>(child_rows_.size());
  }

  // All statistics of the chosen rows, for every column and for all of them together.  Wide ones are not known of planes.
  void add_columns(V* columns, std::size_t stride, V* totals, Cost* wide) {
    const std::int32_t n_values = groups_.n_values;
    previous_ = {};
    std::fill_n(totals, n_values, V{0});
    if (has_planes()) {
      kernels_.add_planes(plane_rows(chosen_words_), 0, n_values, columns, stride);
      kernels_.plane_totals(plane_rows(chosen_words_), n_values, totals);
      return;
    }
    const NodeRows<V> laid = rows();
    kernels_.add_rows(laid.narrow(), {chosen_, n_chosen_, n_chosen_}, 0, n_values, nullptr, columns, stride);
    for (std::int32_t k = 0; k < n_chosen_; ++k) {
      const V* values = laid.values(chosen_[k]);
      for (std::int32_t s = 0; s < n_values; ++s) totals[s] += values[s];
      for (std::int32_t s = 0; s < groups_.n_wide; ++s) wide[s] += laid.wide(chosen_[k])[s];
    }
  }

  // Pair sums of column i with those from i on, over the chosen rows, whose column sums are `columns`.  The row of the column
  // before it must still be where it was written, or it is overwritten now.
  void add_pairs(std::int32_t i, std::int32_t n_statistics, const V* columns, std::size_t stride, V* out) {
    if (has_planes()) return add_pairs_in_planes(i, n_statistics, stride, out);
    std::int32_t* list = list_.ensure(static_cast<std::size_t>(node_->n_words) * kWordBits + 32);
    const bool knows_previous = i > 0 && previous_.column == i - 1 && previous_.n_statistics == n_statistics;
    RowChange change;
    const NodeRows<V> laid = rows();
    const PairBase base = kernels_.list_change(laid.column(i), knows_previous ? laid.column(i - 1) : nullptr, among_,
                                               node_->n_words, n_chosen_, list, change);
    const V* known = base == PairBase::nothing ? nullptr : base == PairBase::columns ? columns : previous_.row;
    kernels_.add_rows(laid.narrow(), change, i, n_statistics, known, out, stride);
    previous_ = {i, n_statistics, out};
  }

  // The wide statistics of all rows that were laid out last, for every column: [statistic][stride].  `totals`: of all of them.
  void add_wide(Cost* columns, std::size_t stride, Cost* totals) const {
    if (groups_.n_wide == 0) return;
    if (!has_planes()) {
      const RowChange all{all_rows_.data(), rows().size(), rows().size()};
      wide_kernels_.add_rows(rows().wide(), all, 0, groups_.n_wide, nullptr, columns, stride);
      return;
    }
    std::fill_n(columns, stride, Cost{0});
    for (const auto& [row, value] : wide_rows_) {
      const Word* bits = node_->bits.data() + static_cast<std::size_t>(row) / kWordBits * bit_stride();
      const auto shift = static_cast<std::size_t>(row) % kWordBits;
      for (std::size_t j = 0; j < static_cast<std::size_t>(node_->n_columns); ++j)
        columns[j] += static_cast<Cost>(bits[j] >> shift & 1) * value;
      totals[0] += value;
    }
  }

 private:
  bool has_planes() const { return planes_.n > 0; }
  NodeRows<V> rows() const { return NodeRows<V>(*node_, groups_, bytes_); }
  std::size_t bit_stride() const { return static_cast<std::size_t>(node_->stride); }
  Word word(std::int32_t w, std::int32_t column) const {
    return node_->bits[static_cast<std::size_t>(w) * bit_stride() + static_cast<std::size_t>(column)];
  }

  // Words of the planes in which there are rows, plane by plane.
  struct Words {
    std::int32_t n_planes = 0;
    std::vector<std::int32_t> plane;
    std::vector<std::int32_t> begin;  // [n_planes + 1]
    std::vector<std::int32_t> word;
    std::vector<Word> mask;
  };

  PlaneRows<V> plane_rows(const Words& words) const {
    return {node_->bits.data(),    node_->stride,      node_->n_columns,        words.n_planes,
            words.plane.data(),    words.begin.data(), words.word.data(),       words.mask.data(),
            planes_.values.data(), groups_.n_values,   planes_.has_small_values};
  }

  // [plane][word]: the rows of the plane.  The plane of all groups keeps their order.
  void lay_out_planes(const Node& node, AlignedArray<std::byte>& bytes) {
    const auto words = static_cast<std::size_t>(node.n_words);
    const std::size_t size = static_cast<std::size_t>(planes_.n) * words * sizeof(Word);
    std::memset(bytes.ensure(size + 1), 0, size);
    auto* masks = reinterpret_cast<Word*>(bytes.data());
    wide_rows_.clear();
    std::size_t row = 0;
    for (std::size_t w = 0; w < group_words_; ++w) {
      for (Word rest = node.rows_data()[w]; rest != 0; rest &= rest - 1, ++row) {
        const std::size_t group = w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
        masks[planes_.of_group[group] * words + row / kWordBits] |= Word{1} << (row % kWordBits);
        if (groups_.n_wide > 0 && groups_.wide[group] > 0)
          wide_rows_.emplace_back(static_cast<std::int32_t>(row), groups_.wide[group]);
      }
    }
  }

  template <class Restrict>
  void choose_in_planes(Restrict restrict_to) {
    const auto* masks = reinterpret_cast<const Word*>(bytes_);
    Words& out = chosen_words_;
    out.plane.clear();
    out.begin.assign(1, 0);
    out.word.clear();
    out.mask.clear();
    for (std::int32_t plane = 0; plane < planes_.n; ++plane) {
      for (std::int32_t w = 0; w < node_->n_words; ++w) {
        const Word all = *masks++;
        const Word mask = all == 0 ? 0 : restrict_to(all, w);
        if (mask == 0) continue;
        out.word.push_back(w);
        out.mask.push_back(mask);
      }
      if (out.word.size() == static_cast<std::size_t>(out.begin.back())) continue;
      out.plane.push_back(plane);
      out.begin.push_back(static_cast<std::int32_t>(out.word.size()));
    }
    out.n_planes = static_cast<std::int32_t>(out.plane.size());
    pair_words_.plane.resize(out.plane.size());
    pair_words_.begin.resize(out.begin.size());
    pair_words_.word.resize(out.word.size());
    pair_words_.mask.resize(out.word.size());
  }

  void add_pairs_in_planes(std::int32_t i, std::int32_t n_statistics, std::size_t stride, V* out) {
    const Words& all = chosen_words_;
    Words& some = pair_words_;
    const Word* column = node_->bits.data() + static_cast<std::size_t>(i);
    std::int32_t n = 0, n_planes = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(all.n_planes); ++p) {
      const std::int32_t begin = n;
      for (auto k = static_cast<std::size_t>(all.begin[p]); k < static_cast<std::size_t>(all.begin[p + 1]); ++k) {
        const Word mask = all.mask[k] & column[static_cast<std::size_t>(all.word[k]) * bit_stride()];
        some.word[static_cast<std::size_t>(n)] = all.word[k];
        some.mask[static_cast<std::size_t>(n)] = mask;
        n += mask != 0 ? 1 : 0;
      }
      some.plane[static_cast<std::size_t>(n_planes)] = all.plane[p];
      some.begin[static_cast<std::size_t>(n_planes)] = begin;
      n_planes += n != begin ? 1 : 0;
    }
    some.begin[static_cast<std::size_t>(n_planes)] = n;
    some.n_planes = n_planes;
    kernels_.add_planes(plane_rows(pair_words_), i, n_statistics, out, stride);
  }

  // The row of pair sums that was written last.
  struct Written {
    std::int32_t column = -1;
    std::int32_t n_statistics = 0;
    const V* row = nullptr;
  };

  const VectorKernels<V>& kernels_;
  const VectorKernels<Cost>& wide_kernels_;
  PartValues<V> groups_;
  std::size_t group_words_;
  GroupPlanes<V> planes_;
  const Node* node_ = nullptr;
  const std::byte* bytes_ = nullptr;
  // Row by row: the chosen rows as a set among those of the node, and as a list.
  AlignedArray<std::int32_t> all_rows_, list_;
  AlignedArray<Word> mask_;
  std::vector<std::int32_t> child_rows_;
  const Word* among_ = nullptr;
  const std::int32_t* chosen_ = nullptr;
  std::int32_t n_chosen_ = 0;
  Written previous_;
  // In planes.
  Words chosen_words_, pair_words_;
  std::vector<std::pair<std::int32_t, Cost>> wide_rows_;
};

}  // namespace certree
