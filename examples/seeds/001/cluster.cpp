// The training program of a cluster: each process trains the same model on its own part of the
// data. `taeda launch --hosts cluster.toml 001_cluster` runs it on the machines of a file like the
// one beside this source; `taeda launch --nproc-per-node 2 001_cluster` on this machine alone.
#include <taeda/distributed/distributed.h>

#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  namespace dist = distributed;
  return run([&] {
    const Arguments arguments(argc, argv, {{"device", "cpu"}, {"steps", "20"}});
    const auto steps = arguments.number("steps");
    const Device device = device_of_rank(arguments.device(), dist::get_node_local_rank(0));
    dist::init_process_group(device.is_cuda() ? "nccl" : "gloo");
    const int rank = dist::get_rank();
    manual_seed(0);
    nn::Linear linear(10, 2);
    linear->to(device);
    nn::parallel::DistributedDataParallel model(linear);
    optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1));
    const Tensor truth = randn({10, 2}).to(device);
    manual_seed(1 + static_cast<uint64_t>(rank));  // every rank has examples of its own
    Tensor first, last;
    for (int step = 1; step <= steps; ++step) {
      const Tensor x = randn({32, 10}).to(device);
      const Tensor loss = nn::functional::mse_loss(model(x), x.matmul(truth));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      last = loss.detach().clone();
      if (step == 1) first = last;
      dist::report_progress(step, step * 32);
    }
    for (const Tensor& loss : {first, last}) dist::all_reduce(loss, dist::ReduceOp::AVG);
    if (rank == 0)
      std::cout << dist::get_world_size() << " processes, loss "
                << four_decimals(first.item<float>()) << " -> " << four_decimals(last.item<float>())
                << std::endl;
    dist::destroy_process_group();
  });
}
