// Words of 64 rows and the fingerprint of a set of rows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace certree {

using Word = std::uint64_t;
inline constexpr int kWordBits = 64;

inline constexpr std::size_t words_for(std::size_t bits) { return (bits + kWordBits - 1) / kWordBits; }

// The lowest `count` bits set, 0 <= count <= 64.
inline constexpr Word low_bits(int count) { return count >= kWordBits ? ~Word{0} : (Word{1} << count) - 1; }

// A 128-bit fingerprint stands for a set of rows in the transposition table.  Both halves fold one 64 x 64 -> 128 bit product
// per word.  `low` is a fixed function of the set: it says where an entry is kept, so that a solve does the same work in every
// process.  `high` is keyed by a number that each process draws (base/seed.hpp): no order depends on it, and no table of rows
// can be made whose sets clash.  For distinct sets the chance of a clash is about 2^-128 per pair, 10^-20 for 10^9 stored
// sets.  Builds with CERTREE_CHECKS also keep the sets and compare (data/row_set_audit.hpp).
struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Fingerprint&) const = default;
};

__extension__ using Wide = unsigned __int128;

inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A splittable sequence of well-mixed numbers (splitmix64).
inline std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

inline Fingerprint fingerprint(const Word* words, std::size_t count, std::uint64_t seed) {
  const std::uint64_t factor = scramble(seed) | 1;
  std::uint64_t low = 0x9e3779b97f4a7c15ULL;
  std::uint64_t high = scramble(~seed);
  for (std::size_t i = 0; i < count; ++i) {
    low = fold_product(low ^ words[i], 0xa0761d6478bd642fULL) + 0x8ebc6af09c88c6e3ULL;
    high = fold_product(high ^ words[i], factor) + 0x589965cc75374cc3ULL;
  }
  return {fold_product(low, 0x1d8e4e27c47d124fULL), fold_product(high, 0xeb44accab455d165ULL)};
}

struct FingerprintHash {
  std::size_t operator()(const Fingerprint& f) const { return static_cast<std::size_t>(f.low); }
};

// The same set with another remaining depth is another subproblem.
inline Fingerprint mix(Fingerprint key, std::uint64_t depth) {
  return {fold_product(key.low ^ (depth * 0x9fb21c651e98df25ULL), 0xa24baed4963ee407ULL) ^ key.low,
          fold_product(key.high + depth * 0xd6e8feb86659fd93ULL, 0xcaf649a9c1f2d3a5ULL) ^ key.high};
}

}  // namespace certree
