// Example 13: operands on different devices.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    Tensor tensor_cpu = randn({2, 2});
    const Tensor tensor_gpu = randn({2, 2}).to(device);
    try {
      tensor_cpu + tensor_gpu;
    } catch (const Error& e) {
      std::cout << "\nError with mismatched devices: " << e.what() << "\n";
    }
    tensor_cpu = tensor_cpu.to(device);
    std::cout << "\nAddition Result:\n " << (tensor_cpu + tensor_gpu).repr() << "\n";
  });
}
