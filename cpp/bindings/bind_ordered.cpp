// solve_ordered() and solve_ordered_path() for Python.
#include <nanobind/nanobind.h>

#include "arguments.hpp"
#include "bindings.hpp"
#include "options.hpp"
#include "ordered_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

void check_length(std::size_t length, const OrderedView& view, const char* name) {
  if (static_cast<std::int64_t>(length) != view.n_rows)
    throw std::invalid_argument(std::string(name) + " and ranks differ in length");
}

struct Types {
  Types(const Ranks& ranks, const Vector<std::int32_t>& n_ranks, const Vector<std::int32_t>& row_types,
        const Matrix& cost_matrix, const MaybeVector& weights)
      : view(view_of(ranks, n_ranks)), task(task_of(cost_matrix)) {
    check_length(row_types.shape(0), view, "row_types");
    if (weights) check_length(weights->shape(0), view, "weights");
    view.row_types = row_types.data();
    view.weights = weights ? weights->data() : nullptr;
  }
  OrderedView view;
  CountTask task;
};

auto solve_one(const Types& problem, const OptionDict& given, nb::object callback) {
  const Options options = read_options(given);
  return run_without_gil(std::move(callback), [&](Observer observer) {
    return solve_ordered(problem.view, problem.task, options, std::move(observer));
  });
}

auto solve_all_sizes(const Types& problem, const OptionDict& given, nb::object callback) {
  const Options options = read_options(given);
  return run_without_gil(std::move(callback), [&](Observer observer) {
    return solve_ordered_path(problem.view, problem.task, options, std::move(observer));
  });
}

}  // namespace

void bind_ordered(nb::module_& m) {
  using Numbers = const Vector<std::int32_t>&;
  m.def(
      "solve_ordered",
      [](const Ranks& ranks, Numbers n_ranks, Numbers row_types, const Matrix& cost_matrix, const MaybeVector& weights,
         const OptionDict& options, nb::object callback) {
        return solve_one(Types(ranks, n_ranks, row_types, cost_matrix, weights), options, std::move(callback));
      },
      nb::arg("ranks"), nb::arg("n_ranks"), nb::arg("row_types"), nb::arg("cost_matrix"), nb::arg("weights").none(),
      nb::arg("options"), nb::arg("callback") = nb::none(),
      "As solve(), for trees whose tests are thresholds: a test holds where the rank is at most its position.");
  m.def(
      "solve_ordered_path",
      [](const Ranks& ranks, Numbers n_ranks, Numbers row_types, const Matrix& cost_matrix, const MaybeVector& weights,
         const OptionDict& options, nb::object callback) {
        return solve_all_sizes(Types(ranks, n_ranks, row_types, cost_matrix, weights), options, std::move(callback));
      },
      nb::arg("ranks"), nb::arg("n_ranks"), nb::arg("row_types"), nb::arg("cost_matrix"), nb::arg("weights").none(),
      nb::arg("options"), nb::arg("callback") = nb::none(), "As solve_path(), with thresholds as tests.");
}

}  // namespace certree
