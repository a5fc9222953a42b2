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

// The options of solve(), `leaf_penalty`, and `test_costs`: prices of tests, with weights per type.
MultiwayQuestion take_question(const IntArrays& tests, std::int64_t n_columns, std::int64_t n_types,
                               PriceArguments& prices, OptionDict& options) {
  MultiwayQuestion question;
  for (const auto& columns : tests) question.tests.emplace_back(columns.data(), columns.data() + columns.shape(0));
  if (options.contains("leaf_penalty")) {
    question.leaf_penalty = read_option<Cost>(options["leaf_penalty"], "leaf_penalty");
    nb::del(options["leaf_penalty"]);
  }
  if (options.contains("test_costs")) {
    for (const auto& [name, value] : nb::cast<nb::dict>(options["test_costs"])) {
      const auto text = nb::cast<std::string>(name);
      if (!prices.read(text, value, n_columns, n_types))
        throw std::invalid_argument("unknown entry of test_costs: " + text);
    }
    prices.check();
    question.prices = prices.tests;
    nb::del(options["test_costs"]);
  }
  return question;
}

template <auto kSolve>
auto from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
                 const MaybeVector& weights, const IntArrays& tests, const OptionDict& given, nb::object callback) {
  OptionDict options;
  options.update(given);
  PriceArguments prices;
  const MultiwayQuestion question = take_question(tests, static_cast<std::int64_t>(columns.shape(1)),
                                                  static_cast<std::int64_t>(cost_matrix.shape(0)), prices, options);
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
