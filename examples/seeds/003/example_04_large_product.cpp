// Example 4: the product of two large matrices on the CPU and on the GPU.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Arguments arguments(argc, argv, {device_option(), {"size", "10000"}});
    compare_products(arguments.device(), arguments.number("size"));
  });
}
