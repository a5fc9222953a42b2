// What the bindings of all entry points share: arrays in, the GIL released, signals handled.  bind_results.cpp is the way back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"
#include "ordered_solver.hpp"
#include "solver.hpp"
#include "vector_solver.hpp"

namespace certree {

using Columns = nanobind::ndarray<const std::uint8_t, nanobind::ndim<2>, nanobind::device::cpu>;
template <class T>
using Vector = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Matrix = nanobind::ndarray<const std::int64_t, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using MaybeVector = std::optional<Vector<std::int64_t>>;
using Ranks = nanobind::ndarray<const std::int32_t, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

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
  bool operator()(const PointEvent& event) {
    return tell([&](nanobind::dict& info) {
      info["seconds"] = event.seconds;
      info["work"] = event.work;
      info["n_points"] = event.n_points;
    });
  }
  std::exception_ptr error() const { return error_; }

 private:
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
  nanobind::object callback_;
  std::exception_ptr error_;
};

inline TableView view_of(const Columns& columns) {
  TableView table;
  table.columns = columns.data();
  table.n_rows = static_cast<std::int64_t>(columns.shape(0));
  table.n_columns = static_cast<std::int64_t>(columns.shape(1));
  table.row_stride = columns.stride(0);
  table.column_stride = columns.stride(1);
  return table;
}

inline OrderedView view_of(const Ranks& ranks, const Vector<std::int32_t>& n_ranks) {
  OrderedView view;
  view.ranks = ranks.data();
  view.n_features = static_cast<std::int32_t>(ranks.shape(0));
  view.n_rows = static_cast<std::int64_t>(ranks.shape(1));
  view.n_ranks = n_ranks.data();
  if (n_ranks.shape(0) != ranks.shape(0)) throw std::invalid_argument("n_ranks and ranks differ in length");
  return view;
}

// The entries of an array with one row per row of the table.
template <class Array>
auto* rows_of(const Array& array, const char* name, const TableView& table) {
  if (static_cast<std::int64_t>(array.shape(0)) != table.n_rows)
    throw std::invalid_argument(std::string(name) + " and columns differ in length");
  return array.data();
}
template <class Array>
auto* rows_of(const std::optional<Array>& array, const char* name, const TableView& table) {
  return array ? rows_of(*array, name, table) : nullptr;
}

// An array of `length` numbers (-1: of any length).
template <class T>
Vector<T> read_vector(nanobind::handle value, const std::string& name, std::int64_t length = -1) {
  Vector<T> array;
  if (!nanobind::try_cast(value, array))
    throw nanobind::type_error(("'" + name + "' is not an array of the right type").c_str());
  if (length >= 0 && static_cast<std::int64_t>(array.shape(0)) != length)
    throw std::invalid_argument("'" + name + "' has " + std::to_string(array.shape(0)) + " entries, expected " +
                                std::to_string(length));
  return array;
}

// Prices of tests, entry by entry; the arrays outlive the call.
class PriceArguments {
 public:
  // True: the entry belongs to them.  `n_weights`: rows, or types of rows.
  bool read(const std::string& name, nanobind::handle value, std::int64_t n_columns, std::int64_t n_weights) {
    if (name == "feature") {
      tests.feature = keep(feature_, read_vector<std::int32_t>(value, name, n_columns));
    } else if (name == "group") {
      tests.group = keep(group_, read_vector<std::int32_t>(value, name));
    } else if (name == "price") {
      tests.price = keep(price_, read_vector<std::int64_t>(value, name));
      tests.n_features = static_cast<std::int64_t>(price_->shape(0));
    } else if (name == "discounted") {
      tests.discounted = keep(discounted_, read_vector<std::int64_t>(value, name));
    } else if (name == "weights") {
      tests.weights = keep(weights_, read_vector<std::int64_t>(value, name, n_weights));
    } else {
      return false;
    }
    return true;
  }
  // After the last entry.
  void check() const {
    if (!feature_ && !group_ && !price_ && !discounted_) return;
    if (!feature_ || !group_ || !price_ || !discounted_)
      throw std::invalid_argument("test costs need all of feature, group, price and discounted");
    if (group_->shape(0) != price_->shape(0) || discounted_->shape(0) != price_->shape(0))
      throw std::invalid_argument("group, price and discounted need one entry per feature");
  }

  TestCostTable tests;

 private:
  template <class T>
  static const T* keep(std::optional<Vector<T>>& place, Vector<T> array) {
    place = std::move(array);
    return place->data();
  }

  std::optional<Vector<std::int32_t>> feature_, group_;
  MaybeVector price_, discounted_, weights_;
};

inline TableView view_of(const Columns& columns, const Vector<std::int32_t>& row_types, const MaybeVector& weights) {
  TableView table = view_of(columns);
  table.row_types = rows_of(row_types, "row_types", table);
  table.weights = rows_of(weights, "weights", table);
  return table;
}

inline CountTask task_of(const Matrix& cost_matrix) {
  return CountTask(static_cast<std::int32_t>(cost_matrix.shape(0)), static_cast<std::int32_t>(cost_matrix.shape(1)),
                   std::vector<Cost>(cost_matrix.data(), cost_matrix.data() + cost_matrix.size()));
}

// The arguments that every kind of solve shares; the arrays outlive the call.
struct Arguments {
  Arguments(const Columns& columns, const Vector<std::int32_t>& row_types, const Matrix& cost_matrix,
            const MaybeVector& weights, const OptionDict& given)
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
    return solve([&](const auto& event) { return observer(event); });
  }();
  if (observer.error()) std::rethrow_exception(observer.error());
  return result;
}

}  // namespace certree
