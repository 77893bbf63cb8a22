// Exercise 1: the same product on both devices, with the times of each.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    compare_products(device_of(argc, argv), std::stoll(option(argc, argv, "size", "5000")));
  });
}
