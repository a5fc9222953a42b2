#include "data/dataset.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "base/check.hpp"

namespace certree {

std::int32_t stride_for(std::int32_t n_columns) {
  std::int32_t lines = (std::max(n_columns, 1) + 7) / 8;
  if (lines > 4) lines |= 1;
  return lines * 8;
}

namespace {

// Where the budget has ended, so many answers more are read: about a tenth of a second.
constexpr std::int64_t kGrace = std::int64_t{1} << 27;

// Eight 0/1 bytes to eight bits: each byte's lowest bit is moved to its place in the top byte by one multiplication.
Word pack_eight(const std::uint8_t* bytes) {
  Word eight;
  std::memcpy(&eight, bytes, sizeof(eight));
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  return ((eight & 0x0101010101010101ULL) * 0x0102040810204080ULL) >> 56;
}

// Packs one column; the strides are the caller's.
void pack_column(const TableView& table, std::int64_t column, Word* out) {
  const std::uint8_t* value = table.columns + column * table.column_stride;
  const std::size_t words = words_for(static_cast<std::size_t>(table.n_rows));
  for (std::size_t w = 0; w < words; ++w) {
    const std::int64_t first = static_cast<std::int64_t>(w) * kWordBits;
    const std::int64_t last = std::min(first + kWordBits, table.n_rows);
    Word word = 0;
    std::int64_t row = first;
    if (table.row_stride == 1)
      for (; row + 8 <= last; row += 8) word |= pack_eight(value + row) << (row - first);
    for (; row < last; ++row) word |= static_cast<Word>(value[row * table.row_stride] & 1) << (row - first);
    out[w] = word;
  }
}

// Sums of weights stay below this, so that a few of them can be added.
void add_weight(Cost& sum, Cost weight, const char* name) {
  if (__builtin_add_overflow(sum, weight, &sum) || sum >= kInfinite)
    throw std::invalid_argument(std::string("the sum of ") + name + " overflows 64-bit integers; scale " + name +
                                " down");
}

}  // namespace

Dataset::Dataset(const TableView& table, const CountTask& task, const DatasetSettings& settings, Budget& budget,
                 MemoryBudget& memory)
    : settings_(settings),
      kernels_(bit_kernels_for(settings.isa)),
      n_pair_types_(task.n_types() + (settings.counts_rows ? 1 : 0)),
      n_types_(n_pair_types_),
      has_row_count_(settings.counts_rows),
      row_bits_(memory),
      group_of_row_(memory),
      row_of_group_(memory),
      group_columns_(memory),
      bits_(memory) {
  require(table.n_rows >= 1, "the table has no rows");
  keep_distinct_columns(table, budget, memory);
  group_rows(table, budget, memory);
  weigh_groups(table);
  place_group_columns(table);
  release_rows();
  release(group_of_row_);
  price(task, memory);
}

Dataset::Dataset(const TableView& table, std::int32_t n_types, const DatasetSettings& settings, Budget& budget,
                 MemoryBudget& memory, ChargedVector<std::int32_t>& group_of_row)
    : settings_(settings),
      kernels_(bit_kernels_for(settings.isa)),
      n_pair_types_(std::max(n_types, 1) + (settings.counts_rows ? 1 : 0)),
      n_types_(n_pair_types_),
      has_row_count_(settings.counts_rows),
      row_bits_(memory),
      group_of_row_(memory),
      row_of_group_(memory),
      group_columns_(memory),
      bits_(memory) {
  require(table.n_rows >= 1, "the table has no rows");
  keep_distinct_columns(table, budget, memory);
  group_rows(table, budget, memory);
  if (n_types > 0) {
    weigh_groups(table);
  } else {
    choose_rows(table);
    group_weights_.assign(static_cast<std::size_t>(n_groups_), 1);
  }
  place_group_columns(table);
  place_groups(memory);
  release_rows();
  if (n_types == 0) group_weights_ = {};
  group_of_row = std::move(group_of_row_);
}

void Dataset::release_rows() {
  release(row_bits_);
  release(row_of_group_);
}

// Constant columns never split; a duplicate or a complement of an earlier column splits as that one does.
void Dataset::keep_distinct_columns(const TableView& table, Budget& budget, MemoryBudget& memory) {
  const auto n_rows = static_cast<std::size_t>(table.n_rows);
  const std::size_t words = words_for(n_rows);
  const Word last = low_bits(static_cast<int>((n_rows - 1) % kWordBits) + 1);
  std::unordered_map<Fingerprint, std::size_t, FingerprintHash> seen;
  ChargedVector<Word> column(words, memory), normal(words, memory);
  for (std::int64_t c = 0; c < table.n_columns; ++c) {
    if (c * table.n_rows > kGrace && budget.is_out_of_time()) throw TimeIsUp{};
    pack_column(table, c, column.data());
    const Word flip = Word{0} - (column[0] & 1);
    for (std::size_t w = 0; w < words; ++w) normal[w] = column[w] ^ flip;
    normal[words - 1] &= last;
    if (std::all_of(normal.begin(), normal.end(), [](Word w) { return w == 0; })) continue;
    Fingerprint key = fingerprint(normal.data(), words, settings_.seed);
    if (settings_.column_class != nullptr) key = mix(key, static_cast<std::uint64_t>(settings_.column_class[c]) + 1);
    const bool is_new = seen.emplace(key, original_column_.size()).second;
    if (settings_.reduces_columns && !is_new) continue;
    original_column_.push_back(static_cast<std::int32_t>(c));
    if (settings_.column_class != nullptr) column_class_.push_back(settings_.column_class[c]);
    row_bits_.insert(row_bits_.end(), column.begin(), column.end());
  }
  stride_ = stride_for(n_columns());
}

// Rows with equal columns can never be told apart: one group each.  Rows are compared by a 128-bit sum of one number per
// column that holds; as in fingerprints of sets, its upper half is keyed (base/bits.hpp).
void Dataset::group_rows(const TableView& table, Budget& budget, MemoryBudget& memory) {
  const auto n_rows = static_cast<std::size_t>(table.n_rows);
  const std::size_t words = words_for(n_rows);
  ChargedVector<Fingerprint> of_row(n_rows, memory);
  for (std::size_t c = 0; c < original_column_.size(); ++c) {
    if (c * n_rows > kGrace && budget.is_out_of_time()) throw TimeIsUp{};
    const std::uint64_t low = scramble(2 * c + 1), high = scramble(scramble(settings_.seed) + 2 * c);
    const Word* column = row_bits_.data() + c * words;
    for (std::size_t w = 0; w < words; ++w) {
      for (Word rest = column[w]; rest != 0; rest &= rest - 1) {
        Fingerprint& row = of_row[w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest))];
        row.low += low;
        row.high += high;
      }
    }
  }
  std::unordered_map<Fingerprint, std::int32_t, FingerprintHash> groups;
  // Each has a node with a pointer, and a place.
  const MemoryCharge charge(memory, n_rows * (sizeof(*groups.begin()) + 2 * sizeof(void*)));
  groups.reserve(n_rows);
  group_of_row_.resize(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (!settings_.merges_rows) of_row[row] = {row, 0};
    const auto [entry, is_new] = groups.emplace(of_row[row], static_cast<std::int32_t>(groups.size()));
    group_of_row_[row] = entry->second;
  }
  n_groups_ = static_cast<std::int32_t>(groups.size());
  group_words_ = words_for(static_cast<std::size_t>(n_groups_));
}

void Dataset::weigh_groups(const TableView& table) {
  const auto n_groups = static_cast<std::size_t>(n_groups_);
  const auto n_types = static_cast<std::size_t>(n_pair_types_);
  const std::int32_t last_type = n_pair_types_ - (has_row_count_ ? 2 : 1);
  group_weights_.assign(n_groups * n_types, 0);
  weight_of_type_.assign(n_types, 0);
  choose_rows(table);
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::int32_t type = table.row_types[row];
    require(type >= 0 && type <= last_type, "row_types has a value outside 0 .. n_types - 1");
    const Cost weight = table.weights != nullptr ? table.weights[row] : 1;
    require(weight >= 1, "weights must be at least 1; leave rows of weight 0 out");
    const auto group = static_cast<std::size_t>(group_of_row_[static_cast<std::size_t>(row)]);
    // No group weighs more than all.
    add_weight(weight_of_type_[static_cast<std::size_t>(type)], weight, "weights");
    group_weights_[group * n_types + static_cast<std::size_t>(type)] += weight;
    if (!has_row_count_) continue;
    const Cost count = settings_.row_counts != nullptr ? settings_.row_counts[row] : 1;
    require(count >= 1, "row_counts must be at least 1");
    add_weight(weight_of_type_[n_types - 1], count, "row_counts");
    group_weights_[group * n_types + n_types - 1] += count;
  }
}

// All rows at their worst: no leaf costs more, so that what follows may add and multiply freely.
void Dataset::check_costs(const CountTask& task) const {
  Cost worst = 0, term = 0;
  for (std::size_t t = 0; t < static_cast<std::size_t>(task.n_types()); ++t)
    require(!__builtin_mul_overflow(task.worst()[t], weight_of_type_[t], &term) &&
                !__builtin_add_overflow(worst, term, &worst) && worst < kInfinite,
            "the total cost overflows 64-bit integers; scale weights or costs down");
}

void Dataset::price(const CountTask& task, MemoryBudget& memory) {
  check_costs(task);
  const auto n_types = static_cast<std::size_t>(n_pair_types_);
  std::vector<Cost> unavoidable(static_cast<std::size_t>(n_groups_));
  for (std::size_t g = 0; g < unavoidable.size(); ++g) unavoidable[g] = task.leaf_cost(&group_weights_[g * n_types]);
  if (std::all_of(unavoidable.begin(), unavoidable.end(), [](Cost c) { return c == 0; })) unavoidable.clear();
  if (is_placed_ && unavoidable == unavoidable_) return;
  unavoidable_ = std::move(unavoidable);
  n_types_ = n_pair_types_ + (unavoidable_.empty() ? 0 : 1);
  place_groups(memory);
  is_placed_ = true;
}

void Dataset::choose_rows(const TableView& table) {
  row_of_group_.resize(static_cast<std::size_t>(n_groups_));
  for (std::int64_t row = 0; row < table.n_rows; ++row)
    row_of_group_[static_cast<std::size_t>(group_of_row_[static_cast<std::size_t>(row)])] = row;
}

Cost Dataset::weight_of(std::size_t group, std::size_t type) const {
  const auto n_pair_types = static_cast<std::size_t>(n_pair_types_);
  return type < n_pair_types ? group_weights_[group * n_pair_types + type] : unavoidable_[group];
}

// One plane per type and bit of the weights, from the highest bit down, and the groups' bits in each.
void Dataset::place_groups(MemoryBudget& memory) {
  const auto n_types = static_cast<std::size_t>(n_types_);
  std::vector<ChargedVector<Word>> masks;  // of the groups in each plane
  planes_.clear();
  totals_.assign(n_types, 0);
  for (std::size_t type = 0; type < n_types; ++type) {
    Cost all = 0;
    for (std::size_t g = 0; g < static_cast<std::size_t>(n_groups_); ++g) {
      all |= weight_of(g, type);
      totals_[type] += weight_of(g, type);
    }
    for (int shift = 62; shift >= 0; --shift) {
      if ((all >> shift & 1) == 0) continue;
      ChargedVector<Word> mask(group_words_, 0, memory);
      std::int32_t count = 0;
      for (std::size_t g = 0; g < static_cast<std::size_t>(n_groups_); ++g) {
        const auto bit = static_cast<Word>(weight_of(g, type) >> shift & 1);
        mask[g / kWordBits] |= bit << (g % kWordBits);
        count += static_cast<std::int32_t>(bit);
      }
      const std::int32_t begin = planes_.empty() ? 0 : planes_.back().end;
      const auto words = static_cast<std::int32_t>(words_for(static_cast<std::size_t>(count)));
      planes_.push_back(Plane{static_cast<std::int32_t>(type), shift, begin, begin + words, count});
      masks.push_back(std::move(mask));
    }
  }
  // The groups' bits word by word, as the kernels want them, and from there each plane's share.
  const auto stride = static_cast<std::size_t>(stride_);
  AlignedArray<Word> by_word(memory);
  by_word.fill_zero(group_words_ * stride);
  for (std::size_t c = 0; c < original_column_.size(); ++c)
    for (std::size_t w = 0; w < group_words_; ++w) by_word[w * stride + c] = group_columns_[c * group_words_ + w];
  const Plane whole{0, 0, 0, static_cast<std::int32_t>(group_words_), n_groups_};
  const BitColumns source{by_word.data(), stride_, n_columns(), &whole, 1, 1};
  bits_.fill_zero(static_cast<std::size_t>(n_words()) * stride);
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    Plane placed;
    kernels_.extract(source, masks[p].data(), bits_.data() + static_cast<std::size_t>(planes_[p].begin) * stride,
                     &placed);
  }
}

void Dataset::place_group_columns(const TableView& table) {
  const std::size_t words = words_for(static_cast<std::size_t>(table.n_rows));
  group_columns_.fill_zero(original_column_.size() * group_words_);
  for (std::size_t c = 0; c < original_column_.size(); ++c) {
    const Word* column = row_bits_.data() + c * words;
    Word* groups = group_columns_.data() + c * group_words_;
    if (n_groups_ == table.n_rows) {  // groups are numbered as their first rows
      std::copy(column, column + words, groups);
      continue;
    }
    for (std::size_t g = 0; g < static_cast<std::size_t>(n_groups_); ++g) {
      const auto row = static_cast<std::size_t>(row_of_group_[g]);
      groups[g / kWordBits] |= (column[row / kWordBits] >> (row % kWordBits) & 1) << (g % kWordBits);
    }
  }
}

}  // namespace certree
