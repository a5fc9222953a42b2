#include "data/node.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace certree {

namespace {

// Per word the rows that exist, and the weight per type, from the planes.
void describe_planes(Node& node) {
  Word* valid = node.valid.ensure(static_cast<std::size_t>(node.n_words));
  std::fill(node.totals.begin(), node.totals.end(), Cost{0});
  for (const Plane& plane : node.planes) {
    node.totals[static_cast<std::size_t>(plane.type)] += static_cast<Cost>(plane.rows) << plane.shift;
    std::int32_t left = plane.rows;
    for (std::int32_t w = plane.begin; w < plane.end; ++w, left -= kWordBits)
      valid[w] = low_bits(std::min<std::int32_t>(left, kWordBits));
  }
}

std::size_t area(std::int32_t words, std::int32_t stride) {
  return static_cast<std::size_t>(words) * static_cast<std::size_t>(stride);
}

}  // namespace

void NodeFactory::make_root(Node& root) const {
  const std::size_t words = data_.group_words();
  Word* rows = root.rows.words.ensure(words);
  for (std::size_t w = 0; w < words; ++w) rows[w] = ~Word{0};
  if (data_.n_groups() % kWordBits != 0) rows[words - 1] = low_bits(data_.n_groups() % kWordBits);
  root.rows.key = data_.key_of(rows);
  root.n_columns = data_.n_columns();
  root.stride = data_.stride();
  root.n_words = data_.n_words();
  root.planes = data_.planes();
  root.totals = data_.totals();
  std::memcpy(root.bits.ensure(area(root.n_words, root.stride)), data_.bits(),
              area(root.n_words, root.stride) * sizeof(Word));
  std::int32_t* column = root.column.ensure(static_cast<std::size_t>(root.stride));
  for (std::int32_t c = 0; c < root.n_columns; ++c) column[c] = c;
  describe_planes(root);
}

void NodeFactory::child_rows(const Node& parent, std::int32_t local, bool holds, RowSet& out) const {
  const std::size_t words = data_.group_words();
  const Word* rows = parent.rows_data();
  const Word* column = data_.group_column(parent.column[static_cast<std::size_t>(local)]);
  Word* target = out.words.ensure(words);
  if (holds) {
    for (std::size_t w = 0; w < words; ++w) target[w] = rows[w] & column[w];
  } else {
    for (std::size_t w = 0; w < words; ++w) target[w] = rows[w] & ~column[w];
  }
  out.key = data_.key_of(target);
}

void NodeFactory::make_child(const Node& parent, std::int32_t local, bool holds, bool reduce, Node& out) {
  Word* mask = mask_.ensure(static_cast<std::size_t>(parent.n_words));
  for (std::int32_t w = 0; w < parent.n_words; ++w) {
    const Word column = parent.bits[area(w, parent.stride) + static_cast<std::size_t>(local)];
    mask[w] = holds ? column : ~column & parent.valid[static_cast<std::size_t>(w)];
  }
  const bool reduces = reduce && reduce_columns_;
  out.planes.resize(parent.planes.size());
  out.totals.resize(parent.totals.size());
  out.stride = parent.stride;
  out.n_columns = parent.n_columns;
  // A plane never has more words in the child than in the parent.
  Word* target = (reduces ? full_ : out.bits).ensure(area(parent.n_words, parent.stride));
  out.n_words = kernels_.extract(parent.view(), mask, target, out.planes.data());
  describe_planes(out);
  std::int32_t* column = out.column.ensure(static_cast<std::size_t>(parent.stride));
  if (reduces) {
    keep_distinct_columns(parent, out);
  } else {
    std::memcpy(column, parent.column.data(), static_cast<std::size_t>(parent.n_columns) * sizeof(*column));
  }
}

// Drops columns that are constant among the rows, or equal to (the complement of) an earlier one.  Hashes find the
// candidates, words decide: a clash of hashes must not cost a column.
void NodeFactory::keep_distinct_columns(const Node& parent, Node& out) {
  BitColumns full = parent.view();
  full.bits = full_.data();
  std::uint64_t* hash = hashes_.ensure(static_cast<std::size_t>(parent.stride));
  Word* varies = varies_.ensure(static_cast<std::size_t>(parent.stride));
  kernels_.hash_columns(full, out.valid.data(), out.n_words, hash, varies);
  const auto size = std::bit_ceil(static_cast<std::size_t>(2 * parent.n_columns + 1));
  slots_.assign(size, -1);
  kept_.clear();
  const auto same_split = [&](std::int32_t a, std::int32_t b) {
    const Word flip = Word{0} - ((full.bits[a] ^ full.bits[b]) & 1);
    for (std::int32_t w = 0; w < out.n_words; ++w) {
      const Word* row = full.bits + area(w, parent.stride);
      if ((row[a] ^ row[b] ^ flip) & out.valid[static_cast<std::size_t>(w)]) return false;
    }
    return true;
  };
  const auto class_of = [&](std::int32_t c) { return data_.column_class(parent.column[static_cast<std::size_t>(c)]); };
  for (std::int32_t c = 0; c < parent.n_columns; ++c) {
    if (varies[c] == 0) continue;
    std::size_t slot = static_cast<std::size_t>(hash[c] >> 7) & (size - 1);
    bool is_new = true;
    while (slots_[slot] >= 0 && is_new) {
      const std::int32_t other = slots_[slot];
      is_new = hash[other] != hash[c] || class_of(other) != class_of(c) || !same_split(other, c);
      slot = (slot + 1) & (size - 1);
    }
    if (!is_new) continue;
    slots_[slot] = c;
    kept_.push_back(c);
  }
  out.n_columns = static_cast<std::int32_t>(kept_.size());
  out.stride = stride_for(out.n_columns);
  Word* bits = out.bits.ensure(area(out.n_words, out.stride));
  for (std::int32_t w = 0; w < out.n_words; ++w) {
    const Word* from = full.bits + area(w, parent.stride);
    Word* to = bits + area(w, out.stride);
    for (std::size_t k = 0; k < kept_.size(); ++k) to[k] = from[kept_[k]];
  }
  for (std::size_t k = 0; k < kept_.size(); ++k) out.column[k] = parent.column[static_cast<std::size_t>(kept_[k])];
}

}  // namespace certree
