// Points of trees: quantities and splits, with the plan of the tree (search/shared/plans.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cost.hpp"

namespace certree {

// A list of points with the values of all planes, in parallel arrays.
class LimitPoints {
 public:
  void reset(std::size_t width, std::size_t n_planes) {
    width_ = width;
    n_planes_ = n_planes;
    clear();
  }
  void clear() {
    points_.clear();
    values_.clear();
    plans_.clear();
  }
  std::size_t size() const { return plans_.size(); }
  bool empty() const { return plans_.empty(); }
  const Cost* point(std::size_t k) const { return points_.data() + k * width_; }
  const Cost* values(std::size_t k) const { return values_.data() + k * n_planes_; }
  std::int32_t plan(std::size_t k) const { return plans_[k]; }
  void set_plan(std::size_t k, std::int32_t plan) { plans_[k] = plan; }
  void replace(std::size_t k, const Cost* point, const Cost* values, std::int32_t plan) {
    std::copy_n(point, width_, points_.begin() + static_cast<std::ptrdiff_t>(k * width_));
    std::copy_n(values, n_planes_, values_.begin() + static_cast<std::ptrdiff_t>(k * n_planes_));
    plans_[k] = plan;
  }
  void add(const Cost* point, const Cost* values, std::int32_t plan) {
    points_.insert(points_.end(), point, point + width_);
    values_.insert(values_.end(), values, values + n_planes_);
    plans_.push_back(plan);
  }
  // Keeps these, in this order.
  void keep(const std::vector<std::uint32_t>& chosen);
  // Least value of every plane; kInfinite if the list is empty.
  void least(Cost* out) const;
  std::int64_t bytes() const {
    return static_cast<std::int64_t>((points_.capacity() + values_.capacity()) * sizeof(Cost) +
                                     plans_.capacity() * sizeof(std::int32_t));
  }

 private:
  std::size_t width_ = 0, n_planes_ = 0;
  std::vector<Cost> points_, values_;
  std::vector<std::int32_t> plans_;
};

}  // namespace certree
