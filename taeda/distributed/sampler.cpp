#include "taeda/distributed/sampler.h"

#include "taeda/distributed/group/collectives.h"

namespace taeda::inline v0_2::distributed::detail {

size_t replicas_or_default(std::optional<size_t> num_replicas) {
  return num_replicas ? *num_replicas : static_cast<size_t>(get_world_size());
}

size_t rank_or_default(std::optional<size_t> rank) {
  return rank ? *rank : static_cast<size_t>(get_rank());
}

}  // namespace taeda::distributed::detail
