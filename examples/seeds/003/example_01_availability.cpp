// Example 1: checking GPU availability.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const bool available = cuda::is_available();
    const int count = cuda::device_count();
    std::cout << std::boolalpha << "Is CUDA available? " << available << "\n";
    std::cout << "Number of GPUs available: " << count << "\n";
    if (available) std::cout << "Current GPU: " << cuda::get_device_name(0) << "\n";

    Device device = device_of(argc, argv);
    if (available && count > 1) device = Device("cuda:1");
    std::cout << "Selected Device: "
              << (device.is_cuda() ? cuda::get_device_name(device.index()) : "CPU") << "\n";
  });
}
