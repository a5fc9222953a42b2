// Losses around quantiles of the two parts of a list of rows, for many columns at once.  Part of kernels_impl.hpp: included
// once per instruction set.
//
// The rows of a list come in ascending order of their targets, cut into short chunks.  The lanes of a register are different
// columns.  One sweep adds up the weights and targets of the rows where each column holds; those of the others are the
// differences to the whole list.  Between two chunks, the sums so far are the tangent of the loss at that place
// (docs/theory/quantiles.md).  The last falling tangent and the next one are kept: where they meet, they bound the loss from
// below, closely, since few rows are in the chunk.  Only where the bound leaves it open, the rows of the chunk are read again,
// for the exact loss.
#pragma once

#include "counts/kernels_impl_base.hpp"
#include "counts/kernels_impl_lane_types.hpp"
#include "counts/vector_kernels.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

// A part of the list for each column of a block: the last falling tangent, and the one after its chunk.
template <class A>
struct QuantileCell {
  using T = Lanes<A>;
  using Real = Lanes<std::conditional_t<sizeof(A) == 4, float, double>>;
  T wanted{};  // above times the weight
  T bound{};
  T passed{}, sum{}, chunk{};  // of the rows before the chunk
  T next_passed{}, next_sum{};

  [[gnu::always_inline]] inline void keep(const T& passed_now, const T& sum_now, A number) {
    // The tangent that was kept may have been the last one.
    const auto follows = passed == next_passed;
    next_passed = follows ? passed_now : next_passed;
    next_sum = follows ? sum_now : next_sum;
    const auto falls = passed_now < wanted;
    passed = falls ? passed_now : passed;
    sum = falls ? sum_now : sum;
    next_passed = falls ? passed_now : next_passed;
    next_sum = falls ? sum_now : next_sum;
    chunk = falls ? all_lanes(number) : chunk;
  }

  // At the end of the list, where the sum of targets is `all`.
  [[gnu::always_inline]] inline void finish(const T& passed_now, const T& sum_now, A slopes, A above) {
    const auto follows = passed == next_passed;
    const T passed_next = follows ? passed_now : next_passed, sum_next = follows ? sum_now : next_sum;
    // The tangents meet at the mean of the rows between them.  More than all rounding is taken off.
    const T between = passed_next - passed;
    const Real weight = __builtin_convertvector(between > 1 ? between : T{} + 1, Real);
    const Real place = static_cast<float>(slopes) * __builtin_convertvector(sum_next - sum, Real) / weight;
    const Real lost = __builtin_convertvector(wanted - passed, Real) * place * 1.000002F;
    const T value = all_lanes(above) * sum_now - all_lanes(slopes) * sum - __builtin_convertvector(lost, T) - 1;
    bound = value > 0 ? value : T{};
  }
};

template <class A>
struct QuantileBlock {
  using T = Lanes<A>;
  static constexpr std::int32_t kSize = static_cast<std::int32_t>(64 / sizeof(A));
  T passed{}, sum{};
  QuantileCell<A> with, without;

  // The columns of `holds` hold in a row.
  [[gnu::always_inline]] inline void add(const TargetRow<A>& row, std::uint32_t holds) {
#if defined(__AVX512BW__)
    if constexpr (sizeof(A) == 4) {
      const auto mask = static_cast<__mmask16>(holds);
      const auto add_to = [mask](T& to, A value) {
        const auto old = reinterpret_cast<__m512i>(to);
        to = reinterpret_cast<T>(_mm512_mask_add_epi32(old, mask, old, _mm512_set1_epi32(static_cast<int>(value))));
      };
      add_to(passed, row.weight);
      add_to(sum, row.sum);
    } else {
      const auto mask = static_cast<__mmask8>(holds);
      passed = _mm512_mask_add_pd(passed, mask, passed, _mm512_set1_pd(row.weight));
      sum = _mm512_mask_add_pd(sum, mask, sum, _mm512_set1_pd(row.sum));
    }
#else
    using Bits = std::conditional_t<sizeof(A) == 4, std::int32_t, std::int64_t>;
    Lanes<Bits> bit;
    for (std::int32_t k = 0; k < kSize; ++k) bit[k] = Bits{1} << k;
    const Lanes<Bits> on = (all_lanes(static_cast<Bits>(holds)) & bit) == bit;
    passed += reinterpret_cast<T>(reinterpret_cast<Lanes<Bits>>(all_lanes(row.weight)) & on);
    sum += reinterpret_cast<T>(reinterpret_cast<Lanes<Bits>>(all_lanes(row.sum)) & on);
#endif
  }

  [[gnu::always_inline]] inline void keep(const TargetChunk<A>& chunk, A number) {
    with.keep(passed, sum, number);
    without.keep(all_lanes(chunk.passed) - passed, all_lanes(chunk.sum) - sum, number);
  }

  // At the end of the list, sums are those of all rows.
  [[gnu::always_inline]] inline void finish(const TargetChunk<A>& all, A slopes, A above) {
    with.finish(passed, sum, slopes, above);
    without.finish(all_lanes(all.passed) - passed, all_lanes(all.sum) - sum, slopes, above);
  }
};

// The columns of a block that hold in a row.
template <class A>
[[gnu::always_inline]] inline std::uint32_t held_in(const Word* holds, std::int32_t block) {
  const char* bytes = reinterpret_cast<const char*>(holds);
  if constexpr (sizeof(A) == 4) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes + 2 * block, 2);
    return bits;
  } else {
    return static_cast<std::uint8_t>(bytes[block]);
  }
}

template <class A, int Blocks>
inline void sweep_list(const TargetRows<A>& rows, const TargetList<A>& list, std::int32_t block,
                       QuantileBlock<A>* out) {
  QuantileBlock<A> blocks[Blocks];  // in registers
  for (int b = 0; b < Blocks; ++b) blocks[b] = out[b];
  for (std::int32_t c = 0; c < list.n_chunks; ++c) {
    for (int b = 0; b < Blocks; ++b) blocks[b].keep(list.chunks[c], static_cast<A>(c));
    const std::int32_t end = list.end_of(c);
    for (std::int32_t k = c * list.chunk_size; k < end; ++k) {
      const auto row = static_cast<std::size_t>(list.places[k]);
      const Word* holds = rows.holds + row * static_cast<std::size_t>(rows.words);
      for (int b = 0; b < Blocks; ++b) blocks[b].add(rows.rows[row], held_in<A>(holds, block + b));
    }
  }
  for (int b = 0; b < Blocks; ++b) {
    blocks[b].finish(list.chunks[list.n_chunks], rows.slopes, rows.above);
    out[b] = blocks[b];
  }
}

// The exact loss of the part of a list where a column does or does not hold, from its last falling tangent.
template <class A>
inline A exact_loss(const TargetRows<A>& rows, const TargetList<A>& list, std::int32_t column, bool holds,
                    const QuantileCell<A>& cell, A all, std::int32_t lane) {
  const A wanted = cell.wanted[lane];
  A passed = cell.passed[lane], sum = cell.sum[lane];
  if (wanted <= 0) return 0;
  const auto c = static_cast<std::int32_t>(cell.chunk[lane]);
  const std::int32_t end = list.end_of(c);
  const auto word = static_cast<std::size_t>(column / kWordBits);
  const Word flip = holds ? 0 : ~Word{0};
  A last = 0;
  for (std::int32_t k = c * list.chunk_size; k < end; ++k) {
    const auto row = static_cast<std::size_t>(list.places[k]);
    const Word bits = rows.holds[row * static_cast<std::size_t>(rows.words) + word] ^ flip;
    if ((bits >> (column % kWordBits) & 1) == 0) continue;
    last = rows.rows[row].target;
    if (passed + rows.rows[row].weight >= wanted) break;
    passed += rows.rows[row].weight;
    sum += rows.rows[row].sum;
  }
  // The loss at the quantile, where its own rows cost nothing.
  return (passed - wanted) * last - rows.slopes * sum + rows.above * all;
}

template <class V>
[[gnu::always_inline]] inline Lanes<TargetLane<V>> target_lanes(const Lanes<V>& weights) {
  return __builtin_convertvector(weights, Lanes<TargetLane<V>>);
}

// The pairs of column i with a few blocks of others.
template <class V>
struct QuantilePass {
  using A = TargetLane<V>;
  using T = Lanes<A>;
  static constexpr std::int32_t kSize = QuantileBlock<A>::kSize;
  static constexpr A kNone = kNoTarget<A>;

  const QuantileInput<V>& in;
  std::int32_t i;
  const PairRow<V>& pairs;
  const TargetList<A>& with_i;
  const TargetList<A>& without_i;
  QuantileGoal goal;

  // A statistic of the rows where column i and those of a block hold.
  Lanes<V> both(std::int32_t statistic, std::int32_t j) const {
    const auto s = static_cast<std::size_t>(statistic);
    Lanes<V> out = lanes_at(pairs.minuend + s * pairs.minuend_type_stride + j);
    if (pairs.subtrahend != nullptr) out -= lanes_at(pairs.subtrahend + s * pairs.subtrahend_type_stride + j);
    return out;
  }
  const V* column(std::int32_t statistic) const {
    return in.columns + static_cast<std::size_t>(statistic) * static_cast<std::size_t>(in.stride);
  }

  template <int Blocks>
  void run(std::int32_t block) const {
    QuantileBlock<A> yes[Blocks], no[Blocks];
    const V held = in.columns[i], rest = in.totals[0] - held;
    for (int b = 0; b < Blocks; ++b) {
      const std::int32_t j = (block + b) * kSize;
      const Lanes<V> weight = both(0, j), other = lanes_at(in.columns + j) - weight;
      yes[b].with.wanted = in.rows.above * target_lanes<V>(weight);
      yes[b].without.wanted = in.rows.above * target_lanes<V>(held - weight);
      no[b].with.wanted = in.rows.above * target_lanes<V>(other);
      no[b].without.wanted = in.rows.above * target_lanes<V>(rest - other);
    }
    sweep_list<A, Blocks>(in.rows, with_i, block, yes);
    sweep_list<A, Blocks>(in.rows, without_i, block, no);
    for (int b = 0; b < Blocks; ++b) fold((block + b) * kSize, yes[b], no[b]);
  }

  void fold(std::int32_t j, QuantileBlock<A>& yes, QuantileBlock<A>& no) const {
    if (in.count_statistic >= 0) forbid_small(j, yes, no);
    const T yes_i = yes.with.bound + yes.without.bound, no_i = no.with.bound + no.without.bound;
    const T yes_j = yes.with.bound + no.with.bound, no_j = yes.without.bound + no.without.bound;
    if (goal == QuantileGoal::bounds) return keep_bounds(j, yes_i, no_i, yes_j, no_j);
    auto open = (yes_i < all_lanes(in.yes1[i])) | (no_i < all_lanes(in.no1[i]));
    if (goal == QuantileGoal::pairs) open |= (yes_j < lanes_at(in.yes1 + j)) | (no_j < lanes_at(in.no1 + j));
    for (std::int32_t k = 0; k < kSize; ++k) {
      if (open[k] == 0 || !is_wanted(j + k)) continue;
      Exact cells(*this, j, k, yes, no);
      cells.improve(yes_i[k], in.yes1[i], 0, 1);
      cells.improve(no_i[k], in.no1[i], 2, 3);
      if (goal == QuantileGoal::root) continue;
      cells.improve(yes_j[k], in.yes1[j + k], 0, 2);
      cells.improve(no_j[k], in.no1[j + k], 1, 3);
    }
  }

  // Columns up to i have been paired with it, and the last block has lanes without columns.
  bool is_wanted(std::int32_t j) const { return j < in.n_columns && (goal == QuantileGoal::root ? j != i : j > i); }

  void keep_bounds(std::int32_t j, const T& yes_i, const T& no_i, const T& yes_j, const T& no_j) const {
    T yes = lanes_at(in.yes1 + j), no = lanes_at(in.no1 + j);
    A least_yes = in.yes1[i], least_no = in.no1[i];
    for (std::int32_t k = 0; k < kSize; ++k) {
      if (!is_wanted(j + k)) continue;
      least_yes = least(least_yes, static_cast<A>(yes_i[k]));
      least_no = least(least_no, static_cast<A>(no_i[k]));
    }
    yes = yes_j < yes ? yes_j : yes;
    no = no_j < no ? no_j : no;
    // Lanes without later columns only lower a bound.
    if (j > i) {
      std::memcpy(in.yes1 + j, &yes, sizeof(T));
      std::memcpy(in.no1 + j, &no, sizeof(T));
    } else {
      for (std::int32_t k = i + 1 - j; k < kSize; ++k) in.yes1[j + k] = yes[k], in.no1[j + k] = no[k];
    }
    in.yes1[i] = least_yes;
    in.no1[i] = least_no;
  }

  // The four cells of one pair: both hold, only i, only j, neither.
  struct Exact {
    Exact(const QuantilePass& of, std::int32_t block_start, std::int32_t of_lane, const QuantileBlock<A>& in_yes,
          const QuantileBlock<A>& in_no)
        : pass(of), j(block_start + of_lane), lane(of_lane), yes(in_yes), no(in_no) {}
    const QuantilePass& pass;
    std::int32_t j, lane;
    const QuantileBlock<A>& yes;
    const QuantileBlock<A>& no;
    A found[4] = {-1, -1, -1, -1};

    A loss(int number) {
      if (found[number] >= 0) return found[number];
      const QuantileBlock<A>& block = number < 2 ? yes : no;
      const TargetList<A>& list = number < 2 ? pass.with_i : pass.without_i;
      const bool holds = number % 2 == 0;
      const A held = block.sum[lane], all = holds ? held : list.chunks[list.n_chunks].sum - held;
      found[number] = exact_loss(pass.in.rows, list, j, holds, holds ? block.with : block.without, all, lane);
      return found[number];
    }
    void improve(A bound, A& best, int first, int second) {
      if (bound < best) best = least(best, static_cast<A>(loss(first) + loss(second)));
    }
  };

  void forbid_small(std::int32_t j, QuantileBlock<A>& yes, QuantileBlock<A>& no) const {
    const V held = column(in.count_statistic)[i], rest = in.totals[in.count_statistic] - held;
    const Lanes<V> rows = both(in.count_statistic, j), other = lanes_at(column(in.count_statistic) + j) - rows;
    for (std::int32_t k = 0; k < kSize; ++k) {
      if (rows[k] < in.min_leaf) yes.with.bound[k] = kNone;
      if (held - rows[k] < in.min_leaf) yes.without.bound[k] = kNone;
      if (other[k] < in.min_leaf) no.with.bound[k] = kNone;
      if (rest - other[k] < in.min_leaf) no.without.bound[k] = kNone;
    }
  }
};

template <class V>
void quantiles_of_pairs(const QuantileInput<V>& in, std::int32_t i, const PairRow<V>& pairs,
                        const TargetList<TargetLane<V>>& with_i, const TargetList<TargetLane<V>>& without_i,
                        QuantileGoal goal) {
  using Pass = QuantilePass<V>;
  const Pass pass{in, i, pairs, with_i, without_i, goal};
  const std::int32_t n_blocks = (in.n_columns + Pass::kSize - 1) / Pass::kSize;
  std::int32_t block = goal == QuantileGoal::root ? 0 : (i + 1) / Pass::kSize;
  for (; block + 2 <= n_blocks; block += 2) pass.template run<2>(block);
  if (block < n_blocks) pass.template run<1>(block);
}

template <class V>
void quantiles_of_sides(const QuantileInput<V>& in, const TargetList<TargetLane<V>>& all, TargetLane<V>* yes0,
                        TargetLane<V>* no0) {
  using A = TargetLane<V>;
  constexpr std::int32_t size = QuantileBlock<A>::kSize;
  for (std::int32_t j = 0; j < in.n_columns; j += size) {
    QuantileBlock<A> sums;
    const Lanes<V> weight = lanes_at(in.columns + j);
    sums.with.wanted = in.rows.above * target_lanes<V>(weight);
    sums.without.wanted = in.rows.above * target_lanes<V>(in.totals[0] - weight);
    sweep_list<A, 1>(in.rows, all, j / size, &sums);
    for (std::int32_t k = 0; k < size && j + k < in.n_columns; ++k) {
      const A held = sums.sum[k], rest = all.chunks[all.n_chunks].sum - held;
      yes0[j + k] = exact_loss(in.rows, all, j + k, true, sums.with, held, k);
      no0[j + k] = exact_loss(in.rows, all, j + k, false, sums.without, rest, k);
    }
  }
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
