// Example 15: repeated round trips against staying on the device.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run_measured([&] {
    const Device device = device_of(argc, argv);
    print_measured(device);
    Tensor large = randn({1000, 1000});
    large.to(device);  // the first transfer of all makes the device ready
    const double trips = seconds(device, [&] {
      for (int i = 0; i < 100; ++i) large.to(device).to("cpu");
    });
    std::cout << "\nTime taken for excessive data transfers: " << four_decimals(trips)
              << " seconds\n";
    large = large.to(device);
    const double staying = seconds(device, [&] {
      for (int i = 0; i < 100; ++i) large * 2;
    });
    std::cout << "\nTime taken for operations on GPU: " << four_decimals(staying) << " seconds\n";
  });
}
