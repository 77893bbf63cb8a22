#include "taeda/distributed/cost/data_parallel.h"

#include <algorithm>
#include <numeric>

namespace taeda::inline v0_2::distributed::cost {

std::vector<Bucket> make_gradient_buckets(const std::vector<Gradient>& gradients,
                                          const nn::parallel::BucketLimits& limits) {
  std::vector<Tensor> tensors;
  std::vector<size_t> layers, order(gradients.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const Gradient& g : gradients) {
    tensors.push_back(g.parameter);
    layers.push_back(g.layer);
  }
  std::vector<Bucket> out;
  for (const std::vector<size_t>& members :
       nn::parallel::make_buckets(tensors, order, layers, limits)) {
    Bucket& bucket = out.emplace_back();
    for (const size_t i : members) {
      bucket.bytes += static_cast<double>(gradients[i].parameter.nbytes());
      bucket.ready = std::max(bucket.ready, gradients[i].ready);
    }
  }
  return out;
}

double reduce_in_order(std::vector<Bucket>& buckets, int64_t devices, const Network& network) {
  std::ranges::stable_sort(buckets, {}, &Bucket::ready);
  double free = 0, bytes = 0;
  for (Bucket& b : buckets) {
    const Cost cost = all_reduce(b.bytes, devices, network);
    b.begin = std::max(b.ready, free);
    b.end = free = b.begin + cost.seconds;
    b.algorithm = cost.algorithm;
    bytes += cost.bytes;
  }
  return bytes;
}

DataParallelStep data_parallel_step(const MeasuredStep& step, int64_t devices,
                                    const Network& network,
                                    const nn::parallel::BucketLimits& limits) {
  DataParallelStep out;
  const Cost buffers = broadcast(static_cast<double>(step.buffer_bytes), devices, network);
  out.buckets = make_gradient_buckets(step.gradients, limits);
  out.bytes = reduce_in_order(out.buckets, devices, network) + buffers.bytes;
  double reduced = 0;
  out.communication = buffers.seconds;
  for (const Bucket& b : out.buckets) {
    reduced = std::max(reduced, b.end);
    out.communication += b.end - b.begin;
  }
  out.broadcast = buffers.seconds;
  out.exposed = out.broadcast + std::max(0.0, reduced - step.backward_end);
  out.seconds = step.end + out.exposed;
  out.memory = step.peak_bytes;
  return out;
}

}  // namespace taeda::inline v0_2::distributed::cost
