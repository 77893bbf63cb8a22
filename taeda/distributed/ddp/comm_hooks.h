// Communication hooks that send fewer bytes, as torch.distributed.algorithms.ddp_comm_hooks.
#pragma once

#include "taeda/distributed/ddp/grad_bucket.h"
#include "taeda/distributed/group/process_group.h"

namespace taeda::inline v0_2::distributed::algorithms::ddp_comm_hooks::default_hooks {

// `group` is the default group where it is null.

/// The average of the ranks' gradients, which is the default without a hook.
std::future<Tensor> allreduce_hook(const ProcessGroupPtr& group, GradBucket& bucket);
/// The average of gradients rounded to the dtype float16. They are divided by the number of ranks
/// before.
std::future<Tensor> fp16_compress_hook(const ProcessGroupPtr& group, GradBucket& bucket);
/// The average of gradients rounded to the dtype bfloat16.
std::future<Tensor> bf16_compress_hook(const ProcessGroupPtr& group, GradBucket& bucket);
/// Rounds the bucket for another hook, and gives its result in the bucket's own dtype.
CommHook fp16_compress_wrapper(CommHook hook);
CommHook bf16_compress_wrapper(CommHook hook);

}  // namespace taeda::inline v0_2::distributed::algorithms::ddp_comm_hooks::default_hooks
