// Example 5: the product of two smaller matrices on the CPU and on the GPU.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    compare_products(device_of(argc, argv), std::stoll(option(argc, argv, "size", "1000")));
  });
}
