// Example 7: training a simple model on the GPU.
#include "simple_net.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << "Using device: " << device << "\n\n";
    SimpleNet model(100, 10);
    model->to(device);
    train_on_noise(model, device, 64, 5);
  });
}
