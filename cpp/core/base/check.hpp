// Three kinds of check.  `require` guards the caller's arguments and becomes ValueError in Python.  `alarm` guards what a
// proof must never do: it is on in every build, and becomes certree.exceptions.InternalError.  `CERTREE_DCHECK` guards our
// other assumptions (on in builds with CERTREE_CHECKS, free otherwise).
#pragma once

#include <stdexcept>
#include <string>

namespace certree {

inline void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument(message);
}

// A proof contradicts itself, so no answer can be trusted.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] inline void alarm(const std::string& what) {
  throw InternalError(
      "internal error: " + what +
      ". This is a bug in certree, so that no answer is returned. Please report it, with the data and the "
      "parameters if you can share them.");
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
