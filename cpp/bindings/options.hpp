// A dict of options becomes an Options struct; names that are not known are refused.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "solver.hpp"

namespace certree {

// Typed, so that the generated stub says what is inside.
using OptionDict = nanobind::typed<nanobind::dict, nanobind::str, nanobind::object>;
using TextDict = nanobind::typed<nanobind::dict, nanobind::str, nanobind::str>;
using CountDict = nanobind::typed<nanobind::dict, nanobind::str, nanobind::int_>;
using InfoDict = nanobind::typed<nanobind::dict, nanobind::str, nanobind::object>;
using TextList = nanobind::typed<nanobind::list, nanobind::str>;

// The value of one option.
template <class T>
T read_option(nanobind::handle value, const std::string& name) {
  try {
    return nanobind::cast<T>(value);
  } catch (const nanobind::cast_error&) {
    throw nanobind::type_error(("option '" + name + "' has the wrong type or does not fit its range").c_str());
  }
}

Options read_options(const OptionDict& given);
// name -> what it does, for every technique that can be switched off.
TextDict describe_switches();
TextDict describe_counters();
CountDict counters_to_dict(const Counters& counters);
TextList available_isas();
// How the extension was built: compiler, architecture, and which checks it carries.
InfoDict describe_build();

}  // namespace certree
