// solve_ordered() for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bindings.hpp"
#include "options.hpp"
#include "ordered_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using Ranks = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

OrderedView view_of(const Ranks& ranks, const Vector<std::int32_t>& n_ranks) {
  OrderedView view;
  view.ranks = ranks.data();
  view.n_features = static_cast<std::int32_t>(ranks.shape(0));
  view.n_rows = static_cast<std::int64_t>(ranks.shape(1));
  view.n_ranks = n_ranks.data();
  if (n_ranks.shape(0) != ranks.shape(0)) throw std::invalid_argument("n_ranks and ranks differ in length");
  return view;
}

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

struct Vectors {
  Vectors(const Ranks& ranks, const Vector<std::int32_t>& n_ranks, const Matrix& statistics, const std::string& kind,
          std::int64_t scale, std::vector<Cost> outputs)
      : view(view_of(ranks, n_ranks)) {
    check_length(statistics.shape(0), view, "statistics");
    view.statistics = statistics.data();
    if (kind != "min_label" && kind != "squares") throw std::invalid_argument("kind must be 'min_label' or 'squares'");
    task.kind = kind == "squares" ? VectorKind::squares : VectorKind::least;
    task.n_statistics = static_cast<std::int32_t>(statistics.shape(1));
    task.scale = scale;
    task.outputs = std::move(outputs);
  }
  OrderedView view;
  VectorTask task;
};

template <class Problem>
auto solve_one(const Problem& problem, const OptionDict& given, nb::object callback) {
  const Options options = read_options(given);
  return run_without_gil(std::move(callback), [&](Observer observer) {
    return solve_ordered(problem.view, problem.task, options, std::move(observer));
  });
}

template <class Problem>
auto solve_all_sizes(const Problem& problem, const OptionDict& given, nb::object callback) {
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
  m.def(
      "solve_ordered_vector",
      [](const Ranks& ranks, Numbers n_ranks, const Matrix& statistics, const std::string& kind, std::int64_t scale,
         std::vector<Cost> outputs, const OptionDict& options, nb::object callback) {
        return solve_one(Vectors(ranks, n_ranks, statistics, kind, scale, std::move(outputs)), options,
                         std::move(callback));
      },
      nb::arg("ranks"), nb::arg("n_ranks"), nb::arg("statistics"), nb::arg("kind"), nb::arg("scale"),
      nb::arg("outputs"), nb::arg("options"), nb::arg("callback") = nb::none(),
      "As solve_ordered(), for leaves that cost a function of the sum of their rows' statistics.");
  m.def(
      "solve_ordered_vector_path",
      [](const Ranks& ranks, Numbers n_ranks, const Matrix& statistics, const std::string& kind, std::int64_t scale,
         std::vector<Cost> outputs, const OptionDict& options, nb::object callback) {
        return solve_all_sizes(Vectors(ranks, n_ranks, statistics, kind, scale, std::move(outputs)), options,
                               std::move(callback));
      },
      nb::arg("ranks"), nb::arg("n_ranks"), nb::arg("statistics"), nb::arg("kind"), nb::arg("scale"),
      nb::arg("outputs"), nb::arg("options"), nb::arg("callback") = nb::none(),
      "As solve_ordered_path(), for these leaves.");
}

}  // namespace certree
