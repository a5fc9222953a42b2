// The depth-two solver for sums of vectors (tasks/vector_task.hpp): the same questions as search/columns/depth_two.hpp,
// answered from sums instead of counts, so that every search works for every task.
//
// At a node the rows are laid out one by one: the columns that hold, and the vector.  Pair sums are masked additions over
// the rarer side of each column (counts/vector_kernels.hpp); of two children only the smaller is summed.
#pragma once

#include <memory>

#include "data/vector_data.hpp"
#include "search/columns/depth_two.hpp"

namespace certree {

template <class V>
class LeafTable;

class VectorDepthTwo final : public DepthTwoMaker {
 public:
  explicit VectorDepthTwo(const VectorData& data);
  ~VectorDepthTwo() override;
  std::unique_ptr<DepthTwo> make(const DepthTwoSettings& settings, NodeFactory& factory, Budget& budget,
                                 MemoryBudget& memory) const override;

 private:
  const VectorData& data_;
  // What a leaf function has answered, for all solvers of the one thread that may ask it.
  mutable std::unique_ptr<LeafTable<std::int32_t>> narrow_table_;
  mutable std::unique_ptr<LeafTable<std::int64_t>> wide_table_;
};

}  // namespace certree
