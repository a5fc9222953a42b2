// One table of rows, solved again and again with other costs.  What does not depend on the costs is done once: packing,
// row groups, column reduction.  What was proved for one cost matrix bounds the next solve (bounds/weight_reuse.hpp).
// Statuses, values and canonical trees are those of a solve that starts from nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/memory.hpp"
#include "data/dataset.hpp"
#include "search/columns/earlier_solves.hpp"
#include "solver.hpp"

namespace certree {

class Session {
 public:
  // The arrays behind `table` outlive the session and do not change.
  explicit Session(const TableView& table);

  // As the functions of solver.hpp.  One at a time: a second solve, from another thread or from the observer, throws.
  Result solve(const CountTask& task, const Options& options, Observer observer = {});
  PathResult solve_path(const CountTask& task, const Options& options, Observer observer = {});

 private:
  struct Solve;

  std::unique_lock<std::mutex> begin();
  bool open(const CountTask& task, const Options& options, Budget& budget);
  Result run(const CountTask& task, const Options& options, Budget& budget, Observer observer);

  TableView table_;
  std::mutex busy_;
  MemoryBudget memory_;
  std::unique_ptr<Dataset> data_;
  DatasetSettings settings_;
  std::int32_t n_types_ = 0;
  EarlierSolves earlier_;
  EarlierCurves earlier_curves_;
  std::int64_t most_work_ = 0;  // of any solve so far
};

}  // namespace certree
