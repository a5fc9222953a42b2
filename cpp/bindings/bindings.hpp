// One function per binding file.
#pragma once

#include <nanobind/nanobind.h>

namespace certree {

void bind_results(nanobind::module_& m);
void bind_solver(nanobind::module_& m);
void bind_multiway(nanobind::module_& m);
void bind_session(nanobind::module_& m);
void bind_vector(nanobind::module_& m);
void bind_chain(nanobind::module_& m);
void bind_front(nanobind::module_& m);
void bind_limit(nanobind::module_& m);
void bind_ordered(nanobind::module_& m);
void bind_alarms(nanobind::module_& m);

}  // namespace certree
