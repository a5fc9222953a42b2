// The tangent bound: an additive bound on the (partial) area under the ROC chain.
//
// Theorem.  Let f be the chain of any tree with leaves (x_l, y_l), and s any function on [0, X] with values >= 0.  Then
//
//     integral of f over [0, X]  <=  integral over [0, X] of  sum over l of max(0, y_l - s(x) x_l)  +  s(x) x.
//
// Proof.  f is the least of its tangents: f(x) <= h(s) + s x for every slope s, where h(s) = max over x of f(x) - s x is
// the sum over the leaves steeper than s of y_l - s x_l, that is, of the positive ones of these.  Integrate.
//
// The right-hand side is a sum over leaves plus a constant.  With the slopes of a tree's own chain it equals that tree's
// area; with the slopes of a good tree it is close for all good trees.  For full AUC it is sharper than Minkowski's
// inequality for mixed areas, and it is never weaker than the area of the polygon whose supports are maximised one slope at
// a time.  Any limits on trees (depth, splits, leaf size) may be kept in the maximisation, which is a count task with one
// label per slope.  Full proof and use: docs/theory/auc.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "tasks/count_task.hpp"
#include "tasks/roc_chain.hpp"

namespace certree {

// A chain for a tangent, in units of 1 / unit rows.  Floating point may shape it: any chain gives a valid bound.
struct ReferenceChain {
  std::vector<Edge> edges;
  Cost unit = 1;
  std::int64_t splits = 0;  // of the tree, where the chain is one's: what a share of it in a mixture costs
};

// For every tree:  multiplier() * value(tree) <= constant() + sum over leaves of score - multiplier() * penalty * splits.
class Tangent {
 public:
  // The slopes of a chain whose edges, by falling slope, add up to the data: a tree's, or a mixture of several.
  Tangent(const ChainObjective& objective, ReferenceChain reference);

  Cost score(Cost x, Cost y) const {
    Cost sum = 0;
    for (const Term& t : terms_) {  // flattest first: the rest is not positive either
      const Cost term = t.y * y - t.x * x;
      if (term <= 0) break;
      sum += term;
    }
    return sum;
  }
  Cost score(const Edge& leaf) const { return score(leaf.x, leaf.y); }
  Cost constant() const { return constant_; }
  Cost multiplier() const { return reference_.unit; }
  Cost penalty() const { return reference_.unit * objective_.split_penalty; }
  const ReferenceChain& reference() const { return reference_; }
  // No tree of this score (penalties deducted) or less has a larger value, in integers: values of full AUC are integers
  // themselves, so that the bound is rounded down, those of partial AUC are not.
  Cost bound(Cost score) const {
    const Cost sum = constant_ + score, unit = reference_.unit;
    const Cost down = sum >= 0 ? sum / unit : -((unit - 1 - sum) / unit);
    return down + (objective_.is_integral() || down * unit == sum ? 0 : 1);
  }
  // A tree of a larger value has a larger score.
  Cost threshold(const ChainValue& value) const {
    return reference_.unit * value.whole + static_cast<Cost>(Exact{reference_.unit} * value.rest / value.of) -
           constant_;
  }
  // No leaf scores more than this per positive.
  Cost ceiling() const { return ceiling_; }
  // score(x, y) = ceiling() * y - (cost of the leaf in this task).
  CountTask task() const;

 private:
  struct Term {
    Cost x, y;
  };

  ChainObjective objective_;
  ReferenceChain reference_;
  std::vector<Term> terms_;
  Cost constant_ = 0;
  Cost ceiling_ = 0;
};

// The chain with at most `most` edges, the least corners taken off; ends stay where they are.
std::vector<Edge> coarsen(std::vector<Edge> chain, std::size_t most);

// The mixture of chains (not all of them need have a share) of about the largest (partial) area less penalties, of which
// every chain adds its own in its share.
ReferenceChain best_mixture(const ChainObjective& objective, const std::vector<ReferenceChain>& chains, Cost unit);

}  // namespace certree
