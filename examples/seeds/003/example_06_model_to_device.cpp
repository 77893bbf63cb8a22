// Example 6: moving a neural network to the GPU.
#include "simple_net.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << "Using device: " << device << "\n";
    SimpleNet model(10, 1);
    std::cout << "\nModel on CPU: " << model->parameters()[0].device() << "\n";
    if (device.is_cpu()) {
      std::cout << "Model remains on CPU.\n";
      return;
    }
    model->to(device);
    std::cout << "Model moved to GPU: " << model->parameters()[0].device() << "\n";
  });
}
