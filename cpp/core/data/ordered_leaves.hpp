// Leaf costs of ordered features that planes do not tell by themselves: functions of the caller's, and losses around quantiles.
//
// The search needs the costs of many row sets at once: of the rows up to each threshold of a feature and of those beyond it,
// and, where the cost is a function of sums, of the cells of a pair table.
//
// Laws: superadditive and not negative (docs/theory/ordered-features.md).  Theorem 1 and the monotone half of theorem 2 need
// no more; the rest of theorem 2 needs the worst change of a row, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/budget.hpp"
#include "base/cost.hpp"
#include "base/memory.hpp"
#include "counts/pair_kernels.hpp"
#include "tasks/vector_task.hpp"

namespace certree {

struct OrderedView;

inline constexpr Cost kNoCost = kInfeasible<Cost>;

class OrderedLeaves : public AskedCosts {
 public:
  // The cost is a function of sums, so that `ask` has answers.
  virtual bool has_sums() const = 0;
  // The rows that those of the next questions are among.
  virtual void start(const std::int32_t* rows, std::int32_t n_rows) = 0;
  // Costs of the first k rows and of the others, for 0 < k < n_rows; kNoCost where ranks do not part them.
  virtual void along(const std::int32_t* rows, std::int32_t n_rows, const std::int32_t* ranks, Cost* first,
                     Cost* others) = 0;
  // Always answered.
  virtual Cost leaf(const std::int32_t* rows, std::int32_t n_rows, std::int32_t* label) = 0;
  // The time ended before all questions had answers.  Those without are kNoCost, and no bound follows from them.
  bool is_cut() const { return is_cut_; }

 protected:
  bool is_cut_ = false;
};

// Null: planes tell the costs of this task.
std::unique_ptr<OrderedLeaves> make_ordered_leaves(const OrderedView& view, const VectorTask& task, Budget& budget,
                                                   MemoryBudget& memory);

}  // namespace certree
