// Exercise 1: the same product on both devices, with the times of each.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Arguments arguments(argc, argv, {device_option(), {"size", "5000"}});
    compare_products(arguments.device(), arguments.number("size"));
  });
}
