// Sums of the vectors of a node's rows, or of a child's, where rows are few types (data/vector_data.hpp): rows of a type are
// counted by words of bits, as classes are for accuracy, and the counts of all types are multiplied by their vectors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "counts/vector_kernels.hpp"
#include "data/node.hpp"
#include "data/vector_data.hpp"
#include "search/vectors/rows.hpp"

namespace certree {

// The vectors of all types as products of 16 bits: statistic s of a type is the sum over the terms of s of factor *
// coefficient.  A statistic has several terms only if its numbers have many bits once they are divided by what they have in
// common.
template <class V>
struct TypeCoefficients {
  std::vector<std::int32_t> statistic;  // of each term, ascending
  std::vector<V> factor;
  std::vector<std::int16_t> coefficient;  // [term][type]

  // Nothing: the numbers are too large, or there are too many types.
  static TypeCoefficients make(const PartValues<V>& values, const std::vector<Cost>& totals) {
    const Cost largest = *std::max_element(totals.begin(), totals.end());
    const Cost weight = std::accumulate(totals.begin(), totals.end(), Cost{0});
    // Sums of digits fit 32 bits.
    int bits = 15;
    while (bits > 0 && weight > std::numeric_limits<std::int32_t>::max() >> bits) --bits;
    if (totals.size() > static_cast<std::size_t>(kMostTypes) || largest > std::numeric_limits<std::int16_t>::max() ||
        bits < kFewestBits)
      return {};
    TypeCoefficients out;
    for (std::int32_t s = 0; s < values.n_values; ++s)
      if (!out.add_statistic(values, s, bits)) return {};
    return out;
  }

  bool is_empty() const { return statistic.empty(); }

 private:
  static constexpr int kFewestBits = 7;

  bool add_statistic(const PartValues<V>& values, std::int32_t s, int bits) {
    const auto n_types = values.values.size() / static_cast<std::size_t>(values.n_values);
    std::vector<Cost> rest(n_types);
    Cost common = 0;
    for (std::size_t t = 0; t < n_types; ++t) {
      rest[t] = values.values[t * static_cast<std::size_t>(values.n_values) + static_cast<std::size_t>(s)];
      common = std::gcd(common, rest[t]);
    }
    for (Cost& number : rest) number /= std::max<Cost>(common, 1);
    const Cost base = Cost{1} << bits;
    Cost power = std::max<Cost>(common, 1);
    do {
      if (power > std::numeric_limits<std::int32_t>::max()) return false;
      statistic.push_back(s);
      factor.push_back(static_cast<V>(power));
      for (Cost& number : rest) {
        coefficient.push_back(static_cast<std::int16_t>(number % base));
        number /= base;
      }
      power *= base;
    } while (std::any_of(rest.begin(), rest.end(), [](Cost number) { return number != 0; }));
    return true;
  }
};

template <class V>
class TypeSums {
 public:
  TypeSums(const VectorData& data, PartValues<V> values, NodeFactory& factory, Isa isa, MemoryBudget& memory)
      : data_(data.groups()),
        factory_(factory),
        kernels_(vector_kernels_for<V>(isa)),
        narrow_counts_(kernels_for<std::int16_t>(isa)),
        wide_counts_(kernels_for<V>(isa)),
        values_(std::move(values)),
        coefficients_(TypeCoefficients<V>::make(values_, data_.totals())),
        child_(memory),
        narrow_(memory),
        wide_(memory) {
    has_unavoidable_.assign(data_.group_words(), 0);
    for (std::size_t g = 0; g < values_.wide.size(); ++g)
      has_unavoidable_[g / kWordBits] |= static_cast<Word>(values_.wide[g] != 0) << (g % kWordBits);
  }

  Cost worst_unit() const { return values_.worst_unit; }
  std::int32_t n_wide() const { return values_.n_wide; }

  // Chooses all rows of a node.
  void lay_out(const Node& node, AlignedArray<std::byte>&) {
    node_ = &node;
    count(node);
  }

  void use(const Node& node, const std::byte*) { node_ = &node; }

  // From now on sums are over the rows where the column does or does not hold.
  void choose(std::int32_t column, bool holds) {
    factory_.make_child(*node_, column, holds, false, child_);
    count(child_);
  }

  // All statistics of the chosen rows, for every column and for all of them together.
  void add_columns(V* columns, std::size_t stride, V* totals, Cost*) {
    const auto n_types = static_cast<std::size_t>(data_.n_types());
    const auto type_stride = static_cast<std::size_t>(chosen_->stride);
    if (is_narrow()) {
      std::int16_t* counts = narrow_.ensure(n_types * type_stride + kSlack);
      narrow_counts_.count_columns(chosen_->view(), counts);
      add_narrow(counts, type_stride, 0, values_.n_values, columns, stride);
    } else {
      V* counts = wide_.ensure(n_types * type_stride + kSlack);
      wide_counts_.count_columns(chosen_->view(), counts);
      add_wide(counts, type_stride, 0, values_.n_values, columns, stride);
    }
    std::fill_n(totals, values_.n_values, V{0});
    for (std::size_t t = 0; t < n_types; ++t)
      for (std::int32_t s = 0; s < values_.n_values; ++s)
        totals[s] += static_cast<V>(chosen_->totals[t]) * values_.values[t * n_values() + static_cast<std::size_t>(s)];
    n_counted_ = 0;
  }

  // Pair sums of column i with those from i on, over the chosen rows.
  void add_pairs(std::int32_t i, std::int32_t n_statistics, const V*, std::size_t stride, V* out) {
    const std::size_t row_stride = static_cast<std::size_t>(chosen_->stride), type_stride = kRowsPerCall * row_stride;
    const std::size_t size = static_cast<std::size_t>(data_.n_types()) * type_stride + kSlack;
    const bool is_counted = i >= first_counted_ && i < first_counted_ + n_counted_;
    if (!is_counted) {
      first_counted_ = i;
      n_counted_ = std::min(kRowsPerCall, chosen_->n_columns - i);
    }
    const auto row = static_cast<std::size_t>(i - first_counted_) * row_stride;
    if (is_narrow()) {
      std::int16_t* counts = narrow_.ensure(size);
      if (!is_counted) narrow_counts_.count_rows(chosen_->view(), i, i + n_counted_, counts, type_stride);
      add_narrow(counts + row, type_stride, i, n_statistics, out, stride);
    } else {
      V* counts = wide_.ensure(size);
      if (!is_counted) wide_counts_.count_rows(chosen_->view(), i, i + n_counted_, counts, type_stride);
      add_wide(counts + row, type_stride, i, n_statistics, out, stride);
    }
  }

  // What cannot be avoided in the node, for every column and for all rows together.
  void add_wide(Cost* columns, std::size_t, Cost* totals) const {
    if (values_.n_wide == 0) return;
    const Word* rows = node_->rows_data();
    const auto add_up = [&](const Word* holds) {
      Cost sum = 0;
      for (std::size_t w = 0; w < has_unavoidable_.size(); ++w) {
        Word rest = rows[w] & has_unavoidable_[w] & (holds != nullptr ? holds[w] : ~Word{0});
        for (; rest != 0; rest &= rest - 1)
          sum += values_.wide[w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest))];
      }
      return sum;
    };
    for (std::size_t j = 0; j < static_cast<std::size_t>(node_->n_columns); ++j)
      columns[j] = add_up(data_.group_column(node_->column[j]));
    totals[0] = add_up(nullptr);
  }

 private:
  static constexpr std::int32_t kRowsPerCall = 4;
  static constexpr std::size_t kSlack = 64;  // read past the last column, and not used

  bool is_narrow() const { return !coefficients_.is_empty(); }
  std::size_t n_values() const { return static_cast<std::size_t>(values_.n_values); }

  // The rows of `rows` are to be counted; types without rows are left out of the products.
  void count(const Node& rows) {
    chosen_ = &rows;
    n_counted_ = 0;
    if (!is_narrow()) return;
    types_.clear();
    for (std::int32_t t = 0; t < data_.n_types(); ++t)
      if (rows.totals[static_cast<std::size_t>(t)] > 0) types_.push_back(t);
    const std::size_t n = types_.size(), n_types = static_cast<std::size_t>(data_.n_types());
    if (n % 2 != 0) types_.push_back(types_.back());
    pairs_.clear();
    for (std::size_t term = 0; term < coefficients_.statistic.size(); ++term) {
      const std::int16_t* mine = coefficients_.coefficient.data() + term * n_types;
      for (std::size_t k = 0; k < n; k += 2) {
        const auto first = static_cast<std::uint16_t>(mine[types_[k]]);
        const auto second = static_cast<std::uint16_t>(k + 1 < n ? mine[types_[k + 1]] : 0);
        pairs_.push_back(static_cast<std::int32_t>(first | static_cast<std::uint32_t>(second) << 16));
      }
    }
  }

  void add_narrow(const std::int16_t* counts, std::size_t type_stride, std::int32_t first, std::int32_t n_statistics,
                  V* out, std::size_t stride) const {
    const auto& statistic = coefficients_.statistic;
    const auto n_terms = std::lower_bound(statistic.begin(), statistic.end(), n_statistics) - statistic.begin();
    const TypeTerms<V> terms{static_cast<std::int32_t>(types_.size() / 2), types_.data(), pairs_.data(),
                             statistic.data(), coefficients_.factor.data()};
    kernels_.add_types(terms, counts, type_stride, first, chosen_->n_columns, static_cast<std::int32_t>(n_terms), out,
                       stride);
  }

  void add_wide(const V* counts, std::size_t type_stride, std::int32_t first, std::int32_t n_statistics, V* out,
                std::size_t stride) const {
    kernels_.add_wide_types(counts, type_stride, data_.n_types(), values_.values.data(), values_.n_values, first,
                            chosen_->n_columns, n_statistics, out, stride);
  }

  const Dataset& data_;
  NodeFactory& factory_;
  const VectorKernels<V>& kernels_;
  const Kernels<std::int16_t>& narrow_counts_;
  const Kernels<V>& wide_counts_;
  PartValues<V> values_;
  TypeCoefficients<V> coefficients_;
  std::vector<Word> has_unavoidable_;  // the groups that do
  const Node* node_ = nullptr;
  const Node* chosen_ = nullptr;
  Node child_;
  AlignedArray<std::int16_t> narrow_;
  AlignedArray<V> wide_;
  std::int32_t first_counted_ = 0, n_counted_ = 0;  // rows of pairs whose counts are there
  std::vector<std::int32_t> types_;                 // with rows; the last twice if they are odd in number
  std::vector<std::int32_t> pairs_;                 // [term][pair of types]
};

}  // namespace certree
