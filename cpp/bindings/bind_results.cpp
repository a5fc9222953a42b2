// What the entry points return, for Python: numbers, arrays, lists and dicts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "chain_solver.hpp"
#include "front_solver.hpp"
#include "multiway_solver.hpp"
#include "options.hpp"

namespace nb = nanobind;

namespace certree {

namespace {

using IntArray = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using LongArray = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using LongMatrix = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;
using History = nb::typed<nb::list, nb::typed<nb::tuple, double, std::int64_t, Cost, Cost>>;
using PointHistory = nb::typed<nb::list, nb::typed<nb::tuple, double, std::int64_t, std::int64_t>>;
using Entries = nb::typed<nb::list, nb::typed<nb::tuple, std::int64_t, Cost, Cost, IntArray, IntArray, IntArray>>;

template <class Array, class T>
Array to_array(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Array(owned->data(), shape, owner);
}

IntArray to_ints(std::vector<std::int32_t> values) {
  const std::size_t size = values.size();
  return to_array<IntArray>(std::move(values), {size});
}

// Children come side by side: the node at `first_child` is where the test holds.
MultiwayTree lay_out(const Tree& tree) {
  MultiwayTree out;
  if (tree.nodes.empty()) return out;  // nothing better than what the caller knew
  std::vector<std::int32_t> place{0};  // in `tree`, of every node of `out`
  out.nodes.emplace_back();
  for (std::size_t at = 0; at < place.size(); ++at) {
    const TreeNode& node = tree.nodes[static_cast<std::size_t>(place[at])];
    out.nodes[at].label = node.label;
    if (node.column < 0) continue;
    out.split(static_cast<std::int32_t>(at), node.column, 2, -1);
    place.push_back(node.yes);
    place.push_back(node.no);
  }
  return out;
}

using Field = std::int32_t MultiwayTreeNode::*;

void append(const MultiwayTree& tree, Field field, std::vector<std::int32_t>& out) {
  for (const MultiwayTreeNode& node : tree.nodes) out.push_back(node.*field);
}

IntArray array_of(const MultiwayTree& tree, Field field) {
  std::vector<std::int32_t> values;
  append(tree, field, values);
  return to_ints(std::move(values));
}

template <Field kField>
IntArray nodes(const Result& result) {
  return array_of(lay_out(result.tree), kField);
}

template <Field kField>
IntArray multiway_nodes(const MultiwayResult& result) {
  return array_of(result.tree, kField);
}

// Tree i has the nodes from offset i to offset i + 1.
template <Field kField>
IntArray nodes_of_all(const PointsResult& result) {
  std::vector<std::int32_t> values;
  for (const PointTree& found : result.trees) append(lay_out(found.tree), kField, values);
  return to_ints(std::move(values));
}

LongArray offsets(const PointsResult& result) {
  std::vector<std::int64_t> values{0};
  for (const PointTree& found : result.trees)
    values.push_back(values.back() + static_cast<std::int64_t>(found.tree.nodes.size()));
  const std::size_t size = values.size();
  return to_array<LongArray>(std::move(values), {size});
}

LongMatrix points(const PointsResult& result) {
  std::vector<std::int64_t> values;
  for (const PointTree& found : result.trees) values.insert(values.end(), found.point.begin(), found.point.end());
  return to_array<LongMatrix>(std::move(values), {result.trees.size(), result.width});
}

LongMatrix lower_points(const FrontResult& result) {
  std::vector<std::int64_t> values;
  for (const Point& point : result.lower) values.insert(values.end(), point.begin(), point.end());
  return to_array<LongMatrix>(std::move(values), {result.lower.size(), result.width});
}

LongMatrix splits(const Result& result) {
  std::vector<std::int64_t> values;
  for (const SplitBound& s : result.splits) values.insert(values.end(), {s.column, s.lower, s.guess});
  return to_array<LongMatrix>(std::move(values), {result.splits.size(), 3});
}

LongMatrix entries_of_table(const Result& result) {
  std::vector<std::int64_t> values;
  for (const SharedEntry& e : result.entries)
    values.insert(values.end(), {static_cast<std::int64_t>(e.key.low), static_cast<std::int64_t>(e.key.high), e.lower,
                                 e.upper, e.column, e.effort});
  return to_array<LongMatrix>(std::move(values), {result.entries.size(), 6});
}

History history(const ValueReport& result) {
  History out;
  for (const ProgressEvent& e : result.history) out.append(nb::make_tuple(e.seconds, e.work, e.upper, e.lower));
  return out;
}

PointHistory point_history(const PointsResult& result) {
  PointHistory out;
  for (const PointEvent& e : result.history) out.append(nb::make_tuple(e.seconds, e.work, e.n_points));
  return out;
}

const MultiwayTree& lay_out(const MultiwayTree& tree) { return tree; }

template <class PathLike>
Entries entries(const PathLike& result) {
  Entries out;
  for (const auto& e : result.entries) {
    const MultiwayTree tree = lay_out(e.tree);
    const auto array = [&](Field field) { return array_of(tree, field).cast(nb::rv_policy::move); };
    out.append(nb::make_tuple(e.splits, e.lower, e.upper, array(&MultiwayTreeNode::test),
                              array(&MultiwayTreeNode::first_child), array(&MultiwayTreeNode::label)));
  }
  return out;
}

}  // namespace

void bind_results(nb::module_& m) {
  constexpr auto move = nb::rv_policy::move;
  nb::class_<Report>(m, "Report", "What every solve returns.")
      .def_prop_ro("status", [](const Report& r) { return std::string(status_name(r.status)); })
      .def_prop_ro("counters", [](const Report& r) { return counters_to_dict(r.counters); })
      .def_ro("seconds", &Report::seconds);
  nb::class_<ValueReport, Report>(m, "ValueReport", "What is known of the best value, in the caller's units.")
      .def_ro("lower_bound", &ValueReport::lower_bound)
      .def_ro("upper_bound", &ValueReport::upper_bound)
      .def_prop_ro(
          "inner_bounds",
          [](const ValueReport& r) {
            return nb::typed<nb::tuple, Cost, Cost, Cost>(nb::make_tuple(r.inner_lower, r.inner_upper, r.factor));
          },
          "(lower, upper, factor): factor * value + splits, in which ties are broken.")
      .def_prop_ro("history", &history);
  nb::class_<Result, ValueReport>(m, "Result", "The best tree that a solve found.")
      .def_prop_ro("test", &nodes<&MultiwayTreeNode::test>, move)
      .def_prop_ro("first_child", &nodes<&MultiwayTreeNode::first_child>, move)
      .def_prop_ro("label", &nodes<&MultiwayTreeNode::label>, move)
      .def_prop_ro("splits", &splits, move, "Of a part: (column, lower, guess) of the splits of its node.")
      .def_prop_ro("entries", &entries_of_table, move, "Of a part: what it has proven, for others.");
  nb::class_<MultiwayResult, ValueReport>(m, "MultiwayResult", "The best tree that a multiway solve found.")
      .def_prop_ro("test", &multiway_nodes<&MultiwayTreeNode::test>, move)
      .def_prop_ro("first_child", &multiway_nodes<&MultiwayTreeNode::first_child>, move)
      .def_prop_ro("label", &multiway_nodes<&MultiwayTreeNode::label>, move);
  nb::class_<ChainResult, Result>(m, "ChainResult", "What a solve for the (partial) area found.")
      .def_prop_ro(
          "loss_unit",
          [](const ChainResult& r) { return nb::typed<nb::tuple, Cost, Cost>(nb::make_tuple(1, r.loss_denominator)); },
          "(num, den): 1 - normalised area = loss * num / den.");
  nb::class_<PathResult, Report>(m, "PathResult", "The error-versus-splits curve.")
      .def_prop_ro("entries", &entries<PathResult>,
                   "(splits, lower, upper, test, first_child, label) for every number of splits that improves.");
  nb::class_<MultiwayPathResult, Report>(m, "MultiwayPathResult", "The same for tests with any number of outcomes.")
      .def_prop_ro("entries", &entries<MultiwayPathResult>);
  nb::class_<PointsResult, Report>(m, "PointsResult", "Trees with their points; tree i has nodes from offset i on.")
      .def_prop_ro("points", &points, move)
      .def_prop_ro("offsets", &offsets, move)
      .def_prop_ro("test", &nodes_of_all<&MultiwayTreeNode::test>, move)
      .def_prop_ro("first_child", &nodes_of_all<&MultiwayTreeNode::first_child>, move)
      .def_prop_ro("label", &nodes_of_all<&MultiwayTreeNode::label>, move)
      .def_prop_ro("history", &point_history);
  nb::class_<FrontResult, PointsResult>(m, "FrontResult", "The Pareto front of (false positives, false negatives).")
      .def_prop_ro("lower_points", &lower_points, move);
}

}  // namespace certree
