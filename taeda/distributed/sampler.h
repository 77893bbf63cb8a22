// Samplers that take their share from the process group: torch.utils.data.distributed.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "taeda/data/distributed_sampler.h"
#include "taeda/distributed/group/process_group.h"

namespace taeda::inline v0_2::distributed {

namespace detail {

/// A dataset that knows its size, or the size itself.
template <class T>
concept Sized = std::convertible_to<T, size_t> || requires(const T& t) {
  { t.size() } -> std::convertible_to<std::optional<size_t>>;
};

template <Sized T>
size_t size_of(const T& data) {
  if constexpr (std::convertible_to<T, size_t>) {
    return static_cast<size_t>(data);
  } else {
    const std::optional<size_t> size = data.size();
    TAEDA_CHECK_VALUE(size, "a distributed sampler needs a dataset whose size is known");
    return *size;
  }
}

/// What is given, or this process's in the default group. Throws ValueError while there is none.
size_t replicas_or_default(std::optional<size_t> num_replicas);
size_t rank_or_default(std::optional<size_t> rank);

/// `Base` with PyTorch's arguments in their order: a dataset or its size; numbers that are left out
/// are the default group's.
template <class Base>
class SamplerOfGroup : public Base {
 public:
  template <Sized Data>
  explicit SamplerOfGroup(const Data& dataset, std::optional<size_t> num_replicas = {},
                          std::optional<size_t> rank = {}, bool shuffle = true, uint64_t seed = 0,
                          bool drop_last = false)
      : Base(size_of(dataset), replicas_or_default(num_replicas), rank_or_default(rank), shuffle,
             seed, drop_last) {}
};

}  // namespace detail

/// Every process visits its share of a dataset; see data/sampler.h.
using DistributedSampler = detail::SamplerOfGroup<data::samplers::DistributedSampler>;
/// The same, and it goes on in the middle of an epoch; see data/distributed_sampler.h.
using StatefulDistributedSampler =
    detail::SamplerOfGroup<data::samplers::StatefulDistributedSampler>;

}  // namespace taeda::distributed
