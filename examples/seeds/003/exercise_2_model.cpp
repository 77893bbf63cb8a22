// Exercise 2: a model and its input on the same device.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << "Using device: " << device << "\n";
    nn::Linear model(100, 10);
    model->to(device);
    std::cout << "Model is on device: " << model->parameters()[0].device() << "\n";
    const Tensor input = randn({5, 100}).to(device);
    std::cout << "Input tensor is on device: " << input.device() << "\n";
    std::cout << "Output tensor is on device: " << model(input).device() << "\n";
  });
}
