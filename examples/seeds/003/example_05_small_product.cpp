// Example 5: the product of two smaller matrices on the CPU and on the GPU; they are made on the
// device.
#include "products.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run_measured([&] {
    const Arguments arguments(argc, argv, {device_option(), {"size", "1000"}});
    const Device device = arguments.device();
    print_measured(device);
    const int64_t size = arguments.number("size");
    const Tensor a = randn({size, size}, device);
    const Tensor b = randn({size, size}, device);
    compare_products(a, b);
  });
}
