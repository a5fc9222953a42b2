#include "search/multiway/node.hpp"

#include <algorithm>
#include <cstring>

namespace certree {

namespace {

std::size_t area(std::int32_t words, std::int32_t stride) {
  return static_cast<std::size_t>(words) * static_cast<std::size_t>(stride);
}

}  // namespace

MultiwayNodes::MultiwayNodes(const Dataset& data, const ColumnTests& tests, const MultiwaySettings& settings,
                             MemoryBudget& memory)
    : data_(data),
      prices_(settings.prices),
      kernels_(bit_kernels_for(settings.options.isa)),
      // Of two tests that part the rows in the same way one may be the cheaper.
      drops_duplicates_(settings.options.use_column_reduction && settings.prices == nullptr),
      factory_(data, kernels_, memory, false),
      full_(memory),
      hashes_(memory),
      varies_(memory) {
  std::int32_t most = -1;
  for (const auto& columns : tests)
    for (const std::int32_t c : columns) most = std::max(most, c);
  // The data set has no constant columns: an outcome without rows is no part, and one with all rows leaves no test.
  std::vector<std::int32_t> local(static_cast<std::size_t>(most + 1), -1);
  for (std::int32_t c = 0; c < data.n_columns(); ++c)
    if (data.original_column(c) <= most) local[static_cast<std::size_t>(data.original_column(c))] = c;
  for (std::size_t id = 0; id < tests.size(); ++id) {
    NodeTest test{static_cast<std::int32_t>(id), static_cast<std::int32_t>(root_outcomes_.size()), 0};
    for (std::int32_t number = 0; number < n_outcomes(tests[id]); ++number) {
      const bool is_binary = tests[id].size() == 1;
      const std::int32_t column =
          local[static_cast<std::size_t>(tests[id][is_binary ? 0 : static_cast<std::size_t>(number)])];
      if (column < 0) continue;
      root_outcomes_.push_back({static_cast<std::int32_t>(root_parts_.size()), number});
      root_parts_.push_back({column, !is_binary || number == 0});
    }
    test.last = static_cast<std::int32_t>(root_outcomes_.size());
    if (test.last > test.first) root_tests_.push_back(test);
  }
}

void MultiwayNodes::make_root(MultiwayFrame& out) {
  factory_.make_root(full_);
  std::swap(out.node.rows.key, full_.rows.key);
  out.node.rows.words.swap(full_.rows.words);
  if (prices_ != nullptr) prices_->costs.start(out.paid);
  reduce({root_parts_, root_tests_, root_outcomes_}, out);
}

void MultiwayNodes::child_rows(const MultiwayFrame& parent, std::int32_t part, RowSet& out) const {
  const Part& p = parent.parts[static_cast<std::size_t>(part)];
  factory_.child_rows(parent.node, p.column, p.holds, out);
  Paid after;
  pay(parent, p, out, after);
}

void MultiwayNodes::pay(const MultiwayFrame& parent, const Part& part, RowSet& rows, Paid& after) const {
  if (prices_ == nullptr) return;
  prices_->costs.pay(parent.paid, parent.node.column[static_cast<std::size_t>(part.column)], after);
  rows.key = prices_->costs.key(data_, rows.words.data(), rows.key, after);
}

void MultiwayNodes::make_child(const MultiwayFrame& parent, std::int32_t part, MultiwayFrame& out) {
  const Part& p = parent.parts[static_cast<std::size_t>(part)];
  factory_.child_rows(parent.node, p.column, p.holds, out.node.rows);
  pay(parent, p, out.node.rows, out.paid);
  factory_.make_child(parent.node, p.column, p.holds, false, full_);
  out.parent_part = part;
  reduce({parent.parts, parent.tests, parent.outcomes}, out);
}

bool MultiwayNodes::has_rows(Part part) const {
  const auto c = static_cast<std::size_t>(part.column);
  return varies_[c] != 0 || ((full_.bits[c] & 1) != 0) == part.holds;
}

// Hashes find the candidates, words decide: a clash of hashes must not cost a test.
bool MultiwayNodes::have_same_rows(Part a, Part b) const {
  if (hashes_[static_cast<std::size_t>(a.column)] != hashes_[static_cast<std::size_t>(b.column)]) return false;
  const Word flip = a.holds == b.holds ? Word{0} : ~Word{0};
  for (std::int32_t w = 0; w < full_.n_words; ++w) {
    const Word* row = full_.bits.data() + area(w, full_.stride);
    if ((row[a.column] ^ row[b.column] ^ flip) & full_.valid[static_cast<std::size_t>(w)]) return false;
  }
  return true;
}

// Whether no earlier test parts the rows in the same way.
bool MultiwayNodes::is_new_partition(const Source& source, const NodeTest& test) {
  // Columns are hashed up to complement, so a two-part test has the same sum however it is written.
  std::uint64_t sum = 0;
  const auto for_parts = [&](const NodeTest& of, auto&& act) {
    for (std::int32_t o = of.first; o < of.last; ++o) {
      const Part part = source.parts[static_cast<std::size_t>(source.outcomes[static_cast<std::size_t>(o)].part)];
      if (has_rows(part)) act(part);
    }
  };
  for_parts(test, [&](Part part) {
    sum += fold_product(hashes_[static_cast<std::size_t>(part.column)], 0x9e3779b97f4a7c15ULL);
  });
  for (const auto& [other_sum, other] : seen_) {
    if (other_sum != sum) continue;
    bool is_same = true;
    for_parts(test, [&](Part part) {
      bool has_twin = false;
      for_parts(other, [&](Part twin) { has_twin = has_twin || have_same_rows(part, twin); });
      is_same = is_same && has_twin;
    });
    if (is_same) return false;
  }
  seen_.emplace_back(sum, test);
  return true;
}

std::int32_t MultiwayNodes::local_part(Part part, std::int32_t source_part, MultiwayFrame& out) {
  auto& column = column_index_[static_cast<std::size_t>(part.column)];
  if (column < 0) {
    column = static_cast<std::int32_t>(kept_columns_.size());
    kept_columns_.push_back(part.column);
  }
  auto& index = part_index_[2 * static_cast<std::size_t>(part.column) + (part.holds ? 1 : 0)];
  if (index < 0) {
    index = static_cast<std::int32_t>(out.parts.size());
    out.parts.push_back({column, part.holds});
    out.above.push_back(source_part);
  }
  return index;
}

void MultiwayNodes::reduce(const Source& source, MultiwayFrame& out) {
  out.is_open = false;
  out.parts.clear();
  out.above.clear();
  out.tests.clear();
  out.outcomes.clear();
  seen_.clear();
  kept_columns_.clear();
  column_index_.assign(static_cast<std::size_t>(full_.n_columns), -1);
  part_index_.assign(2 * static_cast<std::size_t>(full_.n_columns), -1);
  std::uint64_t* hash = hashes_.ensure(static_cast<std::size_t>(full_.stride));
  Word* varies = varies_.ensure(static_cast<std::size_t>(full_.stride));
  kernels_.hash_columns(full_.view(), full_.valid.data(), full_.n_words, hash, varies);
  for (const NodeTest& test : source.tests) {
    const auto part_of = [&](std::int32_t o) {
      return source.parts[static_cast<std::size_t>(source.outcomes[static_cast<std::size_t>(o)].part)];
    };
    // Where one column varies, another outcome has the other rows.
    bool is_alive = false;
    for (std::int32_t o = test.first; o < test.last; ++o) is_alive = is_alive || varies[part_of(o).column] != 0;
    if (!is_alive || (drops_duplicates_ && !is_new_partition(source, test))) continue;
    NodeTest kept{test.id, static_cast<std::int32_t>(out.outcomes.size()), 0};
    for (std::int32_t o = test.first; o < test.last; ++o) {
      if (!has_rows(part_of(o))) continue;
      const Outcome& outcome = source.outcomes[static_cast<std::size_t>(o)];
      out.outcomes.push_back({local_part(part_of(o), outcome.part, out), outcome.number});
    }
    kept.last = static_cast<std::int32_t>(out.outcomes.size());
    out.tests.push_back(kept);
  }

  Node& node = out.node;
  node.n_columns = static_cast<std::int32_t>(kept_columns_.size());
  node.stride = stride_for(node.n_columns);
  node.n_words = full_.n_words;
  node.planes = full_.planes;
  node.totals = full_.totals;
  std::memcpy(node.valid.ensure(static_cast<std::size_t>(full_.n_words)), full_.valid.data(),
              static_cast<std::size_t>(full_.n_words) * sizeof(Word));
  std::int32_t* column = node.column.ensure(static_cast<std::size_t>(node.stride));
  for (std::size_t k = 0; k < kept_columns_.size(); ++k)
    column[k] = full_.column[static_cast<std::size_t>(kept_columns_[k])];
  Word* bits = node.bits.ensure(area(node.n_words, node.stride));
  for (std::int32_t w = 0; w < node.n_words; ++w) {
    const Word* from = full_.bits.data() + area(w, full_.stride);
    Word* to = bits + area(w, node.stride);
    for (std::size_t k = 0; k < kept_columns_.size(); ++k) to[k] = from[kept_columns_[k]];
  }
}

}  // namespace certree
