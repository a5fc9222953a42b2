// solve_limited() for Python.
#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bindings.hpp"
#include "forest_arrays.hpp"
#include "limit_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using Values = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class Array>
std::vector<Cost> copy_of(const Array& array) {
  return std::vector<Cost>(array.data(), array.data() + array.size());
}

LongMatrix points_of(const LimitResult& result) {
  std::vector<std::int64_t> values;
  for (const LimitTree& t : result.trees) values.insert(values.end(), t.point.begin(), t.point.end());
  const std::size_t n = result.trees.size(), width = n == 0 ? 0 : values.size() / n;
  return to_longs<LongMatrix>(std::move(values), {n, width});
}

LimitTask task_of(const Values& values, const std::optional<Vector<std::int64_t>>& label_min, const Matrix& planes,
                  const Matrix& multipliers, const Matrix& corners, const std::optional<Vector<std::int64_t>>& scales,
                  const std::optional<Vector<std::int64_t>>& finer, const std::optional<Vector<std::int64_t>>& digits,
                  const std::optional<Vector<std::int64_t>>& digit_bits) {
  LimitTask task;
  task.n_labels = values.shape(1);
  task.n_quantities = values.shape(2);
  task.n_planes = planes.shape(0);
  if (planes.shape(1) != task.width())
    throw std::invalid_argument("planes must have one column per quantity and one for splits");
  if (multipliers.shape(0) > 0 && multipliers.shape(1) != task.n_planes)
    throw std::invalid_argument("multipliers must have one column per plane");
  if (corners.shape(1) != task.n_planes) throw std::invalid_argument("corners must have one column per plane");
  task.planes = copy_of(planes);
  task.multipliers = copy_of(multipliers);
  task.corners = copy_of(corners);
  if (scales) task.scales = copy_of(*scales);
  if (label_min) task.label_min = copy_of(*label_min);
  if (finer) task.finer = copy_of(*finer);
  if (digits) task.digits = copy_of(*digits);
  if (digit_bits) task.digit_bits = copy_of(*digit_bits);
  return task;
}

LimitResult solve_from_python(
    const Columns& columns, const Values& values, const std::optional<Vector<std::int64_t>>& row_counts,
    const std::optional<Matrix>& label_counts, const std::optional<Vector<std::int64_t>>& label_min,
    const Matrix& planes, const Matrix& multipliers, const Matrix& corners,
    const std::optional<Vector<std::int64_t>>& scales, const std::optional<Vector<std::int64_t>>& finer,
    const std::optional<Vector<std::int64_t>>& digits, const std::optional<Vector<std::int64_t>>& digit_bits,
    const OptionDict& given, nb::object callback) {
  const std::size_t n = columns.shape(0);
  if (values.shape(0) != n) throw std::invalid_argument("values and columns differ in length");
  if (row_counts && row_counts->shape(0) != n) throw std::invalid_argument("row_counts and columns differ in length");
  if (label_counts && (label_counts->shape(0) != n || label_counts->shape(1) != values.shape(1)))
    throw std::invalid_argument("label_counts must have a row per row and a column per label");
  const LimitTask task = task_of(values, label_min, planes, multipliers, corners, scales, finer, digits, digit_bits);
  LimitTable table;
  table.table.columns = columns.data();
  table.table.n_rows = static_cast<std::int64_t>(n);
  table.table.n_columns = static_cast<std::int64_t>(columns.shape(1));
  table.table.row_stride = columns.stride(0);
  table.table.column_stride = columns.stride(1);
  table.values = values.data();
  table.row_counts = row_counts ? row_counts->data() : nullptr;
  table.label_counts = label_counts ? label_counts->data() : nullptr;
  const Options options = read_options(given);
  PythonObserver observer(std::move(callback));
  LimitResult result = [&] {
    nb::gil_scoped_release release;
    return solve_limited(table, task, options, [&](const LimitEvent& event) { return tell_points(observer, event); });
  }();
  if (observer.error()) std::rethrow_exception(observer.error());
  return result;
}

}  // namespace

void bind_limit(nb::module_& m) {
  nb::class_<LimitResult>(m, "LimitResult", "The best tree within budget, or the front of objective and gap.")
      .def_prop_ro("status", [](const LimitResult& r) { return std::string(status_name(r.status)); })
      .def_prop_ro("points", &points_of, nb::rv_policy::move)
      .def_prop_ro(
          "offsets", [](const LimitResult& r) { return offsets_of(r.trees); }, nb::rv_policy::move)
      .def_prop_ro(
          "test", [](const LimitResult& r) { return nodes_of(r.trees, &TreeArrays::test); }, nb::rv_policy::move)
      .def_prop_ro(
          "first_child", [](const LimitResult& r) { return nodes_of(r.trees, &TreeArrays::first_child); },
          nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const LimitResult& r) { return nodes_of(r.trees, &TreeArrays::label); }, nb::rv_policy::move)
      .def_ro("seconds", &LimitResult::seconds)
      .def_prop_ro("counters", [](const LimitResult& r) { return counters_to_dict(r.counters); })
      .def_prop_ro("history", [](const LimitResult& r) { return point_history(r.history); });
  m.def("solve_limited", &solve_from_python, nb::arg("columns"), nb::arg("values"), nb::arg("row_counts").none(),
        nb::arg("label_counts").none(), nb::arg("label_min").none(), nb::arg("planes"), nb::arg("multipliers"),
        nb::arg("corners"), nb::arg("scales").none(), nb::arg("finer").none(), nb::arg("digits").none(),
        nb::arg("digit_bits").none(), nb::arg("options"), nb::arg("callback") = nb::none(),
        "The tree with the least objective within the corner, or the front of objective and gap within the corners.");
}

}  // namespace certree
