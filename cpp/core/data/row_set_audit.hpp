// Builds with CERTREE_CHECKS keep the row sets behind fingerprints and compare them.  After a clash, the table would
// answer for another subproblem, and no other check would notice.  Other builds rely on 128 bits (base/bits.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/bits.hpp"
#include "base/check.hpp"

namespace certree {

class RowSetAudit {
 public:
  // Throws std::logic_error if another set has been seen under this fingerprint.
  void see(const Fingerprint& key, const Word* words, std::size_t count) {
    const std::lock_guard lock(mutex_);
    const auto found = seen_.find(key);
    if (found != seen_.end()) {
      CERTREE_DCHECK(std::equal(words, words + count, found->second.begin(), found->second.end()));
    } else if (seen_.size() < kMost) {
      seen_.emplace(key, std::vector<Word>(words, words + count));
    }
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 18;  // the first sets of a solve, to bound the memory
  struct Hash {
    std::size_t operator()(const Fingerprint& key) const { return key.low; }
  };
  std::mutex mutex_;
  std::unordered_map<Fingerprint, std::vector<Word>, Hash> seen_;
};

}  // namespace certree
