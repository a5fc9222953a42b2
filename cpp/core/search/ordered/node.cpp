#include "search/ordered/node.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

namespace {

// Where the budget has ended, so many rows and features more are looked at: a fraction of a second.
constexpr std::int64_t kGrace = std::int64_t{1} << 23;

}  // namespace

OrderedNode::OrderedNode(const OrderedData& data, Budget& budget, MemoryBudget& memory)
    : data_(data),
      budget_(budget),
      rows_(memory),
      has_order_(static_cast<std::size_t>(data.n_features())),
      bins_(static_cast<std::size_t>(data.n_features())),
      bin_of_(memory),
      no_bin_(memory),
      counts_(memory) {
  for (std::int32_t f = 0; f < data.n_features(); ++f) order_.emplace_back(memory);
}

void OrderedNode::start() {
  std::fill(has_order_.begin(), has_order_.end(), std::uint8_t{0});
  bin_of_.ensure_unset(static_cast<std::size_t>(data_.n_features()) * static_cast<std::size_t>(data_.n_rows()));
}

void OrderedNode::make_root() {
  parent_ = nullptr;
  start();
  n_rows_ = data_.n_rows();
  std::int32_t* rows = rows_.ensure(static_cast<std::size_t>(n_rows_));
  for (std::int32_t k = 0; k < n_rows_; ++k) rows[k] = k;
  describe();
}

void OrderedNode::make_child(OrderedNode& parent, std::int32_t f, std::int32_t rank, bool holds) {
  parent_ = &parent;
  parent_feature_ = f;
  parent_rank_ = rank;
  parent_holds_ = holds;
  start();
  const std::int32_t* ranks = data_.ranks(f);
  std::int32_t* rows = rows_.ensure(static_cast<std::size_t>(parent.n_rows_));
  n_rows_ = 0;
  for (std::int32_t k = 0; k < parent.n_rows_; ++k) {
    const std::int32_t row = parent.rows_[static_cast<std::size_t>(k)];
    rows[n_rows_] = row;
    n_rows_ += (ranks[row] <= rank) == holds;
  }
  describe();
}

void OrderedNode::describe() {
  key_ = {};
  for (std::int32_t k = 0; k < n_rows_; ++k) add_key(key_, data_.key(rows_[static_cast<std::size_t>(k)]));
  data_.audit(key_, rows_.data(), n_rows_);
  is_complete_ = true;
  for (n_described_ = 0; n_described_ < data_.n_features(); ++n_described_) {
    const bool is_long = std::int64_t{n_described_} * n_rows_ > kGrace;
    if ((is_long && budget_.poll()) || budget_.is_past_grace(n_rows_)) return leave_out(n_described_);
    if (data_.n_ranks(n_described_) <= kMostBins) {
      bin_by_rank(n_described_);
    } else {
      bin_by_order(n_described_);
    }
  }
}

const std::int32_t* OrderedNode::order(std::int32_t f) {
  const auto at = static_cast<std::size_t>(f);
  if (has_order_[at]) return order_[at].data();
  std::int32_t* out = order_[at].ensure(static_cast<std::size_t>(n_rows_) + 1);
  if (parent_ == nullptr) {
    sort_root(f, out);
  } else {
    const std::int32_t* above = parent_->order(f);
    const std::int32_t* ranks = data_.ranks(parent_feature_);
    std::int32_t n = 0;
    for (std::int32_t k = 0; n < n_rows_; ++k) {
      out[n] = above[k];
      n += (ranks[above[k]] <= parent_rank_) == parent_holds_;
    }
  }
  has_order_[at] = 1;
  return out;
}

void OrderedNode::sort_root(std::int32_t f, std::int32_t* out) {
  const std::int32_t* ranks = data_.ranks(f);
  if (data_.n_ranks(f) / 4 > n_rows_) {  // most ranks have no row
    std::iota(out, out + n_rows_, 0);
    std::stable_sort(out, out + n_rows_, [&](std::int32_t a, std::int32_t b) { return ranks[a] < ranks[b]; });
    return;
  }
  counts_.assign(static_cast<std::size_t>(data_.n_ranks(f)) + 1, 0);
  for (std::int32_t row = 0; row < n_rows_; ++row) ++counts_[static_cast<std::size_t>(ranks[row]) + 1];
  for (std::size_t r = 1; r < counts_.size(); ++r) counts_[r] += counts_[r - 1];
  for (std::int32_t row = 0; row < n_rows_; ++row) out[counts_[static_cast<std::size_t>(ranks[row])]++] = row;
}

// From this feature on all have one bin, which no threshold parts.
void OrderedNode::leave_out(std::int32_t first) {
  is_complete_ = false;
  no_bin_.ensure(static_cast<std::size_t>(data_.n_rows()));
  for (std::int32_t f = first; f < data_.n_features(); ++f) {
    FeatureBins& bins = bins_[static_cast<std::size_t>(f)];
    bins.n_bins = 1;
    bins.start.assign({0, n_rows_});
    bins.last_rank.assign(1, data_.n_ranks(f) - 1);
    bins.is_inner.assign(1, 0);
  }
}

// Few ranks: every rank is a bin.
void OrderedNode::bin_by_rank(std::int32_t f) {
  FeatureBins& bins = bins_[static_cast<std::size_t>(f)];
  const std::int32_t* ranks = data_.ranks(f);
  std::uint8_t* bin_of = bin_of_.data() + static_cast<std::size_t>(f) * static_cast<std::size_t>(data_.n_rows());
  const auto n = static_cast<std::size_t>(data_.n_ranks(f));
  bins.n_bins = data_.n_ranks(f);
  bins.start.assign(n + 1, 0);
  bins.last_rank.resize(n);
  bins.is_inner.assign(n, 0);
  for (std::int32_t k = 0; k < n_rows_; ++k) {
    const std::int32_t row = rows_[static_cast<std::size_t>(k)];
    bin_of[row] = static_cast<std::uint8_t>(ranks[row]);
    ++bins.start[static_cast<std::size_t>(ranks[row]) + 1];
  }
  for (std::size_t b = 0; b < n; ++b) {
    bins.start[b + 1] += bins.start[b];
    bins.last_rank[b] = static_cast<std::int32_t>(b);
  }
}

// Many ranks: bins of about equal size; one per rank if the rows have few of them.
void OrderedNode::bin_by_order(std::int32_t f) {
  FeatureBins& bins = bins_[static_cast<std::size_t>(f)];
  const std::int32_t* ranks = data_.ranks(f);
  const std::int32_t* rows = order(f);
  std::uint8_t* bin_of = bin_of_.data() + static_cast<std::size_t>(f) * static_cast<std::size_t>(data_.n_rows());
  std::int32_t distinct = n_rows_ > 0 ? 1 : 0;
  for (std::int32_t k = 1; k < n_rows_ && distinct <= kMostBins; ++k) distinct += ranks[rows[k]] != ranks[rows[k - 1]];
  bins.start.assign(1, 0);
  bins.last_rank.clear();
  bins.is_inner.clear();
  const double per_bin = distinct <= kMostBins ? 0 : static_cast<double>(n_rows_) / kMostBins;
  for (std::int32_t k = 0; k < n_rows_;) {
    const std::int32_t begin = k;
    const auto n_before = static_cast<double>(bins.last_rank.size());
    const auto wanted = std::max(begin + 1, static_cast<std::int32_t>((n_before + 1) * per_bin));
    k = n_before + 1 >= kMostBins ? n_rows_ : std::min(wanted, n_rows_);
    while (k < n_rows_ && ranks[rows[k]] == ranks[rows[k - 1]]) ++k;
    for (std::int32_t i = begin; i < k; ++i) bin_of[rows[i]] = static_cast<std::uint8_t>(bins.last_rank.size());
    bins.is_inner.push_back(ranks[rows[begin]] != ranks[rows[k - 1]]);
    bins.last_rank.push_back(ranks[rows[k - 1]]);
    bins.start.push_back(k);
  }
  bins.n_bins = static_cast<std::int32_t>(bins.last_rank.size());
}

}  // namespace certree
