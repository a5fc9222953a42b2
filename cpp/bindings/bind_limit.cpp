// solve_limited() for Python.
#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "arguments.hpp"
#include "bindings.hpp"
#include "limit_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using Values = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class Array>
std::vector<Cost> copy_of(const Array& array) {
  return std::vector<Cost>(array.data(), array.data() + array.size());
}

std::vector<Cost> copy_of(const MaybeVector& array) { return array ? copy_of(*array) : std::vector<Cost>(); }

LimitTask task_of(const Values& values, const MaybeVector& label_min, const Matrix& planes, const Matrix& multipliers,
                  const Matrix& corners, const MaybeVector& scales, const MaybeVector& finer, const MaybeVector& digits,
                  const MaybeVector& digit_bits) {
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
  task.scales = copy_of(scales);
  task.label_min = copy_of(label_min);
  task.finer = copy_of(finer);
  task.digits = copy_of(digits);
  task.digit_bits = copy_of(digit_bits);
  return task;
}

PointsResult solve_from_python(const Columns& columns, const Values& values, const MaybeVector& row_counts,
                               const std::optional<Matrix>& label_counts, const MaybeVector& label_min,
                               const Matrix& planes, const Matrix& multipliers, const Matrix& corners,
                               const MaybeVector& scales, const MaybeVector& finer, const MaybeVector& digits,
                               const MaybeVector& digit_bits, const OptionDict& prices, const OptionDict& given,
                               nb::object callback) {
  LimitTable table;
  table.table = view_of(columns);
  table.values = rows_of(values, "values", table.table);
  table.row_counts = rows_of(row_counts, "row_counts", table.table);
  table.label_counts = rows_of(label_counts, "label_counts", table.table);
  if (label_counts && label_counts->shape(1) != values.shape(1))
    throw std::invalid_argument("label_counts must have a column per label");
  PriceArguments tests;
  for (auto [key, value] : prices)
    if (!tests.read(nb::cast<std::string>(key), value, table.table.n_columns, table.table.n_rows))
      throw std::invalid_argument("unknown entry of prices");
  tests.check();
  table.tests = tests.tests;
  const LimitTask task = task_of(values, label_min, planes, multipliers, corners, scales, finer, digits, digit_bits);
  const Options options = read_options(given);
  return run_without_gil(std::move(callback), [&](PointObserver observer) {
    return solve_limited(table, task, options, std::move(observer));
  });
}

}  // namespace

void bind_limit(nb::module_& m) {
  m.def("solve_limited", &solve_from_python, nb::arg("columns"), nb::arg("values"), nb::arg("row_counts").none(),
        nb::arg("label_counts").none(), nb::arg("label_min").none(), nb::arg("planes"), nb::arg("multipliers"),
        nb::arg("corners"), nb::arg("scales").none(), nb::arg("finer").none(), nb::arg("digits").none(),
        nb::arg("digit_bits").none(), nb::arg("prices"), nb::arg("options"), nb::arg("callback") = nb::none(),
        "The tree with the least objective within the corner, or the front of objective and gap within the corners.");
}

}  // namespace certree
