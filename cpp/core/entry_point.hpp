// What all entry points of the core share.  An entry point is a function from a table, a question and options to a result.
// They call different searches, and take the same steps around them:
//
//     check_options  ->  Dataset (dataset_settings)  ->  search within the budget  ->  values, work  ->  result
//                                      |  no memory
//                                      +------------->  the tree that needs none: a single leaf
//
// Reaching the end of the budget is a result; arguments that make no sense are std::invalid_argument.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "data/dataset.hpp"
#include "result.hpp"
#include "search/shared/options.hpp"
#include "search/shared/progress.hpp"
#include "search/shared/scale.hpp"
#include "search/shared/table.hpp"

namespace certree {

// Arguments.
void check_options(std::int64_t n_rows, const Options& options);
void check_path_options(std::int64_t n_rows, const Options& options);
void check_two_types(const TableView& table);

// Sums and products of the caller's numbers.  Throw std::invalid_argument where a 64-bit integer would wrap, or where a few
// of them could not be added.
void add_checked(Cost& sum, Cost term);
Cost checked_product(Cost a, Cost b);
// The value that the caller asks to beat, in the units of the search.
Cost known_value(const Options& options, const Scale& scale, bool is_smallest);

// How the data are to be packed; with a table, whose rows have weights, also what a minimum leaf size needs.
DatasetSettings dataset_settings(const Options& options);
DatasetSettings dataset_settings(const TableView& table, const Options& options);

// The depth that the data leave: no path has more splits than tests, or than groups less one.  And what the options leave
// of it.
std::int32_t deepest(std::int64_t n_tests, const Dataset& data);
std::int32_t deepest(const Dataset& data, const Options& options);

// Runs a part of a solve.  Where its memory ends, the budget does.
template <class Part>
void run_within(Budget& budget, const Part& part) {
  try {
    part();
  } catch (const std::bad_alloc&) {
    budget.stop(StopReason::memory);
  }
}

// The tree that needs no memory, one leaf, and the bound that needs no search.  The budget says why there is nothing better.
std::vector<Cost> weight_of_types(const TableView& table, std::int32_t n_types);
Cost checked_leaf(const std::vector<Cost>& weights, const CountTask& task, std::int32_t* label);
void report_leaf(Cost cost, Cost leaf_penalty, const Options& options, const Budget& budget, ValueReport& result);
Result single_leaf(Cost cost, std::int32_t label, const Options& options, const Budget& budget);
Result single_leaf(const TableView& table, const CountTask& task, const Options& options, const Budget& budget);
PathResult path_of_leaf(Result leaf, const Options& options, const Budget& budget);

// Reports.  `gap` is the caller's.
void report_values(const Progress& progress, const Budget& budget, const Scale& scale, Cost gap, ValueReport& result);
void report_work(const Budget& budget, const MemoryBudget& memory, const Dataset& data, Report& result);
void report_table(const Table& table, Counters& counters);

}  // namespace certree
