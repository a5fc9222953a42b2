// The private extension module certree._core.
#include <nanobind/nanobind.h>

#include "bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "C++ core of certree (private).";
  certree::bind_results(m);
  certree::bind_solver(m);
  certree::bind_multiway(m);
  certree::bind_session(m);
  certree::bind_vector(m);
  certree::bind_chain(m);
  certree::bind_front(m);
  certree::bind_limit(m);
  certree::bind_ordered(m);
  certree::bind_alarms(m);
}
