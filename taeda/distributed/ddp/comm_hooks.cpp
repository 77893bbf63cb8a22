#include "taeda/distributed/ddp/comm_hooks.h"

#include "taeda/distributed/group/collectives.h"

namespace taeda::inline v0_2::distributed::algorithms::ddp_comm_hooks::default_hooks {

namespace {

/// The average of a tensor over the ranks, in its own memory.
std::future<Tensor> average(const ProcessGroupPtr& group, const Tensor& t) {
  const auto op = ReduceOp::premul_sum(1.0 / get_world_size(group));
  const WorkPtr work = distributed::all_reduce(t, op, group, /*async_op=*/true);
  return std::async(std::launch::deferred, [work, t] {
    if (work) work->wait();
    return t;
  });
}

CommHook compressed(CommHook hook, ScalarType dtype) {
  return [hook = std::move(hook), dtype](GradBucket& bucket) {
    const Tensor original = bucket.buffer();
    bucket.set_buffer(original.to(dtype));
    auto result = std::make_shared<std::future<Tensor>>(hook(bucket));
    return std::async(std::launch::deferred, [result, original] {
      original.copy_(result->get());
      return original;
    });
  };
}

std::future<Tensor> compressed_average(const ProcessGroupPtr& group, GradBucket& bucket,
                                       ScalarType dtype) {
  return compressed([&](GradBucket& b) { return allreduce_hook(group, b); }, dtype)(bucket);
}

}  // namespace

std::future<Tensor> allreduce_hook(const ProcessGroupPtr& group, GradBucket& bucket) {
  return average(group, bucket.buffer());
}
std::future<Tensor> fp16_compress_hook(const ProcessGroupPtr& group, GradBucket& bucket) {
  return compressed_average(group, bucket, kHalf);
}
std::future<Tensor> bf16_compress_hook(const ProcessGroupPtr& group, GradBucket& bucket) {
  return compressed_average(group, bucket, kBFloat16);
}
CommHook fp16_compress_wrapper(CommHook hook) { return compressed(std::move(hook), kHalf); }
CommHook bf16_compress_wrapper(CommHook hook) { return compressed(std::move(hook), kBFloat16); }

}  // namespace taeda::inline v0_2::distributed::algorithms::ddp_comm_hooks::default_hooks
