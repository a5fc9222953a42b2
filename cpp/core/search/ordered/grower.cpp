#include "search/ordered/grower.hpp"

#include <algorithm>
#include <limits>

#include "bounds/split_count.hpp"

namespace certree {

namespace {

// Thresholds of a feature that are looked at beside its purest one: they cut the rows into this many parts.
constexpr std::int32_t kParts = 8;

}  // namespace

OrderedGrower::OrderedGrower(OrderedSearch& search)
    : search_(search),
      trees_(search),
      data_(search.context().data),
      planes_(static_cast<std::size_t>(data_.rule().n_planes)),
      total_(planes_),
      left_(planes_),
      right_(planes_) {}

bool OrderedGrower::poll() { return search_.poll(); }

void OrderedGrower::release() { search_.release(); }

void OrderedGrower::add_row(std::int32_t row, Cost* sums) const {
  if (data_.adds_to_one_plane()) {
    sums[data_.plane(row)] += data_.value(row, data_.plane(row));
    return;
  }
  for (std::size_t d = 0; d < planes_; ++d) sums[d] += data_.value(row, static_cast<std::int32_t>(d));
}

void OrderedGrower::add_totals(const OrderedNode& node) {
  std::fill(total_.begin(), total_.end(), Cost{0});
  for (std::int32_t k = 0; k < node.n_rows(); ++k) add_row(node.rows()[k], total_.data());
}

Cost OrderedGrower::leaf(std::size_t level, std::int32_t* label) {
  const OrderedNode& node = search_.node(level);
  if (data_.leaves() != nullptr)
    return search_.context().objective.leaf(data_.leaves()->leaf(node.rows(), node.n_rows(), label));
  add_totals(node);
  return search_.context().objective.leaf(data_.leaf_cost(total_.data(), label));
}

Cost OrderedGrower::split_value(std::size_t, std::int32_t) { return search_.context().objective.split(0); }

// Every bin is a rank.
template <class Use>
void OrderedGrower::scan_bins(const OrderedNode& node, std::int32_t f, Use use) {
  const FeatureBins& bins = node.bins(f);
  const std::uint8_t* bin_of = node.bin_of(f);
  sums_of_bin_.assign(static_cast<std::size_t>(bins.n_bins) * planes_, 0);
  for (std::int32_t k = 0; k < node.n_rows(); ++k) {
    const std::int32_t row = node.rows()[k];
    add_row(row, sums_of_bin_.data() + static_cast<std::size_t>(bin_of[row]) * planes_);
  }
  for (std::size_t b = 0; b + 1 < static_cast<std::size_t>(bins.n_bins); ++b) {
    if (bins.start[b] == bins.start[b + 1]) continue;
    for (std::size_t d = 0; d < planes_; ++d) left_[d] += sums_of_bin_[b * planes_ + d];
    use(bins.last_rank[b], bins.start[b + 1]);
  }
}

template <class Use>
void OrderedGrower::scan_order(OrderedNode& node, std::int32_t f, Use use) {
  const std::int32_t* order = node.order(f);
  const std::int32_t* ranks = data_.ranks(f);
  for (std::int32_t k = 0; k + 1 < node.n_rows(); ++k) {
    add_row(order[k], left_.data());
    if (ranks[order[k]] != ranks[order[k + 1]]) use(ranks[order[k]], k + 1);
  }
}

// Costs that are asked for, of all thresholds at once.
template <class Use>
void OrderedGrower::scan_asked(OrderedNode& node, std::int32_t f, Use use) {
  const std::int32_t* order = node.order(f);
  const std::int32_t* ranks = data_.ranks(f);
  first_.resize(static_cast<std::size_t>(node.n_rows()) + 1);
  others_.resize(first_.size());
  data_.leaves()->start(node.rows(), node.n_rows());
  data_.leaves()->along(order, node.n_rows(), ranks, first_.data(), others_.data());
  for (std::int32_t k = 1; k < node.n_rows(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (first_[at] >= kNoCost || others_[at] >= kNoCost) continue;
    asked_ = first_[at] + others_[at];
    use(ranks[order[k - 1]], k);
  }
}

template <class Use>
void OrderedGrower::for_each_threshold(OrderedNode& node, std::int32_t f, Use use) {
  std::fill(left_.begin(), left_.end(), Cost{0});
  const std::int64_t least = search_.context().options.min_leaf;
  const auto use_large = [&](std::int32_t rank, std::int32_t n_left) {
    if (n_left >= least && node.n_rows() - n_left >= least && n_left < node.n_rows()) use(rank, n_left);
  };
  if (data_.leaves() != nullptr) {
    scan_asked(node, f, use_large);
  } else if (data_.n_ranks(f) <= kMostBins) {
    scan_bins(node, f, use_large);
  } else {
    scan_order(node, f, use_large);
  }
}

void OrderedGrower::set_right() {
  for (std::size_t d = 0; d < planes_; ++d) right_[d] = total_[d] - left_[d];
}

double OrderedGrower::purity_of(const Cost* sums, Impurity impurity) const {
  if (data_.rule().form == PlaneForm::squares) {
    double saved = 0;
    for (std::int32_t k = 0; k < data_.rule().n_outputs && sums[0] > 0; ++k) {
      const auto sum = static_cast<double>(sums[k + 1]);
      saved += static_cast<double>(data_.rule().outputs[k]) * (sum / static_cast<double>(sums[0]) * sum);
    }
    return saved;
  }
  Purity purity(impurity);
  for (std::size_t d = 0; d < planes_; ++d) purity.add(static_cast<double>(sums[d]));
  return purity.get();
}

// Where a row has a cost per label, purity says nothing.
double OrderedGrower::purity(Impurity impurity) {
  if (!data_.adds_to_one_plane() && data_.rule().form != PlaneForm::squares) return cheapness();
  set_right();
  return purity_of(left_.data(), impurity) + purity_of(right_.data(), impurity);
}

double OrderedGrower::cheapness() {
  if (data_.leaves() != nullptr) return -static_cast<double>(asked_);
  set_right();
  std::int32_t label = 0;
  return -static_cast<double>(data_.leaf_cost(left_.data(), &label) + data_.leaf_cost(right_.data(), &label));
}

template <class Score>
OrderedGrower::Scored OrderedGrower::best_test(std::size_t level, Score score) {
  OrderedNode& node = search_.node(level);
  add_totals(node);
  Scored best{-std::numeric_limits<double>::infinity(), -1};
  for (std::int32_t f = 0; f < data_.n_features() && !poll(); ++f) {
    for_each_threshold(node, f, [&](std::int32_t rank, std::int32_t) {
      const double found = score();
      if (found > best.score) best = {found, data_.test(f, rank)};
    });
  }
  return best;
}

std::int32_t OrderedGrower::purest_test(std::size_t level, Impurity impurity) {
  return best_test(level, [&] { return purity(impurity); }).test;
}

std::int32_t OrderedGrower::cheapest_test(std::size_t level) {
  return best_test(level, [&] { return cheapness(); }).test;
}

void OrderedGrower::candidates(std::size_t level, std::size_t most, std::vector<std::int32_t>& out) {
  OrderedNode& node = search_.node(level);
  add_totals(node);
  std::vector<Scored> all;
  for (std::int32_t f = 0; f < data_.n_features() && !poll(); ++f) {
    Scored best{-std::numeric_limits<double>::infinity(), -1};
    std::int64_t part = 1;
    for_each_threshold(node, f, [&](std::int32_t rank, std::int32_t n_left) {
      const Scored here{purity(Impurity::gini), data_.test(f, rank)};
      if (here.score > best.score) best = here;
      if (std::int64_t{n_left} * kParts < part * node.n_rows()) return;
      part = std::int64_t{n_left} * kParts / node.n_rows() + 1;
      all.push_back(here);
    });
    if (best.test >= 0) all.push_back(best);
  }
  std::stable_sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });
  out.clear();
  for (const Scored& one : all) {
    if (out.size() >= most) break;
    if (std::find(out.begin(), out.end(), one.test) == out.end()) out.push_back(one.test);
  }
}

void OrderedGrower::descend(std::size_t level, std::int32_t test, bool holds) {
  OrderedNode& node = search_.node(level);
  search_.node(level + 1).make_child(node, data_.feature_of(test), data_.position_of(test), holds);
}

Cost OrderedGrower::solve(std::size_t level, std::int32_t depth, Tree& tree, Cost* floor) {
  std::int32_t root = -1;
  OrderedQuestion question{Shape::full(depth), kInfinite, search_.least_slack()};
  if (level == 0) question.listener = listener_;
  const Cost value = trees_.add_best(level, question, tree, &root);
  *floor = split_count_bound(search_.context().objective, value, 0, depth);
  return value;
}

}  // namespace certree
