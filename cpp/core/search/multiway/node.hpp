// A node of the multiway search: the tests that still tell its rows apart, their parts, and what one pass over the counts of
// all pairs of parts says of every tree of depth at most two.
//
// A part is the rows of one outcome: those where a column holds, or does not.  Tests share parts (a category is an outcome
// of the multiway test and a binary test of its own), so what is known of a child is kept by part, not by test.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "bounds/empty_outcomes.hpp"
#include "data/node.hpp"
#include "data/test_costs.hpp"
#include "search/multiway/tree.hpp"
#include "search/shared/options.hpp"

namespace certree {

struct Part {
  std::int32_t column = 0;  // of the node
  bool holds = true;
};

// Only outcomes with rows are listed: [first, last) of the node's outcomes.
struct NodeTest {
  std::int32_t id = 0;  // the caller's
  std::int32_t first = 0;
  std::int32_t last = 0;
  Cost price = 0;  // what the node's rows pay for it, once the node is expanded
};

struct Outcome {
  std::int32_t part = 0;
  std::int32_t number = 0;  // among all outcomes of the test
};

struct MultiwayFrame {
  explicit MultiwayFrame(MemoryBudget& memory) : node(memory), common(memory) {}

  Node node;
  Paid paid;  // where tests have prices
  std::vector<Part> parts;
  std::vector<std::int32_t> above;  // per part: the part of the frame above that it is cut out of
  std::vector<NodeTest> tests;
  std::vector<Outcome> outcomes;
  std::int32_t parent_part = -1;
  bool is_open = false;  // what follows is this node's

  // Per part: value as a leaf, and what is known of its optimum.
  std::vector<Cost> leaf, lower, upper;
  std::vector<Cost> unavoidable, worst;  // errors
  std::vector<std::uint8_t> is_too_small, looked_up;
  // Per test.
  std::vector<Cost> test_lower, guess;
  std::vector<std::uint8_t> closed;
  // Per pair of parts: cost of the rows in both at their worst.
  bool has_common = false;
  AlignedArray<Cost> common;

  Cost all_unavoidable = 0, all_worst = 0;
  Cost value[3] = {0, 0, 0};  // least value of a tree of depth at most 0, 1, 2
  std::int32_t label = 0;

  Cost common_worst(std::int32_t a, std::int32_t b) const {
    return common[static_cast<std::size_t>(a) * parts.size() + static_cast<std::size_t>(b)];
  }
};

// Prices of tests; a test looks at the feature of its columns (data/test_costs.hpp).
struct MultiwayPrices {
  TestCosts costs;
  std::vector<Cost> type_weights;  // what a row of each type pays times

  template <class Counts>
  Cost weight(const Counts& counts) const {
    Cost sum = 0;
    for (std::size_t t = 0; t < type_weights.size(); ++t) sum += type_weights[t] * static_cast<Cost>(counts[t]);
    return sum;
  }
};

struct MultiwaySettings {
  MultiwayObjective objective;
  EmptyOutcomes outcomes;
  const Options& options;
  const MultiwayPrices* prices = nullptr;
};

// Makes nodes: keeps the columns of tests that still have two outcomes with rows, and one of several tests that part the
// rows in the same way.
class MultiwayNodes {
 public:
  MultiwayNodes(const Dataset& data, const ColumnTests& tests, const MultiwaySettings& settings, MemoryBudget& memory);

  void make_root(MultiwayFrame& out);
  void child_rows(const MultiwayFrame& parent, std::int32_t part, RowSet& out) const;
  void make_child(const MultiwayFrame& parent, std::int32_t part, MultiwayFrame& out);

 private:
  struct Source {
    const std::vector<Part>& parts;
    const std::vector<NodeTest>& tests;
    const std::vector<Outcome>& outcomes;
  };
  void reduce(const Source& source, MultiwayFrame& out);
  // After the test that leads to a part: what is left to pay there, which is in the key of its rows.
  void pay(const MultiwayFrame& parent, const Part& part, RowSet& rows, Paid& after) const;
  bool is_new_partition(const Source& source, const NodeTest& test);
  bool have_same_rows(Part a, Part b) const;
  bool has_rows(Part part) const;
  std::int32_t local_part(Part part, std::int32_t source_part, MultiwayFrame& out);

  const Dataset& data_;
  const MultiwayPrices* prices_;
  const BitKernels& kernels_;
  bool drops_duplicates_;
  NodeFactory factory_;
  Node full_;  // before tests are dropped
  AlignedArray<std::uint64_t> hashes_;
  AlignedArray<Word> varies_;
  std::vector<Part> root_parts_;
  std::vector<NodeTest> root_tests_;
  std::vector<Outcome> root_outcomes_;
  std::vector<std::int32_t> column_index_, part_index_;
  std::vector<std::int32_t> kept_columns_;
  std::vector<std::pair<std::uint64_t, NodeTest>> seen_;
};

// The pass over a node's pairs.
class MultiwayPass {
 public:
  virtual ~MultiwayPass() = default;
  // Fills the frame's values and first bounds.  False: the budget ended half-way.
  virtual bool expand(MultiwayFrame& frame) = 0;
};

// Chooses the narrowest integers that hold every count and cost of the data.
std::unique_ptr<MultiwayPass> make_multiway_pass(const Dataset& data, const CountTask& task,
                                                 const MultiwaySettings& settings, Budget& budget,
                                                 MemoryBudget& memory);

}  // namespace certree
