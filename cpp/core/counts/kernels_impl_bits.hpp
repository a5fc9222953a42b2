// Compaction and hashing of columns.  Part of kernels_impl.hpp: included once per instruction set.
#include "counts/kernels_impl_base.hpp"

namespace certree {
namespace CERTREE_ISA {
namespace {

// Packing.

inline Word pack_word(const std::uint8_t* bins, int count, std::uint8_t edge) {
  Word word = 0;
  for (int b = 0; b < count; ++b) word |= static_cast<Word>(bins[b] <= edge) << b;
  return word;
}

#if defined(__AVX512BW__)

inline Word pack_whole(const std::uint8_t* bins, std::uint8_t edge) {
  return _mm512_cmple_epu8_mask(_mm512_loadu_si512(bins), _mm512_set1_epi8(static_cast<char>(edge)));
}

#elif defined(__AVX2__)

inline Word pack_whole(const std::uint8_t* bins, std::uint8_t edge) {
  const __m256i most = _mm256_set1_epi8(static_cast<char>(edge));
  const auto half = [&](const std::uint8_t* from) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i holds = _mm256_cmpeq_epi8(_mm256_max_epu8(values, most), most);
    return static_cast<Word>(static_cast<std::uint32_t>(_mm256_movemask_epi8(holds)));
  };
  return half(bins) | half(bins + 32) << 32;
}

#else

inline Word pack_whole(const std::uint8_t* bins, std::uint8_t edge) { return pack_word(bins, kWordBits, edge); }

#endif

void pack(const std::uint8_t* bins, std::int32_t n_rows, std::uint8_t edge, std::int32_t stride, Word* out) {
  for (; n_rows >= kWordBits; n_rows -= kWordBits, bins += kWordBits, out += stride) *out = pack_whole(bins, edge);
  if (n_rows > 0) *out = pack_word(bins, n_rows, edge);
}

// Compaction.

#if defined(__BMI2__)

inline void extract_word(const Word* in, Word mask, std::int32_t stride, int offset, int count, Word* out) {
  if (offset == 0) {
    for (std::int32_t j = 0; j < stride; ++j) out[j] = _pext_u64(in[j], mask);
  } else if (offset + count <= kWordBits) {
    for (std::int32_t j = 0; j < stride; ++j) out[j] |= _pext_u64(in[j], mask) << offset;
  } else {
    for (std::int32_t j = 0; j < stride; ++j) {
      const Word kept = _pext_u64(in[j], mask);
      out[j] |= kept << offset;
      out[j + stride] = kept >> (kWordBits - offset);
    }
  }
}

#else

// Parallel-suffix compression (Warren, Hacker's Delight, 7-4): the six move masks depend on `mask` alone, so they are
// computed once per word and applied to all columns by a loop that any vector unit can run.
inline void extract_word(const Word* in, Word mask, std::int32_t stride, int offset, int count, Word* out) {
  Word moves[6];
  Word m = mask;
  Word to_right = ~m << 1;
  for (int step = 0; step < 6; ++step) {
    Word parity = to_right;
    for (int s = 1; s < kWordBits; s *= 2) parity ^= parity << s;
    moves[step] = parity & m;
    m = (m ^ moves[step]) | (moves[step] >> (1 << step));
    to_right &= ~parity;
  }
  for (std::int32_t j = 0; j < stride; ++j) {
    Word kept = in[j] & mask;
    for (int step = 0; step < 6; ++step) {
      const Word moved = kept & moves[step];
      kept = (kept ^ moved) | (moved >> (1 << step));
    }
    if (offset == 0) {
      out[j] = kept;
    } else {
      out[j] |= kept << offset;
      if (offset + count > kWordBits) out[j + stride] = kept >> (kWordBits - offset);
    }
  }
}

#endif

std::int32_t extract(const BitColumns& c, const Word* mask, Word* out, Plane* out_planes) {
  const auto stride = static_cast<std::size_t>(c.stride);
  std::int32_t next = 0;
  for (std::int32_t p = 0; p < c.n_planes; ++p) {
    const Plane plane = c.planes[p];
    std::int64_t filled = 0;
    for (std::int32_t w = plane.begin; w < plane.end; ++w) {
      const int count = popcount(mask[w]);
      if (count == 0) continue;
      const Word* in = c.bits + static_cast<std::size_t>(w) * stride;
      Word* target = out + (static_cast<std::size_t>(next) + static_cast<std::size_t>(filled / kWordBits)) * stride;
      const int offset = static_cast<int>(filled % kWordBits);
      if (count == kWordBits && offset == 0) {
        std::memcpy(target, in, stride * sizeof(Word));
      } else {
        extract_word(in, mask[w], c.stride, offset, count, target);
      }
      filled += count;
    }
    const auto words = static_cast<std::int32_t>((filled + kWordBits - 1) / kWordBits);
    out_planes[p] = Plane{plane.type, plane.shift, next, next + words, static_cast<std::int32_t>(filled)};
    next += words;
  }
  return next;
}

void hash_columns(const BitColumns& c, const Word* valid, std::int32_t n_words, std::uint64_t* hash, Word* varies) {
  // A column and its complement make the same split: read every column so that its first row is 0.
  for (std::int32_t j = 0; j < c.stride; ++j) hash[j] = varies[j] = 0;
  for (std::int32_t w = 0; w < n_words; ++w) {
    const Word* row = c.bits + static_cast<std::size_t>(w) * static_cast<std::size_t>(c.stride);
    const Word full = valid[w];
    for (std::int32_t j = 0; j < c.stride; ++j) {
      const Word flip = Word{0} - (c.bits[j] & 1);
      const Word bits = (row[j] ^ flip) & full;
      const std::uint64_t h = (hash[j] ^ bits) * 0x9e3779b97f4a7c15ULL;
      hash[j] = h ^ (h >> 29);
      varies[j] |= bits;
    }
  }
}

}  // namespace
}  // namespace CERTREE_ISA
}  // namespace certree
