// Example 2: moving tensors by to(device).
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << std::boolalpha << "Using device: " << device << "\n";
    const Tensor cpu_tensor = randn({3, 3});
    std::cout << "\nCPU Tensor:\n " << cpu_tensor.repr() << "\n";
    if (device.is_cpu()) return;
    const Tensor gpu_tensor = cpu_tensor.to(device);
    std::cout << "\nGPU Tensor:\n " << gpu_tensor.repr() << "\n";
    std::cout << "\nIs gpu_tensor on GPU? " << gpu_tensor.is_cuda() << "\n";
  });
}
