// Example 5: the product of two smaller matrices on the CPU and on the GPU.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Arguments arguments(argc, argv, {device_option(), {"size", "1000"}});
    compare_products(arguments.device(), arguments.number("size"));
  });
}
