// Questions about the whole problem: which trees are looked for, below which ceiling, and the turns of the improver.
#pragma once

#include <cstdint>
#include <vector>

#include "search/ordered/question.hpp"
#include "search/ordered/search.hpp"
#include "search/ordered/trees.hpp"
#include "search/shared/path_entry.hpp"

namespace certree {

class Improver;

// The proof of the best tree of one shape, with all rows.
class OrderedRounds final : public OrderedListener {
 public:
  // What is found is in `goal`.
  OrderedRounds(OrderedSearch& search, Progress& goal, Shape shape)
      : search_(search), trees_(search), goal_(goal), shape_(shape) {}

  // By rising depth, each from the trees of the depth before.
  void search_all_depths(Improver& improver);
  // At once.
  void search_whole_depth(Improver& improver);

  Cost found(const OrderedQuestion& question, OrderedSplit split, Cost value) override;
  void raise(Cost lower) override { goal_.raise(lower); }

 private:
  bool is_done() const;
  OrderedQuestion ask(Shape shape, Cost ceiling, Cost known_upper);
  void search_depth(std::int32_t d, Improver& improver);
  void search_shallow(Shape shape, bool is_whole);
  void prove(Shape shape, Improver& improver);
  void search_part(Shape shape);
  void search_whole(Shape shape);
  bool takes_rounds(bool is_long) const;
  void raise_bound(Shape shape);
  Cost next_ceiling() const;
  void lessen_depth();
  bool has_deeper_tree(std::int32_t d) const;

  OrderedSearch& search_;
  OrderedTrees trees_;
  Progress& goal_;
  const Shape shape_;
};

// The best tree of the shape; what is found is in context.progress.
void run_ordered(const OrderedContext& context, Shape shape, Counters& counters);

// The best trees with 0, 1, ... splits, as many as the shape has; those that are not better than one with fewer are left out.
// `is_whole`: all are proven.
std::vector<PathEntry> run_ordered_path(const OrderedContext& context, Shape shape, Counters& counters, bool* is_whole);

}  // namespace certree
