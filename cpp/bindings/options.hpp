// A dict of options becomes an Options struct; names that are not known are refused.
#pragma once

#include <nanobind/nanobind.h>

#include "solver.hpp"

namespace certree {

Options read_options(const nanobind::dict& given);
// name -> what it does, for every technique that can be switched off.
nanobind::dict describe_switches();
nanobind::dict describe_counters();
nanobind::dict counters_to_dict(const Counters& counters);
nanobind::list available_isas();

}  // namespace certree
