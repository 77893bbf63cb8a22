// Example 1: checking GPU availability, and selecting one of several GPUs.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    Device device = device_of(argc, argv);
    const bool available = device.is_cuda() && cuda::is_available();
    const int count = available ? cuda::device_count() : 0;
    std::cout << std::boolalpha << "Is CUDA available? " << available << "\n";
    std::cout << "Number of GPUs available: " << count << "\n";
    if (available) std::cout << "Current GPU: " << cuda::get_device_name(0) << "\n";

    if (count > 1) device = Device("cuda:1");
    std::cout << "Selected Device: " << (available ? cuda::get_device_name(device) : "CPU") << "\n";
  });
}
