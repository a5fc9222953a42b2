// Many trees with their points as arrays: what solve_front() and solve_limited() return.
//
// A result is a list of entries with a member `tree`; entry i has the nodes from offset i to offset i + 1.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "tree_arrays.hpp"

namespace certree {

using LongMatrix = nanobind::ndarray<nanobind::numpy, std::int64_t, nanobind::ndim<2>>;
using LongArray = nanobind::ndarray<nanobind::numpy, std::int64_t, nanobind::ndim<1>>;
using PointHistory =
    nanobind::typed<nanobind::list, nanobind::typed<nanobind::tuple, double, std::int64_t, std::int64_t>>;

template <class Array>
Array to_longs(std::vector<std::int64_t> values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<std::int64_t>(std::move(values));
  nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  return Array(owned->data(), shape, owner);
}

template <class Entries>
LongArray offsets_of(const Entries& entries) {
  std::vector<std::int64_t> values{0};
  for (const auto& entry : entries)
    values.push_back(values.back() + static_cast<std::int64_t>(entry.tree.nodes.size()));
  const std::size_t size = values.size();
  return to_longs<LongArray>(std::move(values), {size});
}

template <class Entries>
IntArray nodes_of(const Entries& entries, std::vector<std::int32_t> TreeArrays::* field) {
  std::vector<std::int32_t> values;
  for (const auto& entry : entries) {
    const TreeArrays tree = lay_out(entry.tree);
    values.insert(values.end(), (tree.*field).begin(), (tree.*field).end());
  }
  return to_array(std::move(values));
}

template <class Events>
PointHistory point_history(const Events& events) {
  PointHistory out;
  for (const auto& e : events) out.append(nanobind::make_tuple(e.seconds, e.work, e.n_points));
  return out;
}

// Tells a callback of events that count points.
template <class Event>
bool tell_points(PythonObserver& observer, const Event& event) {
  return observer.tell([&](nanobind::dict& info) {
    info["seconds"] = event.seconds;
    info["work"] = event.work;
    info["n_points"] = event.n_points;
  });
}

}  // namespace certree
