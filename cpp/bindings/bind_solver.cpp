// solve() and solve_path() for Python.
#include <nanobind/nanobind.h>

#include "arguments.hpp"
#include "bindings.hpp"
#include "options.hpp"
#include "solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

template <auto kSolve>
auto from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
                 const MaybeVector& weights, const OptionDict& given, nb::object callback) {
  const Arguments a(columns, row_types, cost_matrix, weights, given);
  return run_without_gil(std::move(callback),
                         [&](Observer observer) { return kSolve(a.table, a.task, a.options, std::move(observer)); });
}

}  // namespace

void bind_solver(nb::module_& m) {
  m.def("solve", &from_python<&solve>, nb::arg("columns"), nb::arg("row_types"), nb::arg("cost_matrix"),
        nb::arg("weights").none(), nb::arg("options"), nb::arg("callback") = nb::none(),
        "Least error_scale * cost + split_penalty * splits over all trees that the options allow.");
  m.def("solve_path", &from_python<&solve_path>, nb::arg("columns"), nb::arg("row_types"), nb::arg("cost_matrix"),
        nb::arg("weights").none(), nb::arg("options"), nb::arg("callback") = nb::none(),
        "Least leaf cost for every number of splits, with trees.");
  m.def("switches", &describe_switches, "Techniques that can be switched off, and what they do.");
  m.def("counters", &describe_counters, "Work counters of a result, and what they count.");
  m.def("build_info", &describe_build, "How the extension was built, and which checks of itself it carries.");
  m.def("fingerprint_seed", &fingerprint_seed, "The key of fingerprints that this process has drawn.");
  m.def("isas", &available_isas, "Instruction sets that this processor can run.");
}

}  // namespace certree
