// What examples 4 and 5 do with their matrices.
#pragma once

#include "../common.h"

namespace seeds {

/// Multiplies a and b, which are on the device, there and on the CPU, and compares.
inline void compare_products(const Tensor& a, const Tensor& b) {
  const Device device = a.device();
  if (!device.is_cpu()) matmul(a, b);  // the first call of a device prepares it
  const Tensor a_cpu = a.cpu(), b_cpu = b.cpu();
  Tensor result_cpu, result_gpu;
  const double cpu_time = seconds(kCPU, [&] { result_cpu = matmul(a_cpu, b_cpu); });
  std::cout << "\nCPU Matrix Multiplication Time: " << four_decimals(cpu_time) << " seconds\n";
  if (device.is_cpu()) return;
  const double gpu_time = seconds(device, [&] { result_gpu = matmul(a, b); });
  std::cout << "GPU Matrix Multiplication Time: " << four_decimals(gpu_time) << " seconds\n";
  const Tensor difference = (result_cpu - result_gpu.cpu()).abs().max();
  std::cout << "Maximum difference between CPU and GPU results: " << difference.item<float>()
            << "\n";
}

}  // namespace seeds
