// solve_front() for Python.
#include <nanobind/nanobind.h>

#include <optional>

#include "arguments.hpp"
#include "bindings.hpp"
#include "front_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

FrontQuestion question_of(const std::optional<Matrix>& dominated, bool per_splits) {
  FrontQuestion question;
  question.per_splits = per_splits;
  if (!dominated) return question;
  if (dominated->shape(1) != 2) throw std::invalid_argument("dominated must have two columns, fp and fn");
  for (std::size_t i = 0; i < dominated->shape(0); ++i)
    question.dominated.push_back({dominated->data()[2 * i], dominated->data()[2 * i + 1], kNoPlan});
  return question;
}

FrontResult solve_from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const MaybeVector& weights,
                              const OptionDict& given, const std::optional<Matrix>& dominated, bool per_splits,
                              nb::object callback) {
  const TableView table = view_of(columns, row_types, weights);
  const Options options = read_options(given);
  const FrontQuestion question = question_of(dominated, per_splits);
  return run_without_gil(std::move(callback), [&](PointObserver observer) {
    return solve_front(table, question, options, std::move(observer));
  });
}

}  // namespace

void bind_front(nb::module_& m) {
  m.def("solve_front", &solve_from_python, nb::arg("columns"), nb::arg("row_types"), nb::arg("weights").none(),
        nb::arg("options"), nb::arg("dominated").none() = nb::none(), nb::arg("per_splits") = false,
        nb::arg("callback") = nb::none(),
        "Nondominated (fp, fn) over all trees that the options allow, with a tree for each.");
}

}  // namespace certree
