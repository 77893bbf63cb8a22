// Example 11: many small transfers against one large one.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Arguments arguments(argc, argv, {device_option(), {"size", "10000"}});
    const Device device = arguments.device();
    const int64_t size = arguments.number("size");
    std::cout << "Using device: " << device << "\n";
    const Tensor large = randn({size, size});
    const double by_rows = seconds(device, [&] {
      for (int64_t i = 0; i < size; ++i) large[i].to(device);
    });
    std::cout << "Inefficient Data Transfer Time: " << by_rows << " seconds\n";
    const double at_once = seconds(device, [&] { large.to(device); });
    std::cout << "Efficient Data Transfer Time: " << at_once << " seconds\n";
  });
}
