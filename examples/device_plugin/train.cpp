// Trains the network of the seed programs on a device that the command line names: a few steps on
// one batch of made-up images, then the same on the CPU.
#include <taeda/taeda.h>

#include <iostream>

namespace {

using namespace taeda;

struct NetworkImpl : nn::Cloneable<NetworkImpl> {
  NetworkImpl() { reset(); }
  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(1, 6, 5));
    conv2 = register_module("conv2", nn::Conv2d(6, 12, 5));
    fc1 = register_module("fc1", nn::Linear(12 * 4 * 4, 120));
    fc2 = register_module("fc2", nn::Linear(120, 60));
    out = register_module("out", nn::Linear(60, 10));
  }
  Tensor forward(Tensor t) {
    t = max_pool2d(relu(conv1(t)), 2, 2);
    t = max_pool2d(relu(conv2(t)), 2, 2);
    t = relu(fc1(t.reshape({-1, 12 * 4 * 4})));
    return out(relu(fc2(t)));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
};
TAEDA_MODULE(Network);

/// The loss of the first step and of the last.
std::pair<float, float> train(Device device) {
  manual_seed(1);
  Network network;
  network->to(device);
  optim::Adam adam(network->parameters(), optim::AdamOptions(1e-3));
  const Tensor images = randn({64, 1, 28, 28}).to(device),
               labels = randint(10, {64}, kLong).to(device);
  float first = 0, last = 0;
  for (int step = 0; step < 30; ++step) {
    const Tensor loss = cross_entropy(network(images), labels);
    adam.zero_grad();
    loss.backward();
    adam.step();
    last = loss.item<float>();
    if (step == 0) first = last;
  }
  return {first, last};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Device device(argc > 1 ? argv[1] : "toy:0");
    const auto [first, last] = train(device);
    const auto [cpu_first, cpu_last] = train(Device("cpu"));
    std::cout << full({2}, 3.0, device).repr() << "\n";
    std::cout << accelerator::get_device_properties(device.type(), device.index()).name << ": loss "
              << first << " -> " << last << ", on the CPU " << cpu_first << " -> " << cpu_last
              << "\n";
    return last < 0.8 * first && first == cpu_first && last == cpu_last ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}
