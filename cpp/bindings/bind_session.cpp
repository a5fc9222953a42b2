// Session for Python: one table, several solves.
#include <nanobind/nanobind.h>

#include "arguments.hpp"
#include "bindings.hpp"
#include "options.hpp"
#include "session.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

// Keeps the arrays alive that the session reads.
class PythonSession {
 public:
  PythonSession(Columns columns, Vector<std::int32_t> row_types, MaybeVector weights)
      : columns_(std::move(columns)),
        row_types_(std::move(row_types)),
        weights_(std::move(weights)),
        session_(view_of(columns_, row_types_, weights_)) {}

  template <auto kSolve>
  auto run(const Matrix& cost_matrix, const OptionDict& given, nb::object callback) {
    const CountTask task = task_of(cost_matrix);
    const Options options = read_options(given);
    return run_without_gil(std::move(callback),
                           [&](Observer observer) { return (session_.*kSolve)(task, options, std::move(observer)); });
  }

 private:
  Columns columns_;
  Vector<std::int32_t> row_types_;
  MaybeVector weights_;
  Session session_;
};

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<PythonSession>(m, "Session", "One table, solved again and again; what was proved serves the next solve.")
      .def(nb::init<Columns, Vector<std::int32_t>, MaybeVector>(), nb::arg("columns"), nb::arg("row_types"),
           nb::arg("weights").none() = nb::none())
      .def("solve", &PythonSession::run<&Session::solve>, nb::arg("cost_matrix"), nb::arg("options"),
           nb::arg("callback") = nb::none(), "As the function solve.")
      .def("solve_path", &PythonSession::run<&Session::solve_path>, nb::arg("cost_matrix"), nb::arg("options"),
           nb::arg("callback") = nb::none(), "As the function solve_path.");
}

}  // namespace certree
