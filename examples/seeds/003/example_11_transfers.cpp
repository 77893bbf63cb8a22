// Example 11: many small transfers against one large one.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run_measured([&] {
    const Arguments arguments(argc, argv, {device_option(), {"size", "10000"}});
    const Device device = arguments.device();
    const int64_t size = arguments.number("size");
    print_measured(device);
    const Tensor large = randn({size, size});

    // The first transfer of all makes the device ready and takes its memory, which is touched for
    // the first time: it would be charged to whatever is measured first, or to what needs most.
    large.to(device);

    const double by_rows = seconds(device, [&] {
      for (int64_t i = 0; i < size; ++i) large[i].to(device);
    });
    std::cout << "Inefficient Data Transfer Time: " << four_decimals(by_rows) << " seconds\n";
    const double at_once = seconds(device, [&] { large.to(device); });
    std::cout << "Efficient Data Transfer Time: " << four_decimals(at_once) << " seconds\n";
  });
}
