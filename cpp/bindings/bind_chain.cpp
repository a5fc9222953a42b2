// solve_chain() for Python.
#include <nanobind/nanobind.h>

#include "arguments.hpp"
#include "bindings.hpp"
#include "chain_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

ChainResult solve_from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const MaybeVector& weights,
                              const OptionDict& given, std::int64_t fpr_num, std::int64_t fpr_den,
                              nb::object callback) {
  const Options options = read_options(given);
  const TableView table = view_of(columns, row_types, weights);
  const ChainQuestion question{fpr_num, fpr_den};
  return run_without_gil(std::move(callback),
                         [&](Observer observer) { return solve_chain(table, question, options, std::move(observer)); });
}

}  // namespace

void bind_chain(nb::module_& m) {
  m.def("solve_chain", &solve_from_python, nb::arg("columns"), nb::arg("row_types"), nb::arg("weights").none(),
        nb::arg("options"), nb::arg("fpr_num"), nb::arg("fpr_den"), nb::arg("callback") = nb::none(),
        "Least error_scale * (loss of area under the ROC convex hull) + split_penalty * splits.");
}

}  // namespace certree
