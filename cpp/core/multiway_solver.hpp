// The door to the core for tests with any number of outcomes.
#pragma once

#include <vector>

#include "data/dataset.hpp"
#include "result.hpp"
#include "search/multiway_tree.hpp"
#include "search/options.hpp"
#include "search/progress.hpp"
#include "tasks/count_task.hpp"

namespace certree {

// All values in the caller's units: error_scale * cost + split_penalty * splits + leaf_penalty * leaves with rows.
struct MultiwayResult {
  Status status = Status::optimal;
  Cost lower_bound = 0;
  Cost upper_bound = 0;
  MultiwayTree tree;  // tests are the caller's
  Counters counters;
  std::vector<ProgressEvent> history;
  double seconds = 0;
};

// What is asked for beyond Options.
struct MultiwayQuestion {
  ColumnTests tests;
  Cost leaf_penalty = 0;
};

// The best tree over all trees of these tests within the limits of `options`; a limit on splits is not supported.
// Throws std::invalid_argument for arguments that make no sense; reaching a limit is a result.
MultiwayResult solve_multiway(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                              const Options& options, Observer observer = {});

}  // namespace certree
