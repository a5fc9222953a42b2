// The error-versus-splits curve for tests with any number of outcomes: for every k the least leaf cost of a tree with at
// most k splits.
//
// As search/columns/path.hpp, with (min,+) sums over the parts of a test, of which there may be more than two.  What is known
// of a part is kept once for all tests that have it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/multiway/search.hpp"
#include "search/shared/curve_table.hpp"

namespace certree {

class MultiwayPath {
 public:
  // At most `max_splits` splits and the context's depth.
  MultiwayPath(const MultiwayContext& context, std::int64_t max_splits);

  // The best tree for the context's objective: raises context.progress.
  void run(Counters& counters);
  // The best tree found; no nodes if none is better than what the progress knew.
  const MultiwayTree& tree() const { return best_; }
  // Every entry of the curve, exact unless stopped: `is_whole` tells.
  std::vector<MultiwayPathEntry> run_whole(Counters& counters);
  bool is_whole() const { return is_whole_; }

 private:
  using Costs = std::vector<Cost>;

  struct Level {
    std::vector<Curve> parts;
    std::vector<std::uint8_t> looked_up;  // per part: the table was asked
    std::vector<std::int32_t> order;      // of tests
    RowSet rows;
    explicit Level(MemoryBudget& memory) : rows(memory) {}
  };

  MultiwayFrame& frame(std::size_t level);
  Level& level_at(std::size_t level);
  bool poll();
  std::size_t capacity(std::int32_t depth) const;
  bool is_closed(const Curve& curve, const Costs& need) const;
  bool expand(std::size_t level);
  void recall(const Fingerprint& key, std::int32_t depth, Curve& curve);
  void remember(const Fingerprint& key, std::int32_t depth, const Curve& curve);

  void solve_root(std::int32_t depth, Curve& curve);
  void solve(std::size_t level, std::int32_t depth, const Costs& need, Curve& curve);
  void start_curve(const MultiwayFrame& f, std::int32_t depth, Curve& curve) const;
  void start_part(const MultiwayFrame& f, std::size_t part, Curve& curve) const;
  void start_parts(std::size_t level, std::int32_t depth, const Curve& curve);
  void search_tests(std::size_t level, std::int32_t depth, const Costs& need, Curve& curve);
  void try_test(std::size_t level, std::int32_t depth, const NodeTest& test, const Costs& bound);
  void spread(const MultiwayFrame& f, std::vector<Curve>& parts, std::size_t part) const;
  bool is_feasible(const MultiwayFrame& f, const NodeTest& test) const;

  // Sums over the parts of a test but `without`; entry k is for k splits below the test.
  enum class End { lower, upper };
  Costs sum(const MultiwayFrame& f, const NodeTest& test, const std::vector<Curve>& parts, End end, std::size_t width,
            std::int32_t without = -1) const;
  Costs need_of(const MultiwayFrame& f, const NodeTest& test, const std::vector<Curve>& parts, std::int32_t part,
                const Costs& bound) const;

  Costs needs_for_objective() const;
  Cost value_of(const Costs& ends, std::size_t k) const;
  void publish(std::int32_t depth, const Curve& curve);
  // Fills node `slot` with a tree of at most k splits and cost `target`, which the curve of the node in frame(level) says to
  // exist.  False: stopped.
  bool add_tree(std::size_t level, std::int32_t depth, std::size_t k, Cost target, const Curve& known,
                MultiwayTree& tree, std::int32_t slot);
  std::vector<std::size_t> share(const MultiwayFrame& f, const NodeTest& test, const std::vector<Curve>& parts,
                                 std::size_t splits, Cost target) const;

  MultiwayContext context_;
  MultiwaySettings settings_;  // without a penalty of splits
  std::size_t max_splits_;
  std::int32_t most_outcomes_ = 2;
  bool follows_objective_ = false;  // at the root only what can beat the incumbent is needed
  bool is_whole_ = true;
  MultiwayNodes nodes_;
  std::unique_ptr<MultiwayPass> pass_;
  std::vector<std::unique_ptr<MultiwayFrame>> frames_;
  std::vector<std::unique_ptr<Level>> levels_;
  CurveTable known_;
  MultiwayTree best_;
  Counters counters_;
};

}  // namespace certree
