// Is there a GPU, how many are there, which one is current, and which device will be used?
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << std::boolalpha << cuda::is_available() << "\n";
    std::cout << cuda::device_count() << "\n";
    if (cuda::is_available())
      std::cout << cuda::current_device() << "\n";
    else
      std::cout << cuda::unavailable_reason() << "\n";
    std::cout << device.repr() << "\n";
  });
}
