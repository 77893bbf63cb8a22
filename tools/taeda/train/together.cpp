#include "tools/taeda/train/together.h"

#include <cstdlib>

#include "taeda/distributed/ddp/distributed_data_parallel.h"
#include "taeda/distributed/environment.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/distributed/sync_batch_norm.h"
#include "tools/taeda/command.h"

namespace taeda::tool::together {

Place join(int64_t nproc) {
  const int64_t size = user_input([] { return distributed::world_size_from_environment(); });
  if (size != nproc)
    throw UsageError(taeda::detail::concat(
        "--nproc ", nproc, ": this process is one of ", size,
        " that were started together (RANK and WORLD_SIZE are set); give --nproc ", size));
  distributed::init_process_group("gloo");
  const int rank = distributed::get_rank();
  const char* local = std::getenv("LOCAL_RANK");
  return {rank, distributed::get_world_size(), local ? std::atoi(local) : rank};
}

void leave() { distributed::destroy_process_group(); }

void add_up(const Tensor& values) { distributed::all_reduce(values); }

void take_largest(const Tensor& values) {
  distributed::all_reduce(values, distributed::ReduceOp::MAX);
}

void gather(const Tensor& value, const std::vector<Tensor>& values) {
  distributed::gather(value, values);
}

std::function<Tensor(const Tensor&)> share_gradients(
    const std::shared_ptr<nn::SequentialImpl>& network) {
  // Batch norms see the whole batch, so that buffers are the same everywhere.
  nn::SyncBatchNorm::convert_sync_batchnorm(network);
  distributed::DistributedDataParallel<nn::SequentialImpl> model(network,
                                                                 {.broadcast_buffers = false});
  return [model](const Tensor& inputs) mutable { return model(inputs); };
}

}  // namespace taeda::tool::together
