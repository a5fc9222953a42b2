// solve_front() for Python.
#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "arguments.hpp"
#include "bindings.hpp"
#include "forest_arrays.hpp"
#include "front_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

LongMatrix points_of(const std::vector<FrontEntry>& entries) {
  std::vector<std::int64_t> values;
  for (const FrontEntry& e : entries) values.insert(values.end(), {e.fp, e.fn, e.splits});
  return to_longs<LongMatrix>(std::move(values), {entries.size(), 3});
}

FrontQuestion question_of(const std::optional<Matrix>& dominated, bool per_splits) {
  FrontQuestion question;
  question.per_splits = per_splits;
  if (!dominated) return question;
  if (dominated->shape(1) != 2) throw std::invalid_argument("dominated must have two columns, fp and fn");
  for (std::size_t i = 0; i < dominated->shape(0); ++i)
    question.dominated.push_back({dominated->data()[2 * i], dominated->data()[2 * i + 1], kNoPlan});
  return question;
}

FrontResult solve_from_python(const Columns& columns, const Vector<std::int32_t>& row_types,
                              const std::optional<Vector<std::int64_t>>& weights, const OptionDict& given,
                              const std::optional<Matrix>& dominated, bool per_splits, nb::object callback) {
  const TableView table = view_of(columns, row_types, weights);
  const Options options = read_options(given);
  const FrontQuestion question = question_of(dominated, per_splits);
  PythonObserver observer(std::move(callback));
  FrontResult result = [&] {
    nb::gil_scoped_release release;
    return solve_front(table, question, options, [&](const FrontEvent& event) { return tell_points(observer, event); });
  }();
  if (observer.error()) std::rethrow_exception(observer.error());
  return result;
}

}  // namespace

void bind_front(nb::module_& m) {
  nb::class_<FrontResult>(m, "FrontResult", "The Pareto front of (false positives, false negatives).")
      .def_prop_ro("status", [](const FrontResult& r) { return std::string(status_name(r.status)); })
      .def_prop_ro(
          "points", [](const FrontResult& r) { return points_of(r.entries); }, nb::rv_policy::move)
      .def_prop_ro(
          "offsets", [](const FrontResult& r) { return offsets_of(r.entries); }, nb::rv_policy::move)
      .def_prop_ro(
          "test", [](const FrontResult& r) { return nodes_of(r.entries, &TreeArrays::test); }, nb::rv_policy::move)
      .def_prop_ro(
          "first_child", [](const FrontResult& r) { return nodes_of(r.entries, &TreeArrays::first_child); },
          nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const FrontResult& r) { return nodes_of(r.entries, &TreeArrays::label); }, nb::rv_policy::move)
      .def_prop_ro(
          "lower_points", [](const FrontResult& r) { return points_of(r.lower); }, nb::rv_policy::move)
      .def_ro("seconds", &FrontResult::seconds)
      .def_prop_ro("counters", [](const FrontResult& r) { return counters_to_dict(r.counters); })
      .def_prop_ro("history", [](const FrontResult& r) { return point_history(r.history); });
  m.def("solve_front", &solve_from_python, nb::arg("columns"), nb::arg("row_types"), nb::arg("weights").none(),
        nb::arg("options"), nb::arg("dominated").none() = nb::none(), nb::arg("per_splits") = false,
        nb::arg("callback") = nb::none(),
        "Nondominated (fp, fn) over all trees within the options' budget, with a tree for each.");
}

}  // namespace certree
