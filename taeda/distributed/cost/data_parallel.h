// A step of DistributedDataParallel on many devices: what one of them does, and what it waits for.
#pragma once

#include <vector>

#include "taeda/distributed/cost/collective.h"
#include "taeda/distributed/cost/measured_step.h"
#include "taeda/parallel/buckets.h"

namespace taeda::inline v0_2::distributed::cost {

/// Gradients that are reduced together. Times are seconds on the clock of their `ready`.
struct Bucket {
  double bytes = 0;
  double ready = 0;
  double begin = 0, end = 0;  ///< of its all_reduce
  const char* algorithm = "";
};

/// Gradients in the order in which they come, divided as the reducer divides them.
std::vector<Bucket> make_gradient_buckets(const std::vector<Gradient>& gradients,
                                          const nn::parallel::BucketLimits& limits);
/// Reduces buckets on one stream, each when it is ready and the one before is done. Returns what
/// each device sends.
double reduce_in_order(std::vector<Bucket>& buckets, int64_t devices, const Network& network);

struct DataParallelStep {
  double seconds = 0;
  double communication = 0;  ///< seconds in which something is sent
  double exposed = 0;        ///< those in which nothing is computed
  double broadcast = 0;      ///< of them, of buffers before forward
  double bytes = 0;          ///< that each device sends
  int64_t memory = 0;        ///< bytes of each device
  std::vector<Bucket> buckets;
};

/// The step on each of `devices`, with gradients that are averaged while backward goes on.
/// Gradients are views of their buckets: neither time nor memory is spent on copies.
DataParallelStep data_parallel_step(
    const MeasuredStep& step, int64_t devices, const Network& network,
    const nn::parallel::BucketLimits& limits = nn::parallel::kGradientLimits);

}  // namespace taeda::inline v0_2::distributed::cost
