// solve_ordered() for Python.
#include <nanobind/nanobind.h>

#include "arguments.hpp"
#include "bindings.hpp"
#include "options.hpp"
#include "ordered_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using Ranks = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

OrderedView view_of(const Ranks& ranks, const Vector<std::int32_t>& n_ranks, const Vector<std::int32_t>& row_types,
                    const MaybeVector& weights) {
  OrderedView view;
  view.ranks = ranks.data();
  view.n_features = static_cast<std::int32_t>(ranks.shape(0));
  view.n_rows = static_cast<std::int64_t>(ranks.shape(1));
  view.n_ranks = n_ranks.data();
  view.row_types = row_types.data();
  view.weights = weights ? weights->data() : nullptr;
  if (n_ranks.shape(0) != ranks.shape(0)) throw std::invalid_argument("n_ranks and ranks differ in length");
  if (row_types.shape(0) != ranks.shape(1)) throw std::invalid_argument("row_types and ranks differ in length");
  if (weights && weights->shape(0) != ranks.shape(1)) throw std::invalid_argument("weights and ranks differ in length");
  return view;
}

auto from_python(const Ranks& ranks, const Vector<std::int32_t>& n_ranks, const Vector<std::int32_t>& row_types,
                 const Matrix& cost_matrix, const MaybeVector& weights, const OptionDict& given, nb::object callback) {
  const OrderedView view = view_of(ranks, n_ranks, row_types, weights);
  const Options options = read_options(given);
  const CountTask task = task_of(cost_matrix);
  return run_without_gil(std::move(callback),
                         [&](Observer observer) { return solve_ordered(view, task, options, std::move(observer)); });
}

}  // namespace

void bind_ordered(nb::module_& m) {
  m.def("solve_ordered", &from_python, nb::arg("ranks"), nb::arg("n_ranks"), nb::arg("row_types"),
        nb::arg("cost_matrix"), nb::arg("weights").none(), nb::arg("options"), nb::arg("callback") = nb::none(),
        "As solve(), for trees whose tests are thresholds: a test holds where the rank is at most its position.");
}

}  // namespace certree
