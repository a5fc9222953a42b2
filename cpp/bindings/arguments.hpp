// What the bindings of all kinds of solve share: arrays in, arrays out, the GIL released, signals handled.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "options.hpp"
#include "solver.hpp"

namespace certree {

using Columns = nanobind::ndarray<const std::uint8_t, nanobind::ndim<2>, nanobind::device::cpu>;
template <class T>
using Vector = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Matrix = nanobind::ndarray<const std::int64_t, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using IntArray = nanobind::ndarray<nanobind::numpy, std::int32_t, nanobind::ndim<1>>;
using History = nanobind::typed<nanobind::list, nanobind::typed<nanobind::tuple, double, std::int64_t, Cost, Cost>>;

inline IntArray to_array(std::vector<std::int32_t> values) {
  auto* owned = new std::vector<std::int32_t>(std::move(values));
  nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  return IntArray(owned->data(), {owned->size()}, owner);
}

inline History history_to_list(const std::vector<ProgressEvent>& history) {
  History out;
  for (const ProgressEvent& e : history) out.append(nanobind::make_tuple(e.seconds, e.work, e.upper, e.lower));
  return out;
}

// Signals are handled by Python's main thread only; elsewhere PyErr_CheckSignals does nothing.
class PythonObserver {
 public:
  explicit PythonObserver(nanobind::object callback) : callback_(std::move(callback)) {}

  bool operator()(const ProgressEvent& event) {
    return tell([&](nanobind::dict& info) {
      info["seconds"] = event.seconds;
      info["work"] = event.work;
      info["upper_bound"] = event.upper;
      info["lower_bound"] = event.lower;
    });
  }
  // `describe(info)` fills what the callback is told.
  template <class Describe>
  bool tell(Describe describe) {
    nanobind::gil_scoped_acquire gil;
    // Whether Ctrl-C raises or asks for the best tree so far is up to the handler (certree/engine/_budget.py).
    if (PyErr_CheckSignals() != 0) {
      error_ = std::make_exception_ptr(nanobind::python_error());
      return true;
    }
    if (callback_.is_none()) return false;
    nanobind::dict info;
    describe(info);
    try {
      return nanobind::cast<bool>(nanobind::bool_(callback_(info)));
    } catch (...) {
      error_ = std::current_exception();
      return true;
    }
  }
  std::exception_ptr error() const { return error_; }

 private:
  nanobind::object callback_;
  std::exception_ptr error_;
};

inline TableView view_of(const Columns& columns, const Vector<std::int32_t>& row_types,
                         const std::optional<Vector<std::int64_t>>& weights) {
  if (row_types.shape(0) != columns.shape(0)) throw std::invalid_argument("row_types and columns differ in length");
  if (weights && weights->shape(0) != columns.shape(0))
    throw std::invalid_argument("weights and columns differ in length");
  TableView table;
  table.columns = columns.data();
  table.n_rows = static_cast<std::int64_t>(columns.shape(0));
  table.n_columns = static_cast<std::int64_t>(columns.shape(1));
  table.row_stride = columns.stride(0);
  table.column_stride = columns.stride(1);
  table.row_types = row_types.data();
  table.weights = weights ? weights->data() : nullptr;
  return table;
}

inline CountTask task_of(const Matrix& cost_matrix) {
  return CountTask(static_cast<std::int32_t>(cost_matrix.shape(0)), static_cast<std::int32_t>(cost_matrix.shape(1)),
                   std::vector<Cost>(cost_matrix.data(), cost_matrix.data() + cost_matrix.size()));
}

// The arguments that every kind of solve shares; the arrays outlive the call.
struct Arguments {
  Arguments(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
            const std::optional<Vector<std::int64_t>>& weights, const OptionDict& given)
      : options(read_options(given)), task(task_of(cost_matrix)), table(view_of(columns, row_types, weights)) {}
  Options options;
  CountTask task;
  TableView table;
};

// Runs `solve(observer)` without the GIL; an exception of the callback comes back as itself.
template <class Solve>
auto run_without_gil(nanobind::object callback, Solve solve) {
  PythonObserver observer(std::move(callback));
  auto result = [&] {
    nanobind::gil_scoped_release release;
    return solve([&](const ProgressEvent& event) { return observer(event); });
  }();
  if (observer.error()) std::rethrow_exception(observer.error());
  return result;
}

}  // namespace certree
