// The error-versus-splits curve of the whole problem in one search: for every k the least leaf cost of a tree with at most
// k splits.
//
// A subproblem's value is an array over the number of splits; two children combine by (min,+) convolution.  A child is
// searched once with a budget array, not once per way of dividing the splits between the children, and the depth-two
// pass fills the entries 0 to 3.  The curve answers every limit on the number of splits and, by its lower convex hull,
// every complexity.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "search/path_entry.hpp"
#include "search/worker.hpp"

namespace certree {

// What is known of the least leaf cost with at most k splits, k = 0 .. size - 1, and where the tree of cost upper[k] is.
struct Curve {
  std::vector<Cost> lower, upper;
  std::vector<std::int32_t> column;      // root of that tree: a data set's column, kDepthTwoTree, kLeafTree
  std::vector<std::int32_t> yes_splits;  // splits on the side where the root's column holds

  void reset(std::size_t size);
  std::size_t size() const { return lower.size(); }
  // Entry k needs no more search: exact, or not below `need`.
  bool is_closed(std::size_t k, Cost need) const { return lower[k] >= std::min(upper[k], need); }
  void offer(std::size_t k, Cost cost, std::int32_t root, std::int32_t yes);
  // More splits never cost more, fewer never less.
  void make_monotone();
};

class PathSearch {
 public:
  // At most `max_splits` splits and `depth` levels.
  PathSearch(const Context& context, std::int32_t depth, std::int64_t max_splits);

  // The best tree for the context's objective: raises context.progress.
  void run(Counters& counters);
  // Every entry of the curve, exact unless stopped.
  std::vector<PathEntry> run_whole(Counters& counters);

 private:
  using Needs = std::vector<Cost>;

  struct Level {
    Curve curve, child[2], found;
    Needs need, child_need;
    RowSet rows[2];
    std::vector<Cost> lower;  // [split][k]
    std::vector<std::int32_t> order;
    AlignedArray<Cost> common;
    explicit Level(MemoryBudget& budget) : rows{RowSet(budget), RowSet(budget)}, common(budget) {}
  };

  Level& level_at(std::size_t level);
  std::size_t capacity(std::int32_t depth) const;
  bool is_closed(const Curve& curve, const Needs& need) const;
  // Narrows the curve of the node in frame(level); `need` per entry.
  void solve(std::size_t level, std::int32_t depth, const Needs& need, Curve& curve);
  void search_splits(std::size_t level, std::int32_t depth, const Needs& need, Curve& curve);
  void start_curve(const Frame& frame, Curve& curve) const;
  void start_child(const Frame& frame, const Curve& parent, std::int32_t split, bool holds, Curve& child) const;
  void try_split(std::size_t level, std::int32_t split, std::int32_t depth, const Needs& bound, Curve& curve);
  void solve_child(std::size_t level, std::int32_t split, int holds, std::int32_t depth, const Needs& bound);
  void combine(const Curve& yes, const Curve& no, Curve& out) const;
  bool can_improve(const Cost* lower, const Needs& bound) const;
  void spread(const Frame& frame, Level& l, std::int32_t split, std::size_t width, const Cost* lower);
  void recall(const Fingerprint& key, std::int32_t depth, Curve& curve);
  bool look_up(const Fingerprint& key, std::int32_t depth, Curve& curve) const;
  void remember(const Fingerprint& key, std::int32_t depth, const Curve& curve);
  Needs needs_for_objective(const Curve& curve) const;
  void publish(const Curve& curve);
  Cost add_tree(std::size_t level, std::int32_t depth, std::size_t splits, const Curve* given, Tree& tree,
                std::int32_t* root);
  bool add_canonical_tree(std::size_t level, std::int32_t depth, std::size_t splits, Cost cost, Tree& tree,
                          std::int32_t* root);
  void make_canonical(const Curve& curve);
  bool is_done() const;

  const Context& context_;
  std::int32_t depth_;
  std::size_t max_splits_;
  bool follows_objective_ = false;  // at the root only what can beat the incumbent is needed
  Worker worker_;
  std::vector<std::unique_ptr<Level>> levels_;
  struct KeyHash {
    std::size_t operator()(const Fingerprint& f) const { return static_cast<std::size_t>(f.low); }
  };
  std::unordered_map<Fingerprint, Curve, KeyHash> known_;
  std::int64_t known_bytes_ = 0;
};

}  // namespace certree
