#include "solver.hpp"

#include <utility>

#include "base/seed.hpp"
#include "session.hpp"

namespace certree {

Result solve(const TableView& table, const CountTask& task, const Options& options, Observer observer) {
  return Session(table).solve(task, options, std::move(observer));
}

PathResult solve_path(const TableView& table, const CountTask& task, const Options& options, Observer observer) {
  return Session(table).solve_path(task, options, std::move(observer));
}

std::uint64_t fingerprint_seed() { return process_seed(); }

}  // namespace certree
