#include "search/columns/alternating.hpp"

#include <algorithm>

#include "search/columns/best_first.hpp"
#include "search/columns/depth_first.hpp"
#include "search/shared/improver.hpp"

namespace certree {

namespace {

constexpr std::int64_t kFirstTurn = 500;  // depth-two evaluations

}  // namespace

void run_alternating(const Context& context, std::int32_t depth, Counters& counters) {
  const Options& options = context.options;
  // The unlimited search keeps its incumbents to itself: they may be too deep.
  Progress unlimited(context.budget, {}, 0);
  Context limited_context = context;
  limited_context.uses_unlimited_bounds = true;
  Context unlimited_context{context.data,      context.statistic, options,
                            context.objective, context.budget,    context.memory,
                            context.table,     unlimited,         false};
  unlimited_context.earlier = context.earlier;
  unlimited_context.tests = context.tests;
  ImproverState improver, unlimited_improver;
  limited_context.improver = &improver;
  unlimited_context.improver = &unlimited_improver;
  bool unlimited_is_open = true;
  for (std::int64_t turn = kFirstTurn; !context.budget.stopped(); turn *= 2) {
    bool was_paused = false;
    {
      const Turn limited_turn(context.budget, unlimited_is_open ? turn : kNoEnd);
      run_depth_first(limited_context, depth, counters);
      was_paused = context.budget.is_paused();
    }
    if (!was_paused) return;
    {
      const Turn unlimited_turn(context.budget, turn);
      run_best_first(unlimited_context, counters);
    }
    const Interval found = unlimited.interval();
    context.progress.raise(std::min(found.lower, context.progress.interval().upper));
    // Where memory ends early there is none.
    const bool has_tree = !unlimited.tree().nodes.empty();
    if (has_tree && unlimited.tree().depth() <= depth) context.progress.improve(found.upper, unlimited.tree());
    unlimited_is_open = !found.is_exact();
    const Interval now = context.progress.interval();
    if (now.upper - now.lower <= context.options.gap) {
      if (options.smallest) run_depth_first(limited_context, depth, counters);  // chooses among equal trees
      return;
    }
  }
}

}  // namespace certree
