// Alarms of the core become certree.exceptions.InternalError; tests plant faults to see them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alarms.hpp"
#include "bindings.hpp"

namespace nb = nanobind;

namespace certree {

void bind_alarms(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const InternalError& error) {
      const nb::object type = nb::module_::import_("certree.exceptions").attr("InternalError");
      PyErr_SetString(type.ptr(), error.what());
    }
  });
  m.def("faults", &faults, "Names of faults that alarms must notice.");
  m.def("plant_fault", &plant_fault, nb::arg("name"), "Let a proof contradict itself: raises InternalError.");
}

}  // namespace certree
