// Best-first AND/OR search: the AO* of Branches (Chaouki et al., ICML 2025) in the recursive form of RBFAOO (Kishimoto and
// Marinescu, UAI 2014).
//
// A node is a row set (and the depth that is left, if limited); what is known of it is an interval in the transposition
// table.  A way is a test at a node: a column (search/columns/best_first.hpp), or one with any number of outcomes
// (search/multiway/search.hpp).  Selection follows, from the root, the way with the lowest bound and in it the child with
// the widest interval.  A node is left again when its bound passes the threshold at which another way looks better: the
// second-best bound plus an overestimate, which saves most of the returns.  Expansion is the depth-two pass: it closes a
// node, or improves both ends of its interval, and gives every child its first.  Back-propagation is the return of the
// recursion; SOLVED is an interval that has become a point.  No graph is stored, so forgetting table entries costs time, and
// never makes a bound wrong.
//
// Several threads start at the root alike, and share the table and what is known of the ways of the root
// (search/shared/shared_root.hpp).  Where one is at work, another takes the next best way.  The optimum does not depend on
// them, and the tree is made from it in the end.
//
// `Search` is one thread's search.  It has nodes by level, of which level 0 is the root:
//
//     key(level), recall(key, depth), remember_node(level, depth, record, effort)   what the table knows of the node
//     open_ways(level, depth, record)   expands the node; false: stopped
//     ways(level), least_lower(level)   its ways, and the least of their lower bounds
//     visit(level, depth, way, bound, record)   takes one step at a way: asks the table about its children, or improves
//                                       one of them until the bound of the way reaches `leave_at`
//     may_leave_early(), overestimate() when a node is left for a better way
//     chooser(), poll(), work(), counters()
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bits.hpp"
#include "base/cost.hpp"
#include "search/shared/shared_root.hpp"
#include "search/shared/table.hpp"

namespace certree {

// The bound of a way at which it is left for the second-best one.
template <class Search>
Cost leave_at(const Search& search, const NextWay& way, Cost bound) {
  return search.may_leave_early() ? std::min(bound, way.second + search.overestimate()) : bound;
}

// One step at a node.  False: nothing is left below `threshold`.
template <class Search>
bool improve_best_way(Search& search, std::size_t level, std::int32_t depth, Cost threshold, Record& record) {
  const Cost bound = std::min(record.interval.upper, threshold);
  const NextWay way = search.chooser().choose(level, search.ways(level), bound);
  if (way.best < 0) return false;
  search.visit(level, depth, way, bound, record);
  return true;
}

// Narrows the interval of a node until it is exact, or its lower end reaches `threshold`, where the caller has something
// better to do, or the budget ends; the interval is valid in every case.  `known_lower`: a bound that the caller has.
template <class Search>
Interval improve_node(Search& search, std::size_t level, std::int32_t depth, Cost threshold, Cost known_lower) {
  Record record = search.recall(search.key(level), depth);
  record.interval.lower = std::max(record.interval.lower, known_lower);
  if (record.interval.is_closed_for(threshold) || search.poll()) return record.interval;
  const std::int64_t work_before = search.work();
  ++search.counters().iterations;
  if (!search.open_ways(level, depth, record)) return record.interval;
  if (depth > 2) {  // else the pass has found the best tree
    while (!record.interval.is_closed_for(threshold) && !search.poll())
      if (!improve_best_way(search, level, depth, threshold, record)) break;
    record.interval.lower = std::max(record.interval.lower, std::min(record.interval.upper, search.least_lower(level)));
  }
  search.remember_node(level, depth, record, search.work() - work_before);
  return record.interval;
}

// One thread's search from the root, until the proof is there or the budget ends.  True: nothing is left to search.
// `Problem` is what threads share:
//
//     is_done()                 the budget ended, or the bounds are close enough
//     join(search, record)      exchanges bounds of the root with other threads
//     publish(search, record)   makes the better tree that the root has now
//     raise(search, record)     tells of the bound of the root
template <class Search, class Problem>
bool improve_root(Search& search, Problem& problem, std::int32_t depth, Record& record) {
  bool is_proven = false;
  while (!is_proven && !problem.is_done() && !search.poll()) {
    problem.join(search, record);
    const Cost before = record.interval.upper;
    is_proven = !improve_best_way(search, 0, depth, kInfinite, record);
    if (record.interval.upper < before) problem.publish(search, record);
    if (!is_proven) problem.raise(search, record);
  }
  problem.join(search, record);
  return is_proven;
}

}  // namespace certree
