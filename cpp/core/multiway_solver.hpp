// The entry point for tests with any number of outcomes.
#pragma once

#include <vector>

#include "data/dataset.hpp"
#include "data/test_costs.hpp"
#include "result.hpp"
#include "search/multiway/tree.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"
#include "tasks/count_task.hpp"

namespace certree {

// Values count  leaf_penalty * leaves with rows,  too.
struct MultiwayResult : ValueReport {
  MultiwayTree tree;  // tests are the caller's
};

struct MultiwayPathResult : Report {
  std::vector<MultiwayPathEntry> entries;
};

// What is asked for beyond Options.
struct MultiwayQuestion {
  ColumnTests tests;
  Cost leaf_penalty = 0;
  TestCostTable prices;  // its weights are per type
};

// The best tree over all trees of these tests that `options` allow (entry_point.hpp).
MultiwayResult solve_multiway(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                              const Options& options, Observer observer = {});

// The least leaf cost for every number of splits, with trees; penalties do not count.
MultiwayPathResult solve_multiway_path(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                                       const Options& options, Observer observer = {});

}  // namespace certree
