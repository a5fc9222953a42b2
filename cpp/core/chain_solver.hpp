// The entry point for (partial) AUC: the tree with the largest area under its ROC convex hull.
#pragma once

#include <cstdint>

#include "result.hpp"
#include "search/shared/progress.hpp"
#include "solver.hpp"

namespace certree {

// Values in units of  U = error_scale * loss + split_penalty * splits, where
//     loss = 2 P N fpr_num * (1 - normalised area),
// the normalised area being that up to the false positive rate fpr_num / fpr_den, divided by this rate.  For full AUC the
// loss is an integer; a partial area may end inside an edge, and is then rounded up to one, while comparisons are exact.
struct ChainResult : Result {
  Cost loss_denominator = 1;  // 1 - normalised area = loss / loss_denominator
};

struct ChainQuestion {
  std::int64_t fpr_num = 1;
  std::int64_t fpr_den = 1;
};

// Over all trees that `options` allow (entry_point.hpp).  Row type 1 is positive, 0 negative; both must occur.
ChainResult solve_chain(const TableView& table, const ChainQuestion& question, const Options& options,
                        Observer observer = {});

}  // namespace certree
