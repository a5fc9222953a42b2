// The depth that is left below a node.
#pragma once

#include <cstdint>

namespace certree {

// Remaining depth that never runs out.
inline constexpr std::int32_t kUnlimitedDepth = 1 << 24;
inline std::int32_t depth_below(std::int32_t depth) { return depth == kUnlimitedDepth ? depth : depth - 1; }

}  // namespace certree
