// Example 4: the product of two large matrices on the CPU and on the GPU.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    compare_products(device_of(argc, argv), std::stoll(option(argc, argv, "size", "10000")));
  });
}
