// Example 4: the product of two large matrices on the CPU and on the GPU; they are made on the CPU
// and moved.
#include "products.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run_measured([&] {
    const Arguments arguments(argc, argv, {device_option(), {"size", "10000"}});
    const Device device = arguments.device();
    print_measured(device);
    const int64_t size = arguments.number("size");
    const Tensor a = randn({size, size}).to(device);
    const Tensor b = randn({size, size}).to(device);
    compare_products(a, b);
  });
}
