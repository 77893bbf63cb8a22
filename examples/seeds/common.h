// What the seed programs share: the device they run on, a clock, and the networks they train.
#pragma once

#include <taeda/taeda.h>

#include <chrono>
#include <iostream>
#include <string>

#include "../arguments.h"

namespace seeds {

using namespace taeda;

using examples::Arguments, examples::device_option;

/// The device named by --device, the one option; without it "cuda" if there is one, else "cpu".
inline Device device_of(int argc, char** argv) {
  return Arguments(argc, argv, {device_option()}).device();
}

/// Waits until the device has done what was asked of it.
inline void finish(Device device) {
  if (!device.is_cpu()) synchronize(device);
}

/// Seconds that `work` takes, until the device has finished it.
template <class Work>
double seconds(Device device, Work&& work) {
  finish(device);
  const auto start = std::chrono::steady_clock::now();
  work();
  finish(device);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Multiplies two matrices of size x size on the CPU and on the device, and compares.
inline void compare_products(Device device, int64_t size) {
  std::cout << "Using device: " << device << "\n";
  const Tensor a = randn({size, size}), b = randn({size, size});
  Tensor on_cpu, on_device;
  const double cpu_time = seconds(kCPU, [&] { on_cpu = matmul(a, b); });
  std::cout << "\nCPU Matrix Multiplication Time: " << cpu_time << " seconds\n";
  if (device.is_cpu()) return;
  const Tensor x = a.to(device), y = b.to(device);
  matmul(x, y);  // the first call of a device prepares it
  const double device_time = seconds(device, [&] { on_device = matmul(x, y); });
  std::cout << "GPU Matrix Multiplication Time: " << device_time << " seconds\n";
  std::cout << "Maximum difference between CPU and GPU results: "
            << (on_cpu - on_device.cpu()).abs().max().item<float>() << "\n";
}

/// Runs a program; an Error becomes one line and exit code 1.
template <class Program>
int run(Program&& program) {
  try {
    program();
    return 0;
  } catch (const Error& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}

}  // namespace seeds
