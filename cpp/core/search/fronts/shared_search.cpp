#include "search/fronts/shared_search.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace certree {

SharedFrontSearch::SharedFrontSearch(const Dataset& data, const Options& options, const FrontSlots& slots,
                                     std::int32_t depth, Budget& budget, MemoryBudget& memory, PointObserver observer)
    : data_(data),
      options_(options),
      slots_(slots),
      depth_(depth),
      budget_(budget),
      root_(budget, std::move(observer)),
      threads_(depth > 2 ? options.threads : 1) {
  for (int number = 0; number < threads_.size(); ++number)
    searches_.push_back(std::make_unique<FrontSearch>(data, options, slots, budget, memory, root_, number));
}

// What is excluded from the start: what nobody wants, the leaves, and what less depth has found.
void SharedFrontSearch::start_round(std::int32_t depth, const FrontPoints& dominated) {
  const Cost negatives = data_.totals()[0], positives = data_.totals()[1];
  std::vector<Stairs> excluded(slots_.count(depth));
  for (Stairs& stairs : excluded) stairs.reset(negatives, positives);
  for (const FrontPoint& p : dominated) offer_from(excluded, 0, std::max<Cost>(p.fp, 0), std::max<Cost>(p.fn, 0), {});
  if (root_.trees.empty()) {
    for (const std::int32_t label : {0, 1}) root_.trees.emplace_back().add({-1, -1, -1, label});
    offer_from(excluded, 0, 0, positives, {0, kNegativeLeaf, -1});
    offer_from(excluded, 0, negatives, 0, {0, kPositiveLeaf, -1});
  }
  for (std::size_t k = 0; k < root_.excluded.size(); ++k)
    root_.excluded[k].visit([&](Cost fp, Cost fn, const Origin& origin) {
      if (origin.kind >= 0) offer_from(excluded, k, fp, fn, {0, origin.yes, -1});
    });
  root_.excluded = std::move(excluded);
  ++root_.version;
  root_.next = 0;
  for (SharedBounds& bounds : root_.child_lower) bounds = {};
  root_.done.assign(static_cast<std::size_t>(data_.n_columns()), 0);
}

void SharedFrontSearch::run(const FrontPoints& dominated) {
  // What is found within less depth is a strong first front, and an answer if the budget ends.
  constexpr std::int32_t kFirstDepth = 3;
  for (std::int32_t depth = options_.use_iterative_deepening ? std::min(depth_, kFirstDepth) : depth_; depth <= depth_;
       ++depth) {
    start_round(depth, dominated);
    if (!search(depth)) return;
  }
  is_complete_ = true;
}

bool SharedFrontSearch::search(std::int32_t depth) {
  // All see the same root, so they have the same directions and the same order of splits.
  std::atomic<bool> is_stopped{false};
  for (const auto& search : searches_) is_stopped = is_stopped || !search->open_root(depth);
  searches_[0]->share_root(0);
  if (is_stopped || depth <= 2) return !is_stopped;
  is_last_open_ = depth == depth_;
  threads_.run(
      static_cast<std::int64_t>(searches_[0]->n_root_splits()),
      [&](int worker, std::int64_t) {
        try {
          if (!is_stopped && !searches_[static_cast<std::size_t>(worker)]->search_next_split(depth)) is_stopped = true;
        } catch (const std::bad_alloc&) {
          is_stopped = true;
          budget_.stop(StopReason::memory);
        }
      },
      [&] { root_.watch.observe(); });
  return !is_stopped;
}

std::vector<PointTree> SharedFrontSearch::front(bool by_splits) const {
  std::vector<PointTree> out;
  for (std::size_t k = by_splits ? 0 : root_.excluded.size() - 1; k < root_.excluded.size(); ++k) {
    root_.excluded[k].visit([&](Cost fp, Cost fn, const Origin& origin) {
      if (origin.kind < 0 || (by_splits && k > 0 && root_.excluded[k - 1].covers(fp, fn))) return;
      const Tree& tree = root_.trees[static_cast<std::size_t>(origin.yes)];
      out.push_back({{fp, fn, tree.n_splits()}, tree});
    });
  }
  std::sort(out.begin(), out.end(), [](const PointTree& a, const PointTree& b) {
    return a.point[0] != b.point[0] ? a.point[0] < b.point[0] : a.point[2] < b.point[2];
  });
  return out;
}

std::vector<Point> SharedFrontSearch::lower() {
  if (!is_complete_ && !is_last_open_) return {Point(3, 0)};  // the bound that needs no search
  std::vector<Point> out;
  for (std::size_t k = 0; k < root_.excluded.size(); ++k) {
    root_.excluded[k].visit([&](Cost fp, Cost fn, const Origin& origin) {
      if (origin.kind >= 0 && (k == 0 || !root_.excluded[k - 1].covers(fp, fn)))
        out.push_back({fp, fn, static_cast<Cost>(k)});
    });
  }
  if (!is_complete_) searches_[0]->add_open_bounds(depth_, out);
  return out;
}

Counters SharedFrontSearch::counters() const {
  Counters out;
  for (const auto& search : searches_) {
    out.add(search->counters());
    out.table_entries += search->n_table_entries();
  }
  return out;
}

}  // namespace certree
