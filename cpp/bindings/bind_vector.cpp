// VectorSession, solve_vector(), solve_ordered_vector() and their paths for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bindings.hpp"
#include "options.hpp"
#include "vector_solver.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using SumArray = nb::ndarray<nb::numpy, const std::int64_t, nb::ndim<2>>;

VectorKind read_kind(const std::string& name) {
  if (name == "min_label") return VectorKind::least;
  if (name == "squares") return VectorKind::squares;
  if (name == "quantile") return VectorKind::quantile;
  if (name == "rates") return VectorKind::rates;
  if (name == "callback") return VectorKind::callback;
  throw std::invalid_argument("kind must be 'min_label', 'squares', 'quantile', 'rates' or 'callback', got '" + name +
                              "'");
}

// The two numbers of a RateLoss.
RateLoss read_rate_loss(nb::handle value) {
  const auto numbers = nb::cast<nb::tuple>(value);
  if (numbers.size() != 2) throw std::invalid_argument("'rate_loss' needs a gain and a ratio");
  return make_rate_loss(nb::cast<double>(numbers[0]), nb::cast<double>(numbers[1]));
}

// What rates save, of events and exposures in each line.
void rate_savings(const Matrix& sums, const nb::object& numbers,
                  nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> saved) {
  const RateLoss loss = read_rate_loss(numbers);
  if (sums.shape(1) < 2 || saved.shape(0) != sums.shape(0))
    throw std::invalid_argument("rate_savings needs two sums and room for one number in each line");
  for (std::size_t k = 0; k < sums.shape(0); ++k) {
    const Cost* line = sums.data() + sums.shape(1) * k;
    saved.data()[k] = saved_by_rate(loss, line[0], line[1]);
  }
}

// The numbers of a LinearLoss: whether a model has one column, ridge and noise of each column, the scale and the largest
// cost.
LinearLoss read_linear_loss(nb::handle value) {
  const auto parts = nb::cast<nb::tuple>(value);
  if (parts.size() != 5) throw std::invalid_argument("'linear_loss' needs a form, ridges, noise, a scale and a limit");
  LinearLoss loss;
  loss.is_simple = nb::cast<bool>(parts[0]);
  loss.ridge = nb::cast<std::vector<double>>(parts[1]);
  loss.noise = nb::cast<std::vector<double>>(parts[2]);
  loss.scale = nb::cast<double>(parts[3]);
  loss.most = nb::cast<Cost>(parts[4]);
  loss.check();
  return loss;
}

void linear_costs(const Matrix& sums, const nb::object& numbers,
                  nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> costs) {
  const LinearLoss loss = read_linear_loss(numbers);
  if (sums.shape(0) != static_cast<std::size_t>(loss.n_statistics()) || costs.shape(0) != sums.shape(1))
    throw std::invalid_argument("linear_costs needs a line for each statistic and room for one cost per column");
  const auto n = static_cast<std::int64_t>(sums.shape(1));
  loss(sums.data(), n, n, costs.data(), nullptr);
}

// A Python function from sums (B, m) to costs and labels, both (B,).  The search runs without the GIL and takes it for
// every call; what the function raises stops the search and comes back as itself.  It may take its time, so the search is
// also stopped where another function, if there is one, says after a call that it must not go on.
class PythonLeaf {
 public:
  PythonLeaf(nb::object function, std::size_t n_statistics) : function_(std::move(function)), n_(n_statistics) {}

  void ask_whether_to_go_on(nb::object function) { goes_on_ = std::move(function); }

  bool operator()(const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t* labels) {
    nb::gil_scoped_acquire gil;
    bool goes_on = true;
    try {
      // The function may keep its argument, so it gets one of its own, one statistic after the other.
      auto* owned = new std::vector<Cost>();
      nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Cost>*>(p); });
      for (std::size_t s = 0; s < n_; ++s)
        owned->insert(owned->end(), sums + static_cast<std::int64_t>(s) * stride,
                      sums + static_cast<std::int64_t>(s) * stride + n);
      nb::object array = nb::cast(SumArray(owned->data(), {static_cast<std::size_t>(n), n_}, owner, {1, n}));
      auto [found_costs, found_labels] =
          nb::cast<std::pair<Vector<std::int64_t>, Vector<std::int32_t>>>(function_(array));
      if (found_costs.shape(0) != static_cast<std::size_t>(n) || found_labels.shape(0) != static_cast<std::size_t>(n))
        throw std::invalid_argument("leaf_function must return one cost and one label for each of " +
                                    std::to_string(n) + " sums");
      std::copy_n(found_costs.data(), n, costs);
      std::copy_n(found_labels.data(), n, labels);
      if (!goes_on_.is_none()) goes_on = nb::cast<bool>(nb::bool_(goes_on_()));
    } catch (...) {
      error_ = std::current_exception();
      throw std::runtime_error("the leaf function failed");
    }
    return goes_on;
  }
  std::exception_ptr error() const { return error_; }

 private:
  nb::object function_;
  nb::object goes_on_ = nb::none();
  std::size_t n_;
  std::exception_ptr error_;
};

struct VectorArguments {
  VectorArguments(const TableView& view, const Matrix& statistics, const std::string& kind,
                  const MaybeVector& row_counts, const nb::dict& extra) {
    table.table = view;
    n_vectors = static_cast<std::int64_t>(statistics.shape(0));
    table.statistics = extra.contains("row_types") ? statistics.data() : rows_of(statistics, "statistics", table.table);
    table.row_counts = rows_of(row_counts, "row_counts", table.table);
    task.kind = read_kind(kind);
    task.n_statistics = static_cast<std::int32_t>(statistics.shape(1));
    if (task.kind == VectorKind::callback) task.superadditive = false;
    if (task.kind == VectorKind::callback || task.kind == VectorKind::rates) task.has_worst = false;
    for (auto [key, value] : extra) read_extra(nb::cast<std::string>(key), value);
    prices.check();
    table.tests = prices.tests;
  }

  void read_extra(const std::string& name, nb::handle value) {
    if (name == "scale") {
      task.scale = nb::cast<Cost>(value);
    } else if (name == "outputs") {
      task.outputs = nb::cast<std::vector<Cost>>(value);
    } else if (name == "above") {
      task.above = nb::cast<Cost>(value);
    } else if (name == "below") {
      task.below = nb::cast<Cost>(value);
    } else if (name == "leaf_function") {
      leaf.emplace(nb::borrow(value), static_cast<std::size_t>(task.n_statistics));
      task.leaf = [this](const Cost* sums, std::int64_t n, std::int64_t stride, Cost* costs, std::int32_t* labels) {
        return (*leaf)(sums, n, stride, costs, labels);
      };
    } else if (name == "rate_loss") {
      task.rates = read_rate_loss(value);
      task.leaf = RateLeaves{task.rates};
      task.is_native = true;
    } else if (name == "linear_loss") {
      const LinearLoss loss = read_linear_loss(value);
      if (task.n_statistics != loss.n_statistics())
        throw std::invalid_argument("'linear_loss' needs " + std::to_string(loss.n_statistics()) + " statistics");
      task.leaf = loss;
      task.is_native = true;
      if (loss.has_ridge()) task.floor = loss.without_ridge();
    } else if (name == "goes_on") {
      if (!leaf) throw std::invalid_argument("'goes_on' comes after 'leaf_function'");
      leaf->ask_whether_to_go_on(nb::borrow(value));
    } else if (name == "superadditive") {
      task.superadditive = nb::cast<bool>(value);
    } else if (name == "row_worst") {
      worst = read_vector<std::int64_t>(value, name, n_vectors);
      table.row_worst = worst->data();
      task.has_worst = true;
    } else if (name == "row_types") {
      row_types = read_vector<std::int32_t>(value, name, table.table.n_rows);
      table.table.row_types = row_types->data();
      table.n_types = static_cast<std::int32_t>(n_vectors);
    } else if (name == "row_weights") {
      row_weights = read_vector<std::int64_t>(value, name, table.table.n_rows);
      table.table.weights = row_weights->data();
    } else if (!prices.read(name, value, table.table.n_columns, n_vectors)) {
      throw std::invalid_argument("unknown entry '" + name + "' of extra");
    }
  }

  template <class Solve>
  auto run(nb::object callback, Solve solve) {
    try {
      return run_without_gil(std::move(callback), solve);
    } catch (const std::runtime_error&) {
      if (leaf && leaf->error()) std::rethrow_exception(leaf->error());
      throw;
    }
  }

  VectorTable table;
  VectorTask task;
  std::optional<PythonLeaf> leaf;
  std::int64_t n_vectors = 0;  // one per row, or one per type
  PriceArguments prices;
  std::optional<Vector<std::int32_t>> row_types;
  MaybeVector worst, row_weights;
};

// Keeps the arrays alive that the session reads.
class PythonVectorSession {
 public:
  PythonVectorSession(const Columns& columns, const Matrix& statistics, const std::string& kind,
                      const MaybeVector& row_counts, const OptionDict& extra)
      : columns_(columns),
        statistics_(statistics),
        row_counts_(row_counts),
        arguments_(view_of(columns_), statistics_, kind, row_counts_, extra),
        session_(arguments_.table, arguments_.task) {}

  template <auto kSolve>
  auto run(const OptionDict& given, nb::object callback) {
    const Options options = read_options(given);
    return arguments_.run(std::move(callback),
                          [&](Observer observer) { return (session_.*kSolve)(options, std::move(observer)); });
  }

 private:
  Columns columns_;
  Matrix statistics_;
  MaybeVector row_counts_;
  VectorArguments arguments_;
  VectorSession session_;
};

template <auto kSolve>
auto from_python(const Columns& columns, const Matrix& statistics, const std::string& kind,
                 const MaybeVector& row_counts, const OptionDict& options, nb::object callback,
                 const OptionDict& extra) {
  return PythonVectorSession(columns, statistics, kind, row_counts, extra).run<kSolve>(options, std::move(callback));
}

// The same with ranks.
template <class Solve>
auto solve_ranks(const Ranks& ranks, const Vector<std::int32_t>& n_ranks, const Matrix& statistics,
                 const std::string& kind, const OptionDict& options, nb::object callback, const nb::dict& extra,
                 Solve solve) {
  OrderedView view = view_of(ranks, n_ranks);
  TableView rows;
  rows.n_rows = view.n_rows;
  const Options read = read_options(options);
  VectorArguments a(rows, statistics, kind, std::nullopt, extra);
  if (a.row_types || a.table.tests.price != nullptr)
    throw std::invalid_argument("ordered features know neither row types nor test costs");
  view.statistics = a.table.statistics;
  view.row_worst = a.table.row_worst;
  return a.run(std::move(callback), [&](Observer observer) { return solve(view, a.task, read, std::move(observer)); });
}

}  // namespace

void bind_vector(nb::module_& m) {
  nb::class_<PythonVectorSession>(m, "VectorSession",
                                  "A table where a leaf costs a function of its rows' summed vectors.")
      .def(nb::init<const Columns&, const Matrix&, const std::string&, const MaybeVector&, const OptionDict&>(),
           nb::arg("columns"), nb::arg("statistics"), nb::arg("kind"), nb::arg("row_counts").none(),
           nb::arg("extra") = OptionDict(nb::dict()))
      .def("solve", &PythonVectorSession::run<&VectorSession::solve>, nb::arg("options"),
           nb::arg("callback") = nb::none(), "As the function solve_vector.");
  m.def(
      "solve_vector", &from_python<&VectorSession::solve>, nb::arg("columns"), nb::arg("statistics"), nb::arg("kind"),
      nb::arg("row_counts").none(), nb::arg("options"), nb::arg("callback") = nb::none(),
      nb::arg("extra") = OptionDict(nb::dict()),
      "Least error_scale * cost + split_penalty * splits, a leaf's cost being a function of its rows' summed vectors.");
  m.def("solve_vector_path", &from_python<&VectorSession::solve_path>, nb::arg("columns"), nb::arg("statistics"),
        nb::arg("kind"), nb::arg("row_counts").none(), nb::arg("options"), nb::arg("callback") = nb::none(),
        nb::arg("extra") = OptionDict(nb::dict()), "Least leaf cost for every number of splits, with trees.");
  m.def(
      "solve_ordered_vector",
      [](const Ranks& ranks, const Vector<std::int32_t>& n_ranks, const Matrix& statistics, const std::string& kind,
         const OptionDict& options, nb::object callback, const OptionDict& extra) {
        return solve_ranks(ranks, n_ranks, statistics, kind, options, std::move(callback), extra,
                           [](const OrderedView& view, const VectorTask& task, const Options& read, Observer observer) {
                             return solve_ordered(view, task, read, std::move(observer));
                           });
      },
      nb::arg("ranks"), nb::arg("n_ranks"), nb::arg("statistics"), nb::arg("kind"), nb::arg("options"),
      nb::arg("callback") = nb::none(), nb::arg("extra") = OptionDict(nb::dict()),
      "As solve_vector(), for trees whose tests are thresholds of ranks; leaf costs must be superadditive.");
  m.def(
      "solve_ordered_vector_path",
      [](const Ranks& ranks, const Vector<std::int32_t>& n_ranks, const Matrix& statistics, const std::string& kind,
         const OptionDict& options, nb::object callback, const OptionDict& extra) {
        return solve_ranks(ranks, n_ranks, statistics, kind, options, std::move(callback), extra,
                           [](const OrderedView& view, const VectorTask& task, const Options& read, Observer observer) {
                             return solve_ordered_path(view, task, read, std::move(observer));
                           });
      },
      nb::arg("ranks"), nb::arg("n_ranks"), nb::arg("statistics"), nb::arg("kind"), nb::arg("options"),
      nb::arg("callback") = nb::none(), nb::arg("extra") = OptionDict(nb::dict()),
      "As solve_vector_path(), for these trees.");
  m.def("rate_savings", &rate_savings, nb::arg("sums"), nb::arg("numbers"), nb::arg("saved"),
        "Write what rates save in leaves with these sums of events and exposure.");
  m.def("linear_costs", &linear_costs, nb::arg("sums"), nb::arg("numbers"), nb::arg("costs"),
        "Write what leaves cost that hold a linear model each; a line of sums for each statistic.");
}

}  // namespace certree
