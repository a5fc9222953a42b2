#include "base/seed.hpp"

#include <random>

namespace certree {

std::uint64_t process_seed() {
  static const std::uint64_t seed = [] {
    std::random_device draw;
    return std::uint64_t{draw()} << 32 | draw();
  }();
  return seed;
}

}  // namespace certree
