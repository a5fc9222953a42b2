// solve_multiway() for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bindings.hpp"
#include "multiway_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using IntArrays = std::vector<Vector<std::int32_t>>;

// The options of solve(), and `leaf_penalty`.
MultiwayQuestion take_question(const IntArrays& tests, OptionDict& options) {
  MultiwayQuestion question;
  for (const auto& columns : tests) question.tests.emplace_back(columns.data(), columns.data() + columns.shape(0));
  if (options.contains("leaf_penalty")) {
    question.leaf_penalty = read_option<Cost>(options["leaf_penalty"], "leaf_penalty");
    nb::del(options["leaf_penalty"]);
  }
  return question;
}

template <auto kSolve>
auto from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
                 const MaybeVector& weights, const IntArrays& tests, const OptionDict& given, nb::object callback) {
  OptionDict options;
  options.update(given);
  const MultiwayQuestion question = take_question(tests, options);
  const Arguments a(columns, row_types, cost_matrix, weights, options);
  return run_without_gil(std::move(callback), [&](Observer observer) {
    return kSolve(a.table, a.task, question, a.options, std::move(observer));
  });
}

}  // namespace

void bind_multiway(nb::module_& m) {
  m.def("solve_multiway", &from_python<&solve_multiway>, nb::arg("columns"), nb::arg("row_types"),
        nb::arg("cost_matrix"), nb::arg("weights").none(), nb::arg("tests"), nb::arg("options"),
        nb::arg("callback") = nb::none(),
        "Least error_scale * cost + split_penalty * splits + leaf_penalty * leaves over all trees of these tests.");
  m.def("solve_multiway_path", &from_python<&solve_multiway_path>, nb::arg("columns"), nb::arg("row_types"),
        nb::arg("cost_matrix"), nb::arg("weights").none(), nb::arg("tests"), nb::arg("options"),
        nb::arg("callback") = nb::none(), "Least leaf cost of trees of these tests for every number of splits.");
}

}  // namespace certree
