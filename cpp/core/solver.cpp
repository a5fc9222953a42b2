#include "solver.hpp"

#include <utility>

#include "session.hpp"

namespace certree {

Result solve(const TableView& table, const CountTask& task, const Options& options, Observer observer) {
  return Session(table).solve(task, options, std::move(observer));
}

PathResult solve_path(const TableView& table, const CountTask& task, const Options& options, Observer observer) {
  return Session(table).solve_path(task, options, std::move(observer));
}

}  // namespace certree
