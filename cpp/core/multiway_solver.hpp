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
};

// The best tree over all trees of these tests that `options` allow (door.hpp).
MultiwayResult solve_multiway(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                              const Options& options, Observer observer = {});

// The least leaf cost for every number of splits, with trees; penalties do not count.
MultiwayPathResult solve_multiway_path(const TableView& table, const CountTask& task, const MultiwayQuestion& question,
                                       const Options& options, Observer observer = {});

}  // namespace certree
