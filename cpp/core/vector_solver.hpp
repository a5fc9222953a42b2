// The door to the core for tasks whose leaf cost is a function of a sum of vectors.
#pragma once

#include "data/vector_data.hpp"
#include "solver.hpp"
#include "tasks/linear_loss.hpp"
#include "tasks/rate_loss.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

// As solve and solve_path; costs are in units of the task's leaf cost.
Result solve_vector(const VectorTable& table, const VectorTask& task, const Options& options, Observer observer = {});
PathResult solve_vector_path(const VectorTable& table, const VectorTask& task, const Options& options,
                             Observer observer = {});

}  // namespace certree
