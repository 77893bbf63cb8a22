// Metrics of all ranks' examples.
#pragma once

#include <concepts>

#include "taeda/distributed/group/collectives.h"
#include "taeda/training/metrics.h"

namespace taeda::inline v0_2::distributed {

namespace detail {

/// Adds what the other ranks' metrics have gathered, in an order that makes all ranks' alike.
void sync(training::Metric& metric, const ProcessGroupPtr& group, Site site);

}  // namespace detail

/// The metric of what all ranks of the group have given to theirs, on every rank the same bit for
/// bit; this rank's own stays as it is. All ranks call it:
///
///     const double accuracy = distributed::synced(metric).compute().item<double>();
///
/// Ranks may have given different numbers of examples, or none. Throws Error as all_gather does.
template <std::derived_from<training::Metric> M>
M synced(M metric, const ProcessGroupPtr& group = {}, Site site = Site::current()) {
  detail::sync(metric, group, site);
  return metric;
}

}  // namespace taeda::inline v0_2::distributed
