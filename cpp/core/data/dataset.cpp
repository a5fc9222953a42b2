#include "data/dataset.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/check.hpp"

namespace certree {

std::int32_t stride_for(std::int32_t n_columns) {
  std::int32_t lines = (std::max(n_columns, 1) + 7) / 8;
  if (lines > 4) lines |= 1;
  return lines * 8;
}

namespace {

struct FingerprintHash {
  std::size_t operator()(const Fingerprint& f) const { return static_cast<std::size_t>(f.low ^ f.high); }
};

// Packs one column; the strides are the caller's.
void pack_column(const TableView& table, std::int64_t column, Word* out) {
  const std::uint8_t* value = table.columns + column * table.column_stride;
  const std::size_t words = words_for(static_cast<std::size_t>(table.n_rows));
  for (std::size_t w = 0; w < words; ++w) {
    const std::int64_t first = static_cast<std::int64_t>(w) * kWordBits;
    const std::int64_t last = std::min(first + kWordBits, table.n_rows);
    Word word = 0;
    for (std::int64_t row = first; row < last; ++row)
      word |= static_cast<Word>(value[row * table.row_stride] & 1) << (row - first);
    out[w] = word;
  }
}

// A splittable sequence of well-mixed numbers (splitmix64).
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

Dataset::Dataset(const TableView& table, const CountTask& task, const DatasetSettings& settings, MemoryBudget& budget)
    : settings_(settings),
      n_pair_types_(task.n_types() + (settings.counts_rows ? 1 : 0)),
      n_types_(n_pair_types_),
      has_row_count_(settings.counts_rows),
      group_columns_(budget),
      bits_(budget) {
  require(table.n_rows >= 1, "the table has no rows");
  keep_distinct_columns(table);
  group_rows(table);
  weigh_groups(table, task);
  place_groups(table);
  row_bits_ = {};
  group_of_row_ = {};
  row_of_group_ = {};
  group_weights_ = {};
}

// Constant columns never split; a duplicate or a complement of an earlier column splits as that one does.
void Dataset::keep_distinct_columns(const TableView& table) {
  const auto n_rows = static_cast<std::size_t>(table.n_rows);
  const std::size_t words = words_for(n_rows);
  const Word last = low_bits(static_cast<int>((n_rows - 1) % kWordBits) + 1);
  std::unordered_map<Fingerprint, std::size_t, FingerprintHash> seen;
  std::vector<Word> column(words), normal(words);
  for (std::int64_t c = 0; c < table.n_columns; ++c) {
    pack_column(table, c, column.data());
    const Word flip = Word{0} - (column[0] & 1);
    for (std::size_t w = 0; w < words; ++w) normal[w] = column[w] ^ flip;
    normal[words - 1] &= last;
    if (std::all_of(normal.begin(), normal.end(), [](Word w) { return w == 0; })) continue;
    const bool is_new = seen.emplace(fingerprint(normal.data(), words), original_column_.size()).second;
    if (settings_.reduces_columns && !is_new) continue;
    original_column_.push_back(static_cast<std::int32_t>(c));
    row_bits_.insert(row_bits_.end(), column.begin(), column.end());
  }
  stride_ = stride_for(n_columns());
}

// Rows with equal columns can never be told apart: one group each.  Rows are compared by a 128-bit sum of one random
// number per column that holds.
void Dataset::group_rows(const TableView& table) {
  const auto n_rows = static_cast<std::size_t>(table.n_rows);
  const std::size_t words = words_for(n_rows);
  std::vector<Fingerprint> of_row(n_rows);
  for (std::size_t c = 0; c < original_column_.size(); ++c) {
    const std::uint64_t low = scramble(2 * c + 1), high = scramble(~(2 * c));
    const Word* column = row_bits_.data() + c * words;
    for (std::size_t row = 0; row < n_rows; ++row) {
      const std::uint64_t holds = std::uint64_t{0} - (column[row / kWordBits] >> (row % kWordBits) & 1);
      of_row[row].low += low & holds;
      of_row[row].high += high & holds;
    }
  }
  std::unordered_map<Fingerprint, std::int32_t, FingerprintHash> groups;
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

void Dataset::weigh_groups(const TableView& table, const CountTask& task) {
  const auto n_groups = static_cast<std::size_t>(n_groups_);
  const auto n_types = static_cast<std::size_t>(n_pair_types_);
  std::vector<Cost> weights(n_groups * n_types, 0);
  row_of_group_.resize(n_groups);
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::int32_t type = table.row_types[row];
    require(type >= 0 && type < task.n_types(), "row_types has a value outside 0 .. n_types - 1");
    const Cost weight = table.weights != nullptr ? table.weights[row] : 1;
    require(weight >= 1, "weights must be at least 1; leave rows of weight 0 out");
    const auto group = static_cast<std::size_t>(group_of_row_[static_cast<std::size_t>(row)]);
    row_of_group_[group] = row;
    weights[group * n_types + static_cast<std::size_t>(type)] += weight;
    if (has_row_count_) weights[group * n_types + n_types - 1] += 1;
  }
  std::vector<Cost> unavoidable(n_groups);
  for (std::size_t g = 0; g < n_groups; ++g) unavoidable[g] = task.leaf_cost(&weights[g * n_types]);
  if (std::any_of(unavoidable.begin(), unavoidable.end(), [](Cost c) { return c > 0; })) n_types_ += 1;

  const auto all_types = static_cast<std::size_t>(n_types_);
  group_weights_.assign(n_groups * all_types, 0);
  totals_.assign(all_types, 0);
  for (std::size_t g = 0; g < n_groups; ++g) {
    for (std::size_t t = 0; t < n_types; ++t) group_weights_[g * all_types + t] = weights[g * n_types + t];
    if (all_types > n_types) group_weights_[g * all_types + n_types] = unavoidable[g];
    for (std::size_t t = 0; t < all_types; ++t) totals_[t] += group_weights_[g * all_types + t];
  }
}

// One plane per type and bit of the weights, from the highest bit down, and the groups' bits in each.
void Dataset::place_groups(const TableView& table) {
  const auto n_types = static_cast<std::size_t>(n_types_);
  std::vector<std::vector<std::int32_t>> members;
  for (std::size_t type = 0; type < n_types; ++type) {
    Cost all = 0;
    for (std::size_t g = 0; g < static_cast<std::size_t>(n_groups_); ++g) all |= group_weights_[g * n_types + type];
    for (int shift = 62; shift >= 0; --shift) {
      if ((all >> shift & 1) == 0) continue;
      std::vector<std::int32_t> groups;
      for (std::int32_t g = 0; g < n_groups_; ++g)
        if (group_weights_[static_cast<std::size_t>(g) * n_types + type] >> shift & 1) groups.push_back(g);
      const std::int32_t begin = planes_.empty() ? 0 : planes_.back().end;
      const auto words = static_cast<std::int32_t>(words_for(groups.size()));
      planes_.push_back(Plane{static_cast<std::int32_t>(type), shift, begin, begin + words,
                              static_cast<std::int32_t>(groups.size())});
      members.push_back(std::move(groups));
    }
  }
  const std::size_t words = words_for(static_cast<std::size_t>(table.n_rows));
  const auto stride = static_cast<std::size_t>(stride_);
  bits_.fill_zero(static_cast<std::size_t>(n_words()) * stride);
  group_columns_.fill_zero(original_column_.size() * group_words_);
  for (std::size_t c = 0; c < original_column_.size(); ++c) {
    const Word* column = row_bits_.data() + c * words;
    Word* groups = group_columns_.data() + c * group_words_;
    for (std::size_t g = 0; g < static_cast<std::size_t>(n_groups_); ++g) {
      const auto row = static_cast<std::size_t>(row_of_group_[g]);
      groups[g / kWordBits] |= (column[row / kWordBits] >> (row % kWordBits) & 1) << (g % kWordBits);
    }
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      for (std::size_t k = 0; k < members[p].size(); ++k) {
        const auto g = static_cast<std::size_t>(members[p][k]);
        const Word bit = groups[g / kWordBits] >> (g % kWordBits) & 1;
        const std::size_t word = static_cast<std::size_t>(planes_[p].begin) + k / kWordBits;
        bits_[word * stride + c] |= bit << (k % kWordBits);
      }
    }
  }
}

}  // namespace certree
