#include "taeda/distributed/group/communicator.h"

#include <algorithm>

namespace taeda::inline v0_2::distributed {

Communicator::~Communicator() = default;

std::chrono::milliseconds Call::left() const {
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return std::max(rest, std::chrono::milliseconds(1));
}

}  // namespace taeda::distributed
