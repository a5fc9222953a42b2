#include "search/limits/shared_search.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

namespace certree {

SharedLimitSearch::SharedLimitSearch(const LimitData& data, const Options& options, Budget& budget,
                                     MemoryBudget& memory, PointObserver observer)
    : data_(data),
      options_(options),
      budget_(budget),
      memory_(memory),
      watch_(budget, std::move(observer)),
      shared_(data, watch_),
      threads_(is_shared() ? options.threads : 1) {
  for (int worker = 0; worker < threads_.size(); ++worker)
    searches_.push_back(std::make_unique<LimitSearch>(data, options, budget, memory, shared_, worker));
}

template <class Task>
bool SharedLimitSearch::share(std::size_t n, const Task& task) {
  std::atomic<bool> is_stopped{false};
  threads_.run(
      static_cast<std::int64_t>(n),
      [&](int worker, std::int64_t number) {
        if (!is_stopped && !task(*searches_[static_cast<std::size_t>(worker)], static_cast<std::size_t>(number)))
          is_stopped = true;
      },
      [&] { watch_.observe(); });
  return !is_stopped;
}

void SharedLimitSearch::run() {
  if (!is_shared()) {
    is_complete_ = searches_[0]->run();
  } else if (shared_.root.region().is_empty()) {
    is_complete_ = true;
  } else if (search_splits()) {
    is_complete_ = true;
    const std::vector<LimitEntry>& found = shared_.root.entries();
    // A leaf is the same for all.  Of the root, what is better than the best is wanted now.
    if (!found.empty() && found[0].point.back() > 0) settle(shared_.root.region().most(data_.first_plane()) + 1);
  }
}

bool SharedLimitSearch::search_splits() {
  // The leaves are trees, too, and first of all.
  if (!searches_[0]->open_root(true)) return false;
  const auto open_root = [&](LimitSearch&, std::size_t k) { return k == 0 || searches_[k]->open_root(false); };
  if (!share(searches_.size(), open_root)) return false;
  order_ = searches_[0]->root_order();
  splits_.resize(order_.size());
  const auto split_at = [&](std::int32_t column) -> LimitSplit& { return splits_[static_cast<std::size_t>(column)]; };
  const bool is_bounded = share(order_.size(), [&](LimitSearch& search, std::size_t place) {
    search.refresh();
    return search.bound_root_split(order_[place], split_at(order_[place]));
  });
  if (!is_bounded) return false;
  std::vector<std::int32_t> open;
  std::copy_if(order_.begin(), order_.end(), std::back_inserter(open), [&](auto c) { return split_at(c).is_open; });
  if (options_.use_look_ahead_order)
    std::stable_sort(open.begin(), open.end(), [&](auto a, auto b) { return split_at(a).least < split_at(b).least; });
  return share(open.size(), [&](LimitSearch& search, std::size_t place) {
    search.refresh();
    return search.search_root_split(open[place], split_at(open[place]));
  });
}

// The first tree with the best objective below a split, if there is one.  False: stopped.
bool SharedLimitSearch::settle_split(LimitSearch& search, std::int32_t column, Cost best,
                                     std::optional<PointTree>& out) {
  const LimitSplit& known = splits_[static_cast<std::size_t>(column)];
  if (!known.is_open || (known.searched >= best && known.found > best)) return true;
  PointWatch unseen(budget_, {});
  LimitShared alone(data_, unseen);
  alone.root.lower_objective(best);
  search.ask(alone);
  if (!search.is_root_split_wanted(column, known)) return true;
  LimitSplit split;
  if (!search.bound_root_split(column, split)) return false;
  if (split.is_open && !search.search_root_split(column, split)) return false;
  if (alone.root.entries().empty()) return true;
  const LimitEntry& entry = alone.root.entries().front();
  out = PointTree{entry.point, search.tree(entry.plan)};
  return true;
}

bool SharedLimitSearch::settle(Cost best) {
  std::atomic<std::size_t> winner{order_.size()};
  return share(order_.size(), [&](LimitSearch& search, std::size_t place) {
    std::optional<PointTree> found;
    if (place > winner) return true;
    const bool is_done = settle_split(search, order_[place], best, found);
    search.ask(shared_);
    if (!found) return is_done;
    const SharedLock lock(shared_.mutex, budget_);
    if (place < winner) {
      winner = place;
      settled_ = std::move(found);
    }
    return is_done;
  });
}

std::vector<PointTree> SharedLimitSearch::trees() const {
  if (settled_) return {*settled_};
  std::vector<PointTree> out;
  for (const LimitEntry& entry : shared_.root.entries())
    out.push_back({entry.point, searches_[static_cast<std::size_t>(entry.worker)]->tree(entry.plan)});
  return out;
}

Counters SharedLimitSearch::counters() const {
  Counters out;
  out.table_entries = static_cast<std::int64_t>(shared_.bounds.size());
  for (const auto& search : searches_) {
    out.add(search->counters());
    out.table_entries += search->n_table_entries();
  }
  return out;
}

}  // namespace certree
