#include "search/limits/search.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace certree {

LimitSearch::LimitSearch(const LimitData& data, const Options& options, Budget& budget, MemoryBudget& memory,
                         LimitShared& shared, int worker)
    : data_(data),
      options_(options),
      budget_(budget),
      memory_(memory),
      watch_(shared.watch),
      first_(&shared),
      shared_(&shared),
      worker_(worker),
      factory_(data.groups(), bit_kernels_for(options.isa), memory, options.use_column_reduction),
      adder_(data, options.isa, budget, memory),
      depth_two_(data, options.min_leaf, options.use_limit_dominance, [this] { return poll(); }),
      join_(data),
      plans_(data.task().n_labels),
      values_(data.n_all()),
      point_(data.task().width()) {
  for (std::size_t m = 0; m < data.n_all(); ++m) split_weights_.push_back(data.split_weight(m));
}

LimitSearch::Level& LimitSearch::level_at(std::size_t level) {
  while (levels_.size() <= level) {
    levels_.push_back(std::make_unique<Level>(data_, options_, memory_));
    Level& l = *levels_.back();
    for (LimitPoints* list : {&l.points, &l.found[0], &l.found[1]}) list->reset(data_.task().width(), data_.n_all());
    for (const int holds : {0, 1}) {
      l.lower[holds].resize(data_.n_all());
      l.most[holds].resize(data_.n_all());
    }
    l.split.resize(data_.n_all());
  }
  return *levels_[level];
}

bool LimitSearch::poll() {
  if (budget_.poll()) return true;
  charge();
  if (worker_ == 0) watch_.observe();
  return budget_.stopped();
}

// Lists and plans are charged as they grow.
void LimitSearch::charge() {
  std::int64_t bytes = bound_bytes_ + list_bytes_ + plans_.bytes();
  for (const auto& level : levels_) bytes += level->points.bytes() + level->found[0].bytes() + level->found[1].bytes();
  if (bytes <= charged_) return;
  memory_.charge(bytes - charged_);
  charged_ = bytes;
}

bool LimitSearch::run() {
  if (shared_->root.region().is_empty()) return true;
  make_root();
  return search(0, data_.depth(), -1, false);
}

void LimitSearch::make_root() {
  Level& root = level_at(0);
  factory_.make_root(root.node);
  if (data_.tests() != nullptr) data_.tests()->start(root.paid);
  refresh();
}

void LimitSearch::refresh() {
  const SharedLock lock(shared_->mutex, budget_);
  level_at(0).region = shared_->root.region();
}

bool LimitSearch::open_root(bool takes_leaves) {
  make_root();
  Level& l = level_at(0);
  if (!open(0, data_.depth(), -1, false)) return false;
  set_active(l, data_.depth());
  if (takes_leaves) take_leaves();
  return true;
}

void LimitSearch::take_leaves() {
  Level& l = level_at(0);
  LimitPoints leaves;
  leaves.reset(data_.task().width(), data_.n_all());
  depth_two_.add_leaves(l.sums.view, l.region, leaves);
  for (std::size_t k = 0; k < leaves.size(); ++k) take(leaves.point(k), leaves.values(k), leaves.plan(k));
}

bool LimitSearch::bound_root_split(std::int32_t column, LimitSplit& split) {
  Level& l = level_at(0);
  if (poll() || !bound_split(0, data_.depth(), column, 1, &split.is_open)) return false;
  for (const int holds : {0, 1}) split.lower[holds] = l.lower[holds];
  split.least = l.lower[0][0] + l.lower[1][0] + split_value(l, column, 0);
  return true;
}

bool LimitSearch::is_root_split_wanted(std::int32_t column, const LimitSplit& split) {
  Level& l = level_at(0);
  start_split(l, data_.depth(), column);
  for (const int holds : {0, 1}) l.lower[holds] = split.lower[holds];
  return is_wanted(l);
}

bool LimitSearch::search_root_split(std::int32_t column, LimitSplit& split) {
  if (poll()) return false;
  found_ = kInfinite;
  wanted_ = split.searched = level_at(0).region.most(data_.first_plane());
  if (!is_root_split_wanted(column, split)) return true;
  const bool is_done = data_.depth() == 3 ? try_terminal(0, column) : try_deep(0, data_.depth(), column);
  split.found = found_;
  split.searched = is_done ? wanted_ : -kInfinite;
  return is_done;
}

std::vector<std::int32_t> LimitSearch::root_order() {
  Level& l = level_at(0);
  l.bounds[0].start(l.sums.view, 2);
  l.bounds[0].compute(0);
  std::vector<std::int32_t> order;
  std::vector<Cost> value;
  for (std::int32_t split = 0; split < l.node.n_columns; ++split) {
    const auto s = static_cast<std::size_t>(split);
    order.push_back(split);
    value.push_back(l.bounds[0].side(0, s, true) + l.bounds[0].side(0, s, false) + split_value(l, split, 0));
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return value[static_cast<std::size_t>(a)] < value[static_cast<std::size_t>(b)];
  });
  return order;
}

void LimitSearch::ask(LimitShared& shared) {
  // Only the bounds of the first question are kept.
  if (shared_ == first_)
    first_bytes_ = bound_bytes_;
  else
    bound_bytes_ = first_bytes_;
  list_bytes_ = 0;
  lists_.clear();
  shared_ = &shared;
  refresh();
}

bool LimitSearch::open(std::size_t level, std::int32_t depth, std::int32_t split, bool holds) {
  Level& l = level_at(level);
  if (level > 0) {
    const Node& parent = level_at(level - 1).node;
    factory_.child_rows(parent, split, holds, l.node.rows);
    factory_.make_child(parent, split, holds, true, l.node);
  }
  if (!adder_.add_node(l.node, depth > 1, l.sums)) return false;
  if (data_.tests() != nullptr) {
    l.prices.set(*data_.tests(), l.node, l.paid);
    l.sums.view.prices = &l.prices;
  }
  return true;
}

// The rows of a child of the parent level, what is left to pay there, and what names this subproblem.
Fingerprint LimitSearch::enter(std::size_t level, std::int32_t depth, std::int32_t split, bool holds) {
  Level& parent = level_at(level - 1);
  RowSet& rows = parent.rows[holds ? 1 : 0];
  factory_.child_rows(parent.node, split, holds, rows);
  Fingerprint key = rows.key;
  if (const TestCosts* tests = data_.tests(); tests != nullptr) {
    Level& l = level_at(level);
    tests->pay(parent.paid, parent.node.column[static_cast<std::size_t>(split)], l.paid);
    key = tests->key(data_.groups(), rows.words.data(), key, l.paid);
  }
  return mix(key, static_cast<std::uint64_t>(depth));
}

// A limit is active where some tree of the subproblem could break it (docs/theory/limits.md, theorem 3).
void LimitSearch::set_child_active(const LimitRegion& region, const Cost* most,
                                   std::vector<std::uint8_t>& active) const {
  active.assign(data_.n_bounded(), 1);
  if (!options_.use_interval_tests) return;
  for (std::size_t m = data_.first_plane() + 1; m < data_.n_bounded(); ++m)
    active[m] = most[m] > region.sure[m] ? 1 : 0;
}

void LimitSearch::set_active(Level& l, std::int32_t depth) {
  const Cost paid = data_.tests() == nullptr ? 0 : data_.most_price(depth) * l.sums.view.totals[data_.paying_value()];
  for (std::size_t m = 0; m < data_.n_bounded(); ++m)
    values_[m] = l.sums.view.totals[data_.ceiling_value(m)] +
                 std::max<Cost>(split_weights_[m], 0) * data_.most_splits(depth) + data_.price_weight(m) * paid;
  set_child_active(l.region, values_.data(), l.active);
}

// What a split adds to the planes, and bounds of both children that need no look at them: what their row groups add at
// least and at most.
void LimitSearch::start_split(Level& l, std::int32_t depth, std::int32_t split) {
  const auto s = static_cast<std::size_t>(split);
  const std::int64_t splits = data_.most_splits(depth - 1);
  for (std::size_t m = 0; m < data_.n_all(); ++m) l.split[m] = split_value(l, split, m);
  for (const int holds : {0, 1}) {
    const Cost paid = data_.tests() == nullptr
                          ? 0
                          : data_.most_price(depth - 1) * l.sums.view.side(data_.paying_value(), s, holds != 0);
    for (std::size_t m = 0; m < data_.n_bounded(); ++m) {
      const auto floor = static_cast<std::size_t>(data_.floor_value(m));
      const auto ceiling = static_cast<std::size_t>(data_.ceiling_value(m));
      l.lower[holds][m] = l.sums.view.side(floor, s, holds != 0) + std::min<Cost>(split_weights_[m], 0) * splits;
      l.most[holds][m] = l.sums.view.side(ceiling, s, holds != 0) + std::max<Cost>(split_weights_[m], 0) * splits +
                         data_.price_weight(m) * paid;
    }
  }
}

bool LimitSearch::is_wanted(const Level& l, std::size_t n_planes) {
  for (std::size_t m = 0; m < n_planes; ++m) values_[m] = l.lower[0][m] + l.lower[1][m] + l.split[m];
  return l.region.admits(values_.data(), n_planes);
}

// Sums both children, and computes their planes one by one until one of them closes the split; the first `n_planes` at
// most.
bool LimitSearch::bound_terminal(Level& l, std::int32_t split, std::size_t n_planes, bool* is_open) {
  if (!adder_.add_children(l.node, l.sums, split, l.children)) return false;
  if (const TestCosts* tests = data_.tests(); tests != nullptr) {
    tests->pay(l.paid, l.node.column[static_cast<std::size_t>(split)], l.paid_below);
    l.prices_below.set(*tests, l.node, l.paid_below);
    for (LimitSums& child : l.children) child.view.prices = &l.prices_below;
  }
  for (const int holds : {0, 1}) l.bounds[holds].start(l.children[holds].view, 2);
  for (std::size_t m = 0; m < n_planes; ++m) {
    for (const int holds : {0, 1}) {
      l.bounds[holds].compute(m);
      l.lower[holds][m] = std::max(l.lower[holds][m], l.bounds[holds].whole(m));
    }
    if (!is_wanted(l)) {
      *is_open = false;
      return true;
    }
  }
  return true;
}

bool LimitSearch::bound_deep(std::size_t level, std::int32_t depth, std::int32_t split, bool* is_open) {
  Level& l = level_at(level);
  const int first = smaller_child(l, split);
  for (const int holds : {first, 1 - first}) {
    Level& child = level_at(level + 1);
    leave(l.region, l.lower[holds].data(), l.lower[1 - holds].data(), l.split.data(), l.most[1 - holds].data(),
          child.region);
    if (child.region.is_empty()) {
      *is_open = false;
      return true;
    }
    if (!bound(level + 1, depth - 1, split, holds != 0, l.lower[holds])) return false;
    if (!is_wanted(l)) {
      *is_open = false;
      return true;
    }
  }
  return true;
}

// Raises the bounds of both children of a split; false: stopped.
bool LimitSearch::bound_split(std::size_t level, std::int32_t depth, std::int32_t split, std::size_t n_planes,
                              bool* is_open) {
  Level& l = level_at(level);
  *is_open = false;
  const auto s = static_cast<std::size_t>(split);
  if (const std::int32_t r = data_.row_value(); r >= 0) {
    const auto rows = static_cast<std::size_t>(r);
    if (l.sums.view.side(rows, s, true) < options_.min_leaf || l.sums.view.side(rows, s, false) < options_.min_leaf)
      return true;
  }
  start_split(l, depth, split);
  *is_open = is_wanted(l);
  if (!*is_open) {
    ++counters_.splits_pruned;
    return true;
  }
  ++counters_.splits_tried;
  return depth == 3 ? bound_terminal(l, split, n_planes, is_open) : bound_deep(level, depth, split, is_open);
}

// Least plane values over the trees of a child, of depth three or more, that can be wanted; kInfinite: none.
bool LimitSearch::bound(std::size_t level, std::int32_t depth, std::int32_t split, bool holds,
                        std::vector<Cost>& lower) {
  Level& l = level_at(level);
  const Fingerprint key = enter(level, depth, split, holds);
  if (options_.use_limit_table) {
    const SharedLock lock(shared_->mutex, budget_);
    const auto found = shared_->bounds.find(key);
    if (found != shared_->bounds.end() && found->second.region.contains(l.region)) {
      ++counters_.table_hits;
      for (std::size_t m = 0; m < lower.size(); ++m) lower[m] = std::max(lower[m], found->second.lower[m]);
      return true;
    }
  }
  if (poll() || !open(level, depth, split, holds)) return false;
  if (!bound_splits(level, depth, 1)) return false;
  std::vector<Cost> least(data_.n_all(), kInfinite);
  l.points.clear();
  depth_two_.add_leaves(l.sums.view, l.region, l.points);
  l.points.least(least.data());
  for (const std::int32_t s : l.open)
    for (std::size_t m = 0; m < data_.n_bounded(); ++m) {
      const std::size_t at = static_cast<std::size_t>(s) * data_.n_all() + m;
      least[m] = std::min(least[m], l.split_lower[0][at] + l.split_lower[1][at] + split_value(l, s, m));
    }
  for (std::size_t m = 0; m < lower.size(); ++m) lower[m] = std::max(lower[m], least[m]);
  if (options_.use_limit_table) {
    const SharedLock lock(shared_->mutex, budget_);
    LimitShared::KnownBound& known = shared_->bounds[key];
    if (known.lower.empty())
      bound_bytes_ += static_cast<std::int64_t>(128 + (l.region.budgets.size() + 2 * lower.size()) * sizeof(Cost));
    known = {l.region, least};
  }
  return true;
}

// Bounds of the children of all splits; those that stay open are listed, best first.
bool LimitSearch::bound_splits(std::size_t level, std::int32_t depth, std::size_t n_planes) {
  Level& l = level_at(level);
  ++counters_.nodes_expanded;
  l.open.clear();
  const std::size_t n = static_cast<std::size_t>(l.node.n_columns), n_all = data_.n_all();
  for (const int holds : {0, 1}) l.split_lower[holds].ensure(n * n_all);
  for (std::int32_t split = 0; split < l.node.n_columns; ++split) {
    if (poll()) return false;
    bool is_open = false;
    if (!bound_split(level, depth, split, n_planes, &is_open)) return false;
    if (!is_open) continue;
    l.open.push_back(split);
    for (const int holds : {0, 1})
      std::copy_n(l.lower[holds].data(), n_all, l.split_lower[holds].data() + static_cast<std::size_t>(split) * n_all);
  }
  const auto first = [&](std::int32_t s) {
    const std::size_t at = static_cast<std::size_t>(s) * n_all;
    return l.split_lower[0][at] + l.split_lower[1][at] + split_value(l, s, 0);
  };
  if (options_.use_look_ahead_order)
    std::stable_sort(l.open.begin(), l.open.end(), [&](auto a, auto b) { return first(a) < first(b); });
  return true;
}

// Trees of depth at most two: everything from one set of sums.
bool LimitSearch::solve_shallow(std::size_t level, std::int32_t depth) {
  Level& l = level_at(level);
  if (depth == 0) return true;
  l.bounds[0].start(l.sums.view, depth);
  for (std::size_t m = 0; m < data_.n_bounded(); ++m) l.bounds[0].compute(m);
  return depth_two_.add_trees(l.sums.view, l.bounds[0], depth, l.region, l.active, plans_, l.points);
}

// The wanted points of a node into level.points, or to the root.  False: stopped.
bool LimitSearch::search(std::size_t level, std::int32_t depth, std::int32_t split, bool holds) {
  Level& l = level_at(level);
  Fingerprint key;
  if (level > 0) {
    key = enter(level, depth, split, holds);
    if (recall(key, l)) return true;
  }
  if (poll() || !open(level, depth, split, holds)) return false;
  set_active(l, depth);
  l.points.clear();
  depth_two_.add_leaves(l.sums.view, l.region, l.points);
  if (depth <= 2) {
    const bool is_done = solve_shallow(level, depth);
    if (level == 0) {
      const LimitPoints points = l.points;
      for (std::size_t k = 0; is_done && k < points.size(); ++k)
        take(points.point(k), points.values(k), points.plan(k));
    }
    return is_done;
  }
  if (level == 0) {
    l.points.clear();
    take_leaves();
  }
  l.collector.start(l.active, l.points);
  if (!search_splits(level, depth)) return false;
  l.collector.finish();
  if (level > 0) remember(key, l);
  return true;
}

bool LimitSearch::search_splits(std::size_t level, std::int32_t depth) {
  Level& l = level_at(level);
  // The first plane closes most splits; the others are computed where it does not, with the points.
  if (!bound_splits(level, depth, 1)) return false;
  const std::size_t n_all = data_.n_all();
  const std::vector<std::int32_t> open = l.open;
  for (const std::int32_t split : open) {
    if (poll()) return false;
    start_split(l, depth, split);
    for (const int holds : {0, 1})
      std::copy_n(l.split_lower[holds].data() + static_cast<std::size_t>(split) * n_all, n_all, l.lower[holds].data());
    if (!is_wanted(l)) continue;
    if (!(depth == 3 ? try_terminal(level, split) : try_deep(level, depth, split))) return false;
  }
  return true;
}

std::int32_t LimitSearch::smaller_child(const Level& l, std::int32_t split) const {
  std::int64_t held = 0;
  for (std::int32_t w = 0; w < l.node.n_words; ++w)
    held += std::popcount(l.node.bits[static_cast<std::size_t>(w) * static_cast<std::size_t>(l.node.stride) +
                                      static_cast<std::size_t>(split)]);
  return 2 * held <= l.node.planes.front().rows ? 1 : 0;
}

// Children of depth two: both lists from the sums of pairs.
bool LimitSearch::try_terminal(std::size_t level, std::int32_t split) {
  Level& l = level_at(level);
  bool is_open = true;
  if (!bound_terminal(l, split, data_.n_bounded(), &is_open)) return false;
  if (!is_open) return true;
  const int first = smaller_child(l, split);
  for (const int holds : {first, 1 - first}) {
    leave(l.region, l.lower[holds].data(), l.lower[1 - holds].data(), l.split.data(), l.most[1 - holds].data(), left_);
    if (left_.is_empty()) return true;
    LimitPoints& found = l.found[holds];
    found.clear();
    set_child_active(left_, l.most[holds].data(), child_active_);
    const LimitView& view = l.children[holds].view;
    depth_two_.add_leaves(view, left_, found);
    if (!depth_two_.add_trees(view, l.bounds[holds], 2, left_, child_active_, plans_, found)) return false;
    if (found.empty()) return true;
    found.least(l.lower[holds].data());
  }
  return combine(level, split);
}

bool LimitSearch::try_deep(std::size_t level, std::int32_t depth, std::int32_t split) {
  Level& l = level_at(level);
  const int first = smaller_child(l, split);
  for (const int holds : {first, 1 - first}) {
    Level& child = level_at(level + 1);
    leave(l.region, l.lower[holds].data(), l.lower[1 - holds].data(), l.split.data(), l.most[1 - holds].data(),
          child.region);
    if (child.region.is_empty()) return true;
    if (!search(level + 1, depth - 1, split, holds != 0)) return false;
    l.found[holds] = child.points;
    if (l.found[holds].empty()) return true;
    l.found[holds].least(l.lower[holds].data());
  }
  return combine(level, split);
}

// Sums of the two lists that are wanted.  False: stopped.
bool LimitSearch::combine(std::size_t level, std::int32_t split) {
  Level& l = level_at(level);
  const LimitPoints &a = l.found[1], &b = l.found[0];
  const std::int32_t column = l.node.column[static_cast<std::size_t>(split)];
  const std::size_t width = data_.task().width();
  const Cost paid = paid_at(l, split);
  std::size_t steps = 0;
  return join_.run(a, b, l.region, l.split.data(), [&](std::size_t i, std::size_t k) {
    if ((++steps & 0xfff) == 0 && poll()) return false;
    for (std::size_t m = 0; m < data_.n_all(); ++m) values_[m] = a.values(i)[m] + b.values(k)[m] + l.split[m];
    if (!l.region.admits(values_.data()) || (level > 0 && !l.collector.is_useful(values_.data()))) return true;
    for (std::size_t q = 0; q < width; ++q) point_[q] = a.point(i)[q] + b.point(k)[q];
    if (paid != 0) point_[width - 2] += paid;
    ++point_[width - 1];
    const std::int32_t plan = plans_.add({column, a.plan(i), b.plan(k)});
    if (level > 0)
      l.collector.add(point_.data(), values_.data(), plan);
    else
      take(point_.data(), values_.data(), plan);
    return true;
  });
}

// A tree of the whole table.
void LimitSearch::take(const Cost* point, const Cost* values, std::int32_t plan) {
  Level& root = level_at(0);
  if (!root.region.admits(values)) return;
  const SharedLock lock(shared_->mutex, budget_);
  found_ = std::min(found_, values[data_.first_plane()]);
  const bool is_taken = shared_->root.region().admits(values) && shared_->root.take(point, plan, worker_);
  root.region = shared_->root.region();
  const Cost most = root.region.most(data_.first_plane());
  if (most < found_ - 1) wanted_ = std::min(wanted_, most);
  if (is_taken) shared_->watch.record(static_cast<std::int64_t>(shared_->root.entries().size()));
}

bool LimitSearch::recall(const Fingerprint& key, Level& l) {
  if (!options_.use_limit_table) return false;
  const auto found = lists_.find(key);
  if (found == lists_.end() || !found->second.region.contains(l.region)) {
    ++counters_.table_misses;
    return false;
  }
  // The list lacks points that only limits which were inactive then could want.
  const Known& known = found->second;
  for (std::size_t m = data_.first_plane() + 1; m < data_.n_bounded(); ++m)
    if (known.active[m] == 0 && known.region.sure[m] > l.region.sure[m]) return false;
  ++counters_.table_hits;
  l.points.clear();
  for (std::size_t k = 0; k < known.points.size(); ++k)
    if (l.region.admits(known.points.values(k)))
      l.points.add(known.points.point(k), known.points.values(k), known.points.plan(k));
  return true;
}

void LimitSearch::remember(const Fingerprint& key, const Level& l) {
  if (!options_.use_limit_table) return;
  Known& known = lists_[key];
  list_bytes_ -= known.points.bytes();
  if (known.active.empty())
    list_bytes_ += static_cast<std::int64_t>(160 + (l.region.budgets.size() + l.region.sure.size()) * sizeof(Cost));
  known = {l.region, l.active, l.points};
  list_bytes_ += known.points.bytes();
}

// The rows of a node are those among `rows` (groups).  A split that sends all of them one way is left out: rows are not
// counted where leaves may have any size, so the search does not notice an empty side.
std::int32_t LimitSearch::add_tree(std::int32_t plan, const std::vector<Word>& rows, Tree& tree) const {
  const Plan& p = plans_[plan];
  if (p.column < 0) return tree.add({-1, -1, -1, p.yes});
  std::vector<Word> side[2] = {rows, rows};
  bool is_empty[2] = {true, true};
  const Word* holds = data_.groups().group_column(p.column);
  for (std::size_t w = 0; w < rows.size(); ++w) {
    side[1][w] &= holds[w];
    side[0][w] &= ~holds[w];
    for (const int k : {0, 1}) is_empty[k] = is_empty[k] && side[k][w] == 0;
  }
  if (is_empty[1]) return add_tree(p.no, rows, tree);
  if (is_empty[0]) return add_tree(p.yes, rows, tree);
  const std::int32_t at = tree.add({p.column, -1, -1, -1});
  const std::int32_t yes = add_tree(p.yes, side[1], tree), no = add_tree(p.no, side[0], tree);
  tree.set_children(at, yes, no);
  return at;
}

Tree LimitSearch::tree(std::int32_t plan) const {
  std::vector<Word> rows(data_.groups().group_words(), 0);
  for (std::int32_t g = 0; g < data_.groups().n_groups(); ++g)
    rows[static_cast<std::size_t>(g) / kWordBits] |= Word{1} << (g % kWordBits);
  Tree out;
  add_tree(plan, rows, out);
  return out;
}

}  // namespace certree
