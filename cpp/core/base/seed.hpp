// The key of fingerprints (base/bits.hpp), drawn once per process.
#pragma once

#include <cstdint>

namespace certree {

std::uint64_t process_seed();

}  // namespace certree
