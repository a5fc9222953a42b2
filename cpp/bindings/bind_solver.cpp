// solve() for Python: arrays in, arrays out, the GIL released, Ctrl-C turned into a stop.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "options.hpp"
#include "solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using Columns = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IntArray = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using History = nb::typed<nb::list, nb::typed<nb::tuple, double, std::int64_t, Cost, Cost>>;

// The tree with children side by side: [test, first_child, label].
struct TreeArrays {
  std::vector<std::int32_t> test, first_child, label;
};

TreeArrays lay_out(const Tree& tree) {
  TreeArrays out;
  const std::size_t n = tree.nodes.size();
  out.test.assign(n, -1);
  out.first_child.assign(n, -1);
  out.label.assign(n, -1);
  if (n == 0) return out;  // nothing better than what the caller knew
  std::vector<std::pair<std::int32_t, std::size_t>> queue{{0, 0}};  // (node, position)
  std::int32_t next = 1;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto [index, position] = queue[head];
    const TreeNode& node = tree.nodes[static_cast<std::size_t>(index)];
    out.test[position] = node.column;
    out.label[position] = node.label;
    if (node.column < 0) continue;
    out.first_child[position] = next;
    queue.emplace_back(node.yes, static_cast<std::size_t>(next));
    queue.emplace_back(node.no, static_cast<std::size_t>(next + 1));
    next += 2;
  }
  return out;
}

IntArray to_array(std::vector<std::int32_t> values) {
  auto* owned = new std::vector<std::int32_t>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  return IntArray(owned->data(), {owned->size()}, owner);
}

History history_to_list(const std::vector<ProgressEvent>& history) {
  History out;
  for (const ProgressEvent& e : history) out.append(nb::make_tuple(e.seconds, e.work, e.upper, e.lower));
  return out;
}

// Signals are handled by Python's main thread only; elsewhere PyErr_CheckSignals does nothing.
class PythonObserver {
 public:
  PythonObserver(nb::object callback, const Options& options) : callback_(std::move(callback)), options_(options) {}

  bool operator()(const ProgressEvent& event) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
      if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        error_ = std::make_exception_ptr(nb::python_error());
      } else {
        PyErr_Clear();
      }
      return true;
    }
    if (callback_.is_none()) return false;
    nb::dict info;
    info["seconds"] = event.seconds;
    info["work"] = event.work;
    info["upper_bound"] = event.upper;
    info["lower_bound"] = event.lower;
    try {
      return nb::cast<bool>(nb::bool_(callback_(info)));
    } catch (...) {
      error_ = std::current_exception();
      return true;
    }
  }
  std::exception_ptr error() const { return error_; }

 private:
  nb::object callback_;
  const Options& options_;
  std::exception_ptr error_;
};

// The arguments that every kind of solve shares; the arrays outlive the call.
struct Arguments {
  Arguments(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
            const std::optional<Vector<std::int64_t>>& weights, const OptionDict& given)
      : options(read_options(given)),
        task(static_cast<std::int32_t>(cost_matrix.shape(0)), static_cast<std::int32_t>(cost_matrix.shape(1)),
             std::vector<Cost>(cost_matrix.data(), cost_matrix.data() + cost_matrix.size())) {
    if (row_types.shape(0) != columns.shape(0)) throw std::invalid_argument("row_types and columns differ in length");
    if (weights && weights->shape(0) != columns.shape(0))
      throw std::invalid_argument("weights and columns differ in length");
    table.columns = columns.data();
    table.n_rows = static_cast<std::int64_t>(columns.shape(0));
    table.n_columns = static_cast<std::int64_t>(columns.shape(1));
    table.row_stride = columns.stride(0);
    table.column_stride = columns.stride(1);
    table.row_types = row_types.data();
    table.weights = weights ? weights->data() : nullptr;
  }
  Options options;
  CountTask task;
  TableView table;
};

// Runs `solve(observer)` without the GIL; an exception of the callback comes back as itself.
template <class Solve>
auto run_without_gil(nb::object callback, const Options& options, Solve solve) {
  PythonObserver observer(std::move(callback), options);
  auto result = [&] {
    nb::gil_scoped_release release;
    return solve([&](const ProgressEvent& event) { return observer(event); });
  }();
  if (observer.error()) std::rethrow_exception(observer.error());
  return result;
}

Result solve_from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
                         const std::optional<Vector<std::int64_t>>& weights, const OptionDict& given,
                         nb::object callback) {
  const Arguments a(columns, row_types, cost_matrix, weights, given);
  return run_without_gil(std::move(callback), a.options,
                         [&](Observer observer) { return solve(a.table, a.task, a.options, std::move(observer)); });
}

PathResult path_from_python(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
                            const std::optional<Vector<std::int64_t>>& weights, const OptionDict& given,
                            nb::object callback) {
  const Arguments a(columns, row_types, cost_matrix, weights, given);
  return run_without_gil(std::move(callback), a.options, [&](Observer observer) {
    return solve_path(a.table, a.task, a.options, std::move(observer));
  });
}

nb::list entries_to_list(const std::vector<PathEntry>& entries) {
  nb::list out;
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
        "Least error_scale * cost + split_penalty * splits over all trees within the options' limits.");
  nb::class_<PathResult>(m, "PathResult", "The error-versus-splits curve.")
      .def_prop_ro("status", [](const PathResult& r) { return std::string(status_name(r.status)); })
      .def_prop_ro("entries", [](const PathResult& r) { return entries_to_list(r.entries); },
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
