// A worker of the search over columns as a grower of trees (search/shared/grower.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/columns/worker.hpp"
#include "search/shared/grower.hpp"

namespace certree {

class ColumnGrower final : public Grower {
 public:
  explicit ColumnGrower(Worker& worker) : worker_(worker) {}

  Cost leaf(std::size_t level, std::int32_t* label) override;
  bool has_impurities() const override;
  std::int32_t purest_test(std::size_t level, Impurity impurity) override;
  std::int32_t cheapest_test(std::size_t level) override;
  Cost split_value(std::size_t level, std::int32_t test) override;
  void candidates(std::size_t level, std::size_t most, std::vector<std::int32_t>& out) override;
  void descend(std::size_t level, std::int32_t test, bool holds) override;
  Cost solve(std::size_t level, std::int32_t depth, Tree& tree, Cost* floor) override;
  bool poll() override { return worker_.poll(); }
  void release() override { worker_.release(); }

 private:
  std::int32_t test_of(std::size_t level, std::int32_t split);

  // What the rows of a node pay for its cheapest test.
  struct Cheapest {
    std::int32_t test = -1;
    Cost price = 0;
    Fingerprint rows;
  };

  Worker& worker_;
  std::vector<Cheapest> cheapest_;  // [level]
};

}  // namespace certree
