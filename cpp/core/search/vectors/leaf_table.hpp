// Costs of a leaf function, by the sums it is asked about.
//
// Sums of small integers that are not negative take few values: a table with one place for each combination of them has
// the answers to most questions of a search after its first passes.  The place of a sum is a linear function of it, so that
// places are summed over rows like any other statistic, instead of the statistics (docs/theory/vector-statistics.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/memory.hpp"
#include "counts/vector_kernels.hpp"
#include "data/vector_data.hpp"
#include "tasks/leaf_questions.hpp"

namespace certree {

// The place of every sum: a number in mixed radix, one digit per statistic, and one for the number of rows if leaves may be
// too small or rows may add nothing to any statistic, so that place 0 is the sum of no rows.
class LeafPlaces {
 public:
  // Nothing: a statistic has negative numbers, or there are more than `most` places.
  static std::optional<LeafPlaces> make(const VectorData& data, std::int64_t min_leaf, std::size_t most) {
    LeafPlaces out;
    out.most_ = most;
    out.min_leaf_ = std::max<Cost>(min_leaf, 1);
    bool adds_up = true, has_zeros = false;  // the statistics of a group add up to its rows; all of them are zero
    for (std::size_t part = 0; part < data.n_parts(); ++part) {
      Cost sum = 0;
      for (std::size_t s = 0; s < data.n_statistics(); ++s) sum += data.sums(part)[s];
      adds_up &= sum == data.rows(part);
      has_zeros |= sum == 0;
    }
    for (std::size_t s = 0; s < data.n_statistics(); ++s)
      if (data.totals()[s] != data.size(s) || !out.add_digit(data.totals()[s])) return std::nullopt;
    out.adds_up_ = adds_up;
    if (!adds_up && (has_zeros || min_leaf > 1)) {
      if (!out.add_digit(data.n_rows())) return std::nullopt;
      out.has_rows_ = true;
    }
    return out;
  }

  std::size_t size() const { return size_; }
  std::size_t n_digits() const { return factor_.size(); }
  Cost place(const VectorData& data, std::size_t part) const {
    Cost out = 0;
    for (std::size_t s = 0; s < data.n_statistics(); ++s) out += factor_[s] * data.sums(part)[s];
    return has_rows_ ? out + factor_.back() * data.rows(part) : out;
  }
  // The digits of a place: the sums, and perhaps the rows.  False: no leaf, it has too few rows.
  bool read(Cost place, Cost* digits) const {
    Cost rest = place, sum = 0;
    for (std::size_t s = factor_.size(); s-- > 0;) {
      digits[s] = rest / factor_[s];
      rest %= factor_[s];
      sum += digits[s];
    }
    if (has_rows_) return digits[factor_.size() - 1] >= min_leaf_;
    return adds_up_ ? sum >= min_leaf_ : place > 0;
  }

 private:
  bool add_digit(Cost largest) {
    factor_.push_back(static_cast<Cost>(size_));
    return !__builtin_mul_overflow(size_, static_cast<std::size_t>(largest) + 1, &size_) && size_ <= most_;
  }

  std::vector<Cost> factor_;  // of every digit, the least significant first
  std::size_t size_ = 1, most_ = 0;
  Cost min_leaf_ = 1;
  bool has_rows_ = false, adds_up_ = false;
};

template <class V>
class LeafTable {
 public:
  LeafTable(const LeafPlaces& places, const VectorData& data, Budget& budget, MemoryBudget& memory)
      : places_(places),
        task_(data.task()),
        questions_(data.task(), budget),
        limit_(data.leaf_limit()),
        memory_(memory),
        bytes_(static_cast<std::int64_t>(places.size() * sizeof(V))) {
    memory_.charge(bytes_);
    inverted_ = static_cast<V*>(std::calloc(places.size(), sizeof(V)));
    if (inverted_ != nullptr) return;
    memory_.release(bytes_);
    throw MemoryLimitReached{};
  }
  LeafTable(const LeafTable&) = delete;
  LeafTable& operator=(const LeafTable&) = delete;
  ~LeafTable() {
    std::free(inverted_);
    memory_.release(bytes_);
  }

  // All bits inverted: most places are never looked at, and nothing is known of a zero.
  const V* inverted() const { return inverted_; }
  V cost(V place) const { return static_cast<V>(~inverted_[static_cast<std::size_t>(place)]); }
  // Remembers to ask about a place of which nothing is known.
  void want(V place) {
    if (cost(place) != kUnknown<V>) return;
    set(place, kWanted);
    wanted_.push_back(place);
  }
  std::size_t n_wanted() const { return wanted_.size(); }

  // Asks about all that is wanted.  False: the time is up.
  bool ask(bool may_stop) {
    list_questions();
    const std::size_t n = wanted_.size();
    answers_.resize(n);
    const bool is_done = questions_.ask(sums_.data(), n, n, answers_.data(), may_stop);
    for (std::size_t k = 0; k < n; ++k) {
      if (is_done && (answers_[k] < 0 || answers_[k] > limit_)) refuse_leaf_cost(task_, answers_[k], limit_);
      set(wanted_[k], is_done ? static_cast<V>(answers_[k]) : kUnknown<V>);
    }
    wanted_.clear();
    return is_done;
  }
  // Forgets what is wanted.
  void forget() {
    for (const V place : wanted_) set(place, kUnknown<V>);
    wanted_.clear();
  }
  bool is_late() { return questions_.is_late(); }

  // The cost of all rows of a place, few as they may be.
  Cost leaf_cost(V place) const {
    if (const V known = cost(place); known >= 0 && known < kInfeasible<V>) return known;
    std::vector<Cost> digits(places_.n_digits());
    places_.read(place, digits.data());
    return task_.leaf_cost(digits.data());
  }

 private:
  static constexpr V kWanted = -2;

  void set(V place, V cost) { inverted_[static_cast<std::size_t>(place)] = static_cast<V>(~cost); }

  // What is too small for a leaf needs no question.
  void list_questions() {
    digits_.resize(places_.n_digits());
    std::size_t n = 0;
    for (const V place : wanted_) {
      if (places_.read(place, digits_.data())) {
        wanted_[n++] = place;
      } else {
        set(place, kInfeasible<V>);
      }
    }
    wanted_.resize(n);
    const auto n_statistics = static_cast<std::size_t>(task_.n_statistics);
    sums_.resize(n * n_statistics);
    for (std::size_t k = 0; k < n; ++k) {
      places_.read(wanted_[k], digits_.data());
      for (std::size_t s = 0; s < n_statistics; ++s) sums_[s * n + k] = digits_[s];
    }
  }

  LeafPlaces places_;
  const VectorTask& task_;
  LeafQuestions questions_;
  Cost limit_;
  MemoryBudget& memory_;
  std::int64_t bytes_;
  V* inverted_ = nullptr;
  std::vector<V> wanted_;
  std::vector<Cost> digits_, sums_, answers_;
};

}  // namespace certree
