// The entry point for tasks whose leaf cost is a function of a sum of vectors.
#pragma once

#include <cstdint>
#include <memory>

#include "base/memory.hpp"
#include "data/vector_data.hpp"
#include "search/shared/table.hpp"
#include "solver.hpp"
#include "tasks/linear_loss.hpp"
#include "tasks/rate_loss.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

// One table and its costs, solved once, or in the parts of a search that several processes share: data and what was proven
// stay.  Not for several threads.
class VectorSession {
 public:
  // The arrays of the table and the task must outlive it.
  VectorSession(const VectorTable& table, const VectorTask& task);
  ~VectorSession();
  VectorSession(const VectorSession&) = delete;
  VectorSession& operator=(const VectorSession&) = delete;

  // As solve and solve_path; costs are in units of the task's leaf cost.
  Result solve(const Options& options, Observer observer = {});
  PathResult solve_path(const Options& options, Observer observer = {});

 private:
  // What values in the table of subproblems depend on.
  struct Terms {
    Cost factor = 0, error_scale = 0, split_penalty = 0;
    std::int64_t min_leaf = 0;
    bool operator==(const Terms&) const = default;
  };

  bool open(const Options& options, Budget& budget);
  Result run(const Options& options, Budget& budget, Observer observer);

  VectorTable table_;
  const VectorTask& task_;
  MemoryBudget memory_{0};
  DatasetSettings settings_;
  std::unique_ptr<VectorData> data_;
  std::unique_ptr<Table> known_;
  Terms terms_;
};

}  // namespace certree
