// Staircases: sets of points (fp, fn) that are closed upwards, known by their minimal points.
//
// A set of trees has as its Pareto front the minimal points of the set of everything that some tree reaches or beats.
// The search handles such sets only: what a node has found, what it need not find because the caller has something as
// good, and what it cannot beat.  docs/theory/front.md
#pragma once

#include <cstdint>
#include <vector>

#include "base/cost.hpp"
#include "search/shared/plans.hpp"

namespace certree {

inline constexpr std::int32_t kNegativeLeaf = 0;  // the plans of the two leaves
inline constexpr std::int32_t kPositiveLeaf = 1;
// Kind of an origin that is a plan, in `yes`.
inline constexpr std::int32_t kKnownPlan = 1 << 30;

struct FrontPoint {
  Cost fp = 0;
  Cost fn = 0;
  std::int32_t plan = kNoPlan;  // kNoPlan: a bound, not a tree
};
using FrontPoints = std::vector<FrontPoint>;

// How a point came to be; whoever writes it says what the numbers mean, except that a negative `kind` is not a tree.
struct Origin {
  std::int32_t kind = -1;
  std::int32_t yes = -1;
  std::int32_t no = -1;
};

// A maximal point of the complement of a staircase: a point is outside exactly if it is below a corner.
struct Corner {
  Cost fp = 0;
  Cost fn = 0;
};
using Corners = std::vector<Corner>;

// An upward closed set in the plane.  With few possible values of fp it is one array, fp -> least fn: a test is one load.
// With many (large weights) it is the sorted list of minimal points.
class Stairs {
 public:
  // Empty, for points with 0 <= fp <= most_fp and 0 <= fn <= most_fn.
  void reset(Cost most_fp, Cost most_fn);
  bool covers(Cost fp, Cost fn) const { return fp <= most_fp_ && level(fp) <= fn; }
  // Adds everything at or above a point; false if it was in already.
  bool offer(Cost fp, Cost fn, const Origin& origin) {
    if (fp > most_fp_ || level(fp) <= fn) return false;
    insert(fp, fn, origin);
    return true;
  }
  // Of the minimal point at these coordinates; null: no minimal point lies there.
  Origin* origin_at(Cost fp, Cost fn);
  // Least fn by fp, where that is an array, else null; `offer` keeps it up to date.
  const Cost* levels() const { return is_dense_ ? levels_.data() : nullptr; }
  // The minimal points by rising fp.
  template <class Visit>
  void visit(Visit see) const {
    if (is_dense_) {
      Cost last = kInfinite;
      for (std::size_t x = 0; x < levels_.size(); ++x) {
        if (levels_[x] >= last) continue;
        last = levels_[x];
        see(static_cast<Cost>(x), last, origins_[x]);
        if (last == 0) break;
      }
    } else {
      for (const Step& step : steps_) see(step.fp, step.fn, step.origin);
    }
  }
  // Lets `change` rewrite the origin of every minimal point.
  template <class Change>
  void change_origins(Change change) {
    Cost last = kInfinite;
    for (std::size_t x = 0; x < levels_.size(); ++x) {
      if (levels_[x] < last) change(origins_[x]);
      last = levels_[x];
    }
    for (Step& step : steps_) change(step.origin);
  }
  // The maximal points outside, by rising fp.
  void corners(Corners& out) const;
  Cost most_fp() const { return most_fp_; }
  Cost most_fn() const { return most_fn_; }

 private:
  struct Step {
    Cost fp, fn;
    Origin origin;
  };
  // Least fn of the set at this fp.
  Cost level(Cost fp) const { return is_dense_ ? levels_[static_cast<std::size_t>(fp)] : sparse_level(fp); }
  Cost sparse_level(Cost fp) const;
  void insert(Cost fp, Cost fn, const Origin& origin);

  bool is_dense_ = true;
  Cost most_fp_ = -1;
  Cost most_fn_ = -1;
  std::vector<Cost> levels_;     // dense
  std::vector<Origin> origins_;  // dense: of the minimal point at this fp, if there is one
  std::vector<Step> steps_;      // sparse
};

// Keeps the maximal points of `points`, by rising fp.  `room` is scratch.
void keep_maximal(Cost most_fp, Corners& points, std::vector<Cost>& room);

// Adds to `out` everything that is below no corner; corners by rising fp.
void exclude_all_but(const Corners& corners, Stairs& out);

}  // namespace certree
