// The rows of a node, laid out one by one for the kernels of counts/vector_kernels.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.hpp"
#include "counts/vector_kernels.hpp"
#include "data/node.hpp"

namespace certree {

// Transposes 64 x 64 bits in place: bit j of word i becomes bit i of word j.  Blocks of 32, 16, ... 1 change places.
inline void transpose(Word* words) {
  Word low = 0x00000000ffffffffULL;
  for (unsigned width = 32; width != 0; width >>= 1, low ^= low << width) {
    for (unsigned k = 0; k < 64; k = ((k | width) + 1) & ~width) {
      const Word moved = ((words[k] >> width) ^ words[k | width]) & low;
      words[k] ^= moved << width;
      words[k | width] ^= moved;
    }
  }
}

// What is stored of every part of the rows (data/vector_data.hpp), in the order of the kernels' sums.
template <class V>
struct PartValues {
  std::int32_t n_values = 0;
  std::vector<V> values;    // [part][n_values]
  Cost worst_unit = 1;      // of the worst change, which is rounded up to whole units
  std::int32_t n_wide = 0;  // numbers that are summed for columns only, never for pairs
  std::vector<Cost> wide;   // [group][n_wide]
};

// A view of the rows of a node in the bytes that `lay_out` has written.
template <class V>
class NodeRows {
 public:
  // The bytes of the rows of `node` must be at `bytes`.
  NodeRows(const Node& node, const PartValues<V>& groups, const std::byte* bytes)
      : n_(node.planes.front().rows), columns_(node.n_columns) {
    const auto n = static_cast<std::size_t>(n_);
    words_ = words_for(static_cast<std::size_t>(columns_));
    holds_ = reinterpret_cast<const Word*>(bytes);
    n_words_ = static_cast<std::size_t>(node.n_words);
    by_column_ = holds_ + n * words_;
    wide_ = reinterpret_cast<const Cost*>(by_column_ + static_cast<std::size_t>(columns_) * n_words_);
    values_ = reinterpret_cast<const V*>(wide_ + n * static_cast<std::size_t>(groups.n_wide));
    n_values_ = groups.n_values;
    n_wide_ = groups.n_wide;
  }

  std::int32_t size() const { return n_; }
  VectorRows<V> narrow() const { return {holds_, static_cast<std::int32_t>(words_), values_, n_values_, columns_}; }
  VectorRows<Cost> wide() const { return {holds_, static_cast<std::int32_t>(words_), wide_, n_wide_, columns_}; }
  // The rows where a column holds, as words one after the other.
  const Word* column(std::int32_t column) const { return by_column_ + static_cast<std::size_t>(column) * n_words_; }
  const V* values(std::int32_t row) const {
    return values_ + static_cast<std::size_t>(row) * static_cast<std::size_t>(n_values_);
  }
  const Cost* wide(std::int32_t row) const {
    return wide_ + static_cast<std::size_t>(row) * static_cast<std::size_t>(n_wide_);
  }

  static NodeRows lay_out(const Node& node, const PartValues<V>& groups, std::size_t group_words,
                          AlignedArray<std::byte>& bytes);

 private:
  std::int32_t n_ = 0, columns_ = 0, n_values_ = 0, n_wide_ = 0;
  std::size_t words_ = 0, n_words_ = 0;
  const Word* holds_ = nullptr;
  const Word* by_column_ = nullptr;
  const Cost* wide_ = nullptr;
  const V* values_ = nullptr;
};

template <class V>
NodeRows<V> NodeRows<V>::lay_out(const Node& node, const PartValues<V>& groups, std::size_t group_words,
                                 AlignedArray<std::byte>& bytes) {
  const auto n = static_cast<std::size_t>(node.planes.front().rows);
  const auto n_columns = static_cast<std::size_t>(node.n_columns);
  const std::size_t words = words_for(n_columns);
  const auto n_values = static_cast<std::size_t>(groups.n_values), n_wide = static_cast<std::size_t>(groups.n_wide);
  const auto n_words = static_cast<std::size_t>(node.n_words);
  bytes.ensure(n * (words * sizeof(Word) + n_wide * sizeof(Cost) + n_values * sizeof(V)) +
               n_columns * n_words * sizeof(Word));
  auto* holds = reinterpret_cast<Word*>(bytes.data());
  Word* by_column = holds + n * words;
  for (std::size_t w = 0; w < n_words; ++w)
    for (std::size_t c = 0; c < n_columns; ++c)
      by_column[c * n_words + w] = node.bits[w * static_cast<std::size_t>(node.stride) + c];
  auto* wide = reinterpret_cast<Cost*>(by_column + n_columns * n_words);
  auto* values = reinterpret_cast<V*>(wide + n * n_wide);
  Word block[kWordBits];
  for (std::size_t w = 0; w < words_for(n); ++w) {
    const Word* row = node.bits.data() + w * static_cast<std::size_t>(node.stride);
    const std::size_t rows = std::min<std::size_t>(n - w * kWordBits, kWordBits);
    for (std::size_t c = 0; c < words; ++c) {
      const std::size_t columns = std::min<std::size_t>(n_columns - c * kWordBits, kWordBits);
      for (std::size_t k = 0; k < kWordBits; ++k) block[k] = k < columns ? row[c * kWordBits + k] : 0;
      transpose(block);
      for (std::size_t k = 0; k < rows; ++k) holds[(w * kWordBits + k) * words + c] = block[k];
    }
  }
  // The plane of all groups keeps their order.
  std::size_t row = 0;
  for (std::size_t w = 0; w < group_words; ++w) {
    for (Word rest = node.rows_data()[w]; rest != 0; rest &= rest - 1, ++row) {
      const std::size_t group = w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
      for (std::size_t k = 0; k < n_values; ++k) values[row * n_values + k] = groups.values[group * n_values + k];
      for (std::size_t k = 0; k < n_wide; ++k) wide[row * n_wide + k] = groups.wide[group * n_wide + k];
    }
  }
  return NodeRows(node, groups, bytes.data());
}

}  // namespace certree
