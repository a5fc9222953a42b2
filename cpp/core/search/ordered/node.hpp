// A node of the search over ordered features: its rows, their order along each feature, and fine bins of each feature.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "data/ordered_data.hpp"

namespace certree {

// Bins of one feature.  Rows with equal ranks are in the same bin, and bins are in the order of ranks.
struct FeatureBins {
  std::int32_t n_bins = 0;
  std::vector<std::int32_t> start;      // [n_bins + 1]: in the order of the feature
  std::vector<std::int32_t> last_rank;  // [n_bins]: the largest rank in the bin
  std::vector<std::uint8_t> is_inner;   // [n_bins]: the rows of the bin have different ranks
};

class OrderedNode {
 public:
  OrderedNode(const OrderedData& data, Budget& budget, MemoryBudget& memory);

  // All rows; or those rows of `parent` where the test at `rank` of feature f holds, or not.  The parent must stay.
  void make_root();
  void make_child(OrderedNode& parent, std::int32_t f, std::int32_t rank, bool holds);

  std::int32_t n_rows() const { return n_rows_; }
  const std::int32_t* rows() const { return rows_.data(); }  // ascending
  const Fingerprint& key() const { return key_; }
  // False: the budget ended before all features had bins.  Those without have a single bin, and nothing is proven here.
  bool is_complete() const { return is_complete_; }
  const FeatureBins& bins(std::int32_t f) const { return bins_[static_cast<std::size_t>(f)]; }
  // By row of the node.
  const std::uint8_t* bin_of(std::int32_t f) const {
    if (f >= n_described_) return no_bin_.data();
    return bin_of_.data() + static_cast<std::size_t>(f) * static_cast<std::size_t>(data_.n_rows());
  }
  // The rows by rising rank, made when it is first asked for.
  const std::int32_t* order(std::int32_t f);
  const OrderedData& data() const { return data_; }

 private:
  void start();
  void describe();
  void leave_out(std::int32_t first);
  void bin_by_rank(std::int32_t f);
  void bin_by_order(std::int32_t f);
  void sort_root(std::int32_t f, std::int32_t* out);

  const OrderedData& data_;
  Budget& budget_;
  bool is_complete_ = true;
  OrderedNode* parent_ = nullptr;
  std::int32_t parent_feature_ = -1, parent_rank_ = 0;
  bool parent_holds_ = false;
  std::int32_t n_rows_ = 0;
  std::int32_t n_described_ = 0;  // features that have bins
  Fingerprint key_;
  AlignedArray<std::int32_t> rows_;
  std::vector<AlignedArray<std::int32_t>> order_;
  std::vector<std::uint8_t> has_order_;
  std::vector<FeatureBins> bins_;
  AlignedArray<std::uint8_t> bin_of_, no_bin_;
  ChargedVector<std::int32_t> counts_;
};

// Some rows of a node.
struct OrderedRows {
  OrderedNode* node = nullptr;
  const std::int32_t* rows = nullptr;
  std::int32_t n_rows = 0;
  const std::uint8_t* is_in = nullptr;   // by row of the data
  const std::int32_t* others = nullptr;  // the other rows of the node; null: not known
  Fingerprint key;                       // where `others` is known
};

}  // namespace certree
