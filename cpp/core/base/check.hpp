// Two kinds of check: `require` guards the caller's arguments (always on, becomes ValueError in Python);
// `CERTREE_DCHECK` guards our own assumptions (on in builds with CERTREE_CHECKS, free otherwise).
#pragma once

#include <stdexcept>
#include <string>

namespace certree {

inline void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace certree

#ifdef CERTREE_CHECKS
#define CERTREE_DCHECK(condition)                                                                                \
  do {                                                                                                           \
    if (!(condition))                                                                                            \
      throw std::logic_error(std::string("certree: broken invariant: ") + #condition + " at " + __FILE__ + ":" + \
                             std::to_string(__LINE__));                                                          \
  } while (false)
#else
#define CERTREE_DCHECK(condition) ((void)0)
#endif
