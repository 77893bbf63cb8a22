// DistributedDataParallel: two processes, each with a device and a batch of its own, train one
// model; the second half compares with one process that has both batches.
#include <taeda/distributed/distributed.h>

#include "simple_model.h"

namespace {

using namespace seeds;
namespace dist = distributed;
namespace mp = multiprocessing;

void setup(int rank, int world_size, Device device) {
  dist::init_process_group(device.is_cuda() ? "nccl" : "gloo",
                           {.world_size = world_size, .rank = rank});
}

void cleanup() { dist::destroy_process_group(); }

SimpleModel make_model() {
  manual_seed(0);
  return {};
}

/// Batch and target of one rank.
std::pair<Tensor, Tensor> data_of(int rank) {
  manual_seed(static_cast<uint64_t>(rank) + 1);
  const Tensor input_data = randn({32, 10});
  return {input_data, randn({32, 10})};
}

void train(int rank, int world_size, const std::string& device_name) {
  const Device device = device_of_rank(Device(device_name), rank);
  setup(rank, world_size, device);
  SimpleModel model = make_model();
  model->to(device);
  nn::parallel::DistributedDataParallelOptions options;
  if (!device.is_cpu()) options.device_ids = {{device}};
  nn::parallel::DistributedDataParallel ddp_model(model, options);

  nn::MSELoss criterion;
  optim::SGD optimizer(ddp_model->parameters(), 0.001);
  const auto [input_data, target] = data_of(rank);

  const Tensor output = ddp_model(input_data.to(device));
  const Tensor loss = criterion(output, target.to(device));
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();

  if (rank == 0) {
    SimpleModel alone = make_model();
    Tensor sum = zeros({});
    for (int r = 0; r < world_size; ++r) {
      const auto [x, y] = data_of(r);
      sum = sum + criterion(alone(x), y);
    }
    (sum / world_size).backward();
    std::cout << ddp_model << "\n";
    std::cout << "output: " << output.sizes() << " on " << output.device() << "\n";
    std::cout
        << "difference of the gradients from one process: "
        << (model->fc->weight.grad().cpu() - alone->fc->weight.grad()).abs().max().item<float>()
        << "\n";
  }
  cleanup();
}

}  // namespace

int main(int argc, char** argv) {
  return seeds::run([&] {
    const Arguments arguments(argc, argv, {device_option()});
    const int world_size = 2;
    mp::spawn(train, std::tuple(world_size, arguments["device"]), world_size);
  });
}
