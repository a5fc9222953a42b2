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
    try {
      question.leaf_penalty = nb::cast<Cost>(options["leaf_penalty"]);
    } catch (const nb::cast_error&) {
      throw nb::type_error("option 'leaf_penalty' has the wrong type or does not fit its range");
    }
    nb::del(options["leaf_penalty"]);
  }
  return question;
}

MultiwayResult solve_from_python(const Columns& columns, const Vector<std::int32_t>& row_types,
                                 const Matrix& cost_matrix, const std::optional<Vector<std::int64_t>>& weights,
                                 const IntArrays& tests, const OptionDict& given, nb::object callback) {
  OptionDict options;
  options.update(given);
  const MultiwayQuestion question = take_question(tests, options);
  const Arguments a(columns, row_types, cost_matrix, weights, options);
  return run_without_gil(std::move(callback), [&](Observer observer) {
    return solve_multiway(a.table, a.task, question, a.options, std::move(observer));
  });
}

template <std::int32_t MultiwayTreeNode::* kField>
IntArray node_array(const MultiwayResult& result) {
  std::vector<std::int32_t> values;
  for (const MultiwayTreeNode& node : result.tree.nodes) values.push_back(node.*kField);
  return to_array(std::move(values));
}

}  // namespace

void bind_multiway(nb::module_& m) {
  nb::class_<MultiwayResult>(m, "MultiwayResult", "What a multiway solve found, in the caller's units.")
      .def_prop_ro("status", [](const MultiwayResult& r) { return std::string(status_name(r.status)); })
      .def_ro("lower_bound", &MultiwayResult::lower_bound)
      .def_ro("upper_bound", &MultiwayResult::upper_bound)
      .def_ro("seconds", &MultiwayResult::seconds)
      .def_prop_ro("test", &node_array<&MultiwayTreeNode::test>, nb::rv_policy::move)
      .def_prop_ro("first_child", &node_array<&MultiwayTreeNode::first_child>, nb::rv_policy::move)
      .def_prop_ro("label", &node_array<&MultiwayTreeNode::label>, nb::rv_policy::move)
      .def_prop_ro("counters", [](const MultiwayResult& r) { return counters_to_dict(r.counters); })
      .def_prop_ro("history", [](const MultiwayResult& r) { return history_to_list(r.history); });
  m.def("solve_multiway", &solve_from_python, nb::arg("columns"), nb::arg("row_types"), nb::arg("cost_matrix"),
        nb::arg("weights").none(), nb::arg("tests"), nb::arg("options"), nb::arg("callback") = nb::none(),
        "Least error_scale * cost + split_penalty * splits + leaf_penalty * leaves over all trees of these tests.");
}

}  // namespace certree
