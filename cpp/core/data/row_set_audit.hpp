// Builds with CERTREE_CHECKS keep what is behind fingerprints and compare it.  After a clash, the table would answer for
// another subproblem, and no other check would notice.  Other builds rely on 128 bits (base/bits.hpp).
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
  // `words` describe a subproblem: its rows, and whatever else its key is made of.  An alarm if others have been seen under
  // this fingerprint.
  void see(const Fingerprint& key, const Word* words, std::size_t count) {
    const std::lock_guard lock(mutex_);
    const auto found = seen_.find(key);
    if (found != seen_.end()) {
      if (!std::equal(words, words + count, found->second.begin(), found->second.end()))
        alarm("two sets of rows have the same fingerprint");
    } else if (seen_.size() < kMost) {
      seen_.emplace(key, std::vector<Word>(words, words + count));
    }
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 18;  // the first sets of a solve, to bound the memory
  std::mutex mutex_;
  std::unordered_map<Fingerprint, std::vector<Word>, FingerprintHash> seen_;
};

}  // namespace certree
