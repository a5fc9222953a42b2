// Error-versus-splits curves of subproblems, and where they are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/bits.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"

namespace certree {

// What is known of the least leaf cost with at most k splits, k = 0 .. size - 1, and where the tree of cost upper[k] is.
struct Curve {
  std::vector<Cost> lower, upper;
  std::vector<std::int32_t> column;      // root of that tree: a data set's column, kDepthTwoTree, kLeafTree
  std::vector<std::int32_t> yes_splits;  // splits on the side where the root's column holds

  void reset(std::size_t size);
  std::size_t size() const { return lower.size(); }
  // Entry k needs no more search: exact, or not below `need`.
  bool is_closed(std::size_t k, Cost need) const { return lower[k] >= std::min(upper[k], need); }
  void offer(std::size_t k, Cost cost, std::int32_t root, std::int32_t yes);
  // More splits never cost more, fewer never less.
  void make_monotone();
};

class CurveTable {
 public:
  explicit CurveTable(MemoryBudget& memory) : memory_(memory) {}
  ~CurveTable() { clear(); }
  CurveTable(const CurveTable&) = delete;
  CurveTable& operator=(const CurveTable&) = delete;

  void limit(std::int64_t max_bytes) { max_bytes_ = max_bytes; }  // 0: no limit
  // Narrows the curve by what is stored.
  bool find(const Fingerprint& key, Curve& curve) const;
  // What is stored, null: nothing.
  const Curve* look(const Fingerprint& key) const;
  // Returns how many entries were forgotten to make room.
  std::int64_t store(const Fingerprint& key, Curve curve);
  void clear();
  std::int64_t bytes() const { return bytes_; }
  std::size_t n_entries() const { return known_.size(); }

 private:
  MemoryBudget& memory_;
  std::unordered_map<Fingerprint, Curve, FingerprintHash> known_;
  std::int64_t max_bytes_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace certree
