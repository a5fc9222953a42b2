// solve() and solve_path() for Python.
#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "arguments.hpp"
#include "bindings.hpp"
#include "options.hpp"
#include "solver.hpp"
#include "tree_arrays.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

Result solve_from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
                         const std::optional<Vector<std::int64_t>>& weights, const OptionDict& given,
                         nb::object callback) {
  const Arguments a(columns, row_types, cost_matrix, weights, given);
  return run_without_gil(std::move(callback),
                         [&](Observer observer) { return solve(a.table, a.task, a.options, std::move(observer)); });
}

PathResult path_from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
                            const std::optional<Vector<std::int64_t>>& weights, const OptionDict& given,
                            nb::object callback) {
  const Arguments a(columns, row_types, cost_matrix, weights, given);
  return run_without_gil(std::move(callback), [&](Observer observer) {
    return solve_path(a.table, a.task, a.options, std::move(observer));
  });
}

using Entries = nb::typed<nb::list, nb::typed<nb::tuple, std::int64_t, Cost, Cost, IntArray, IntArray, IntArray>>;

Entries entries_to_list(const std::vector<PathEntry>& entries) {
  Entries out;
  for (const PathEntry& e : entries) {
    TreeArrays tree = lay_out(e.tree);
    out.append(nb::make_tuple(e.splits, e.lower, e.upper, to_array(std::move(tree.test)).cast(nb::rv_policy::move),
                              to_array(std::move(tree.first_child)).cast(nb::rv_policy::move),
                              to_array(std::move(tree.label)).cast(nb::rv_policy::move)));
  }
  return out;
}

}  // namespace

void bind_solver(nb::module_& m) {
  nb::class_<Result>(m, "Result", "What a solve found, in the caller's units.")
      .def_prop_ro("status", [](const Result& r) { return std::string(status_name(r.status)); })
      .def_ro("lower_bound", &Result::lower_bound)
      .def_ro("upper_bound", &Result::upper_bound)
      .def_ro("seconds", &Result::seconds)
      .def_prop_ro(
          "test", [](const Result& r) { return to_array(lay_out(r.tree).test); }, nb::rv_policy::move)
      .def_prop_ro(
          "first_child", [](const Result& r) { return to_array(lay_out(r.tree).first_child); }, nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const Result& r) { return to_array(lay_out(r.tree).label); }, nb::rv_policy::move)
      .def_prop_ro("counters", [](const Result& r) { return counters_to_dict(r.counters); })
      .def_prop_ro("history", [](const Result& r) { return history_to_list(r.history); });
  m.def("solve", &solve_from_python, nb::arg("columns"), nb::arg("row_types"), nb::arg("cost_matrix"),
        nb::arg("weights").none(), nb::arg("options"), nb::arg("callback") = nb::none(),
        "Least error_scale * cost + split_penalty * splits over all trees within the options' budget.");
  nb::class_<PathResult>(m, "PathResult", "The error-versus-splits curve.")
      .def_prop_ro("status", [](const PathResult& r) { return std::string(status_name(r.status)); })
      .def_prop_ro(
          "entries", [](const PathResult& r) { return entries_to_list(r.entries); },
          "(splits, lower, upper, test, first_child, label) for every number of splits that improves.")
      .def_ro("seconds", &PathResult::seconds)
      .def_prop_ro("counters", [](const PathResult& r) { return counters_to_dict(r.counters); });
  m.def("solve_path", &path_from_python, nb::arg("columns"), nb::arg("row_types"), nb::arg("cost_matrix"),
        nb::arg("weights").none(), nb::arg("options"), nb::arg("callback") = nb::none(),
        "Least leaf cost for every number of splits, with trees.");
  m.def("switches", &describe_switches, "Techniques that can be switched off, and what they do.");
  m.def("counters", &describe_counters, "Work counters of a result, and what they count.");
  m.def("build_info", &describe_build, "How the extension was built, and which checks of itself it carries.");
  m.def("isas", &available_isas, "Instruction sets that this processor can run.");
}

}  // namespace certree
