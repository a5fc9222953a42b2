// solve_front() for Python.
#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "arguments.hpp"
#include "bindings.hpp"
#include "front_solver.hpp"
#include "tree_arrays.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using LongMatrix = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;
using LongArray = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using FrontHistory = nb::typed<nb::list, nb::typed<nb::tuple, double, std::int64_t, std::int64_t>>;

template <class Array>
Array to_longs(std::vector<std::int64_t> values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<std::int64_t>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  return Array(owned->data(), shape, owner);
}

LongMatrix points_of(const std::vector<FrontEntry>& entries) {
  std::vector<std::int64_t> values;
  for (const FrontEntry& e : entries) values.insert(values.end(), {e.fp, e.fn, e.splits});
  return to_longs<LongMatrix>(std::move(values), {entries.size(), 3});
}

LongArray offsets_of(const FrontResult& result) {
  std::vector<std::int64_t> values{0};
  for (const FrontEntry& e : result.entries)
    values.push_back(values.back() + static_cast<std::int64_t>(e.tree.nodes.size()));
  const std::size_t size = values.size();
  return to_longs<LongArray>(std::move(values), {size});
}

template <std::vector<std::int32_t> TreeArrays::* kField>
IntArray nodes_of(const FrontResult& result) {
  std::vector<std::int32_t> values;
  for (const FrontEntry& e : result.entries) {
    const TreeArrays tree = lay_out(e.tree);
    values.insert(values.end(), (tree.*kField).begin(), (tree.*kField).end());
  }
  return to_array(std::move(values));
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
    return solve_front(table, question, options, [&](const FrontEvent& event) {
      return observer.tell([&](nb::dict& info) {
        info["seconds"] = event.seconds;
        info["work"] = event.work;
        info["n_points"] = event.n_points;
      });
    });
  }();
  if (observer.error()) std::rethrow_exception(observer.error());
  return result;
}

FrontHistory history_of(const FrontResult& result) {
  FrontHistory out;
  for (const FrontEvent& e : result.history) out.append(nb::make_tuple(e.seconds, e.work, e.n_points));
  return out;
}

}  // namespace

void bind_front(nb::module_& m) {
  nb::class_<FrontResult>(m, "FrontResult", "The Pareto front of (false positives, false negatives).")
      .def_prop_ro("status", [](const FrontResult& r) { return std::string(status_name(r.status)); })
      .def_prop_ro(
          "points", [](const FrontResult& r) { return points_of(r.entries); }, nb::rv_policy::move)
      .def_prop_ro("offsets", &offsets_of, nb::rv_policy::move)
      .def_prop_ro("test", &nodes_of<&TreeArrays::test>, nb::rv_policy::move)
      .def_prop_ro("first_child", &nodes_of<&TreeArrays::first_child>, nb::rv_policy::move)
      .def_prop_ro("label", &nodes_of<&TreeArrays::label>, nb::rv_policy::move)
      .def_prop_ro(
          "lower_points", [](const FrontResult& r) { return points_of(r.lower); }, nb::rv_policy::move)
      .def_ro("seconds", &FrontResult::seconds)
      .def_prop_ro("counters", [](const FrontResult& r) { return counters_to_dict(r.counters); })
      .def_prop_ro("history", &history_of);
  m.def("solve_front", &solve_from_python, nb::arg("columns"), nb::arg("row_types"), nb::arg("weights").none(),
        nb::arg("options"), nb::arg("dominated").none() = nb::none(), nb::arg("per_splits") = false,
        nb::arg("callback") = nb::none(),
        "Nondominated (fp, fn) over all trees within the options' limits, with a tree for each.");
}

}  // namespace certree
