// The entry point for tasks whose rows have types: a leaf costs a sum over the types of its rows.
#pragma once

#include <cstdint>

#include "data/dataset.hpp"
#include "result.hpp"
#include "search/columns/debug_tree.hpp"
#include "search/shared/options.hpp"
#include "search/shared/path_entry.hpp"
#include "search/shared/progress.hpp"
#include "tasks/count_task.hpp"

namespace certree {

// Least error_scale * cost + split_penalty * splits over all trees that `options` allow (entry_point.hpp).
Result solve(const TableView& table, const CountTask& task, const Options& options, Observer observer = {});

// For every number of splits that improves on fewer, the least leaf cost and a tree: entries of rising `splits`, leaf costs
// in units of the cost matrix.  An entry is exact when its lower and upper agree.
PathResult solve_path(const TableView& table, const CountTask& task, const Options& options, Observer observer = {});

// The key of fingerprints, which processes that share a search must agree on (search/shared/assignment.hpp).
std::uint64_t fingerprint_seed();

}  // namespace certree
