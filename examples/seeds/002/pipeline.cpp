// Model sharding: two stages on two devices, run as a pipeline by nn::Pipe, and by hand.
//
// With --processes N as many processes do so, as the tutorial's two: the one of rank r has its
// stages on GPUs r and r + 1, or both on r where that is the last. One process needs none of it.
#include <taeda/distributed/distributed.h>

#include "stages.h"

namespace {

using namespace seeds;
namespace dist = distributed;
namespace mp = multiprocessing;

void setup(int rank, int world_size, Device device) {
  dist::init_process_group(device.is_cuda() ? "nccl" : "gloo",
                           {.world_size = world_size, .rank = rank});
}

void cleanup() { dist::destroy_process_group(); }

void train_stages(Device first, bool tell) {
  const Device second = next_to(first);
  Stage1 stage1;
  Stage2 stage2;
  stage1->to(first);
  stage2->to(second);
  nn::Pipe model(nn::Sequential(stage1, stage2), nn::PipeOptions(2).measure(true));
  nn::MSELoss criterion;
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.001));
  const Tensor input_data = randn({32, 10}).to(first);
  const Tensor target = randn({32, 10}).to(second);

  const Tensor output = model(input_data);
  const Tensor loss = criterion(output, target);
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  if (!tell) return;

  std::cout << model << "\n";
  std::cout << "output: " << output.sizes() << " on " << output.device() << "\n";
  std::cout << "loss: " << four_decimals(loss.item<float>()) << " -> "
            << four_decimals(criterion(model(input_data), target).item<float>()) << "\n";
  const Tensor by_hand = stage2(stage1(input_data).to(second));
  std::cout << "difference from the stages by hand: "
            << (model(input_data) - by_hand).abs().max().item<float>() << "\n";

  // One backward for each forward: a stage keeps fewer activations.
  model->options().schedule(nn::PipeSchedule::OneForwardOneBackward);
  optimizer.zero_grad();
  model->train_step(input_data, target, criterion);
  optimizer.step();
  std::cout << model->report() << "\n";
}

void train(int rank, int world_size, const std::string& device_name) {
  const Device device = device_of_rank(Device(device_name), rank);
  setup(rank, world_size, device);
  train_stages(device, rank == 0);
  cleanup();
}

}  // namespace

int main(int argc, char** argv) {
  return seeds::run([&] {
    const Arguments arguments(argc, argv, {device_option(), {"processes", "1"}});
    const auto world_size = static_cast<int>(arguments.number("processes"));
    if (world_size == 1) return train_stages(resolve(arguments.device()), true);
    mp::spawn(train, std::tuple(world_size, arguments["device"]), world_size);
  });
}
