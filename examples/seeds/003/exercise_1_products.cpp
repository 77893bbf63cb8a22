// Exercise 1: the same product on the CPU and on the GPU, with the times of each.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run_measured([&] {
    // Step 1: is there a GPU?
    const Arguments arguments(argc, argv, {device_option(), {"size", "5000"}});
    const Device device = arguments.device();
    print_measured(device);

    // Step 2: large tensors on the CPU
    const int64_t size = arguments.number("size");
    const Tensor a = randn({size, size}), b = randn({size, size});

    // Step 3: the same on the GPU
    const Tensor a_gpu = a.to(device), b_gpu = b.to(device);

    // Step 4: the product on both
    Tensor result_cpu, result_gpu;
    const double cpu_time = seconds(kCPU, [&] { result_cpu = matmul(a, b); });
    std::cout << "\nCPU Matrix Multiplication Time: " << four_decimals(cpu_time) << " seconds\n";
    if (device.is_cpu()) return;
    matmul(a_gpu, b_gpu);  // the first call of a device prepares it
    const double gpu_time = seconds(device, [&] { result_gpu = matmul(a_gpu, b_gpu); });
    std::cout << "GPU Matrix Multiplication Time: " << four_decimals(gpu_time) << " seconds\n";

    // Step 5: the results agree
    const Tensor difference = (result_cpu - result_gpu.cpu()).abs().max();
    std::cout << "Maximum difference between CPU and GPU results: " << difference.item<float>()
              << "\n";
  });
}
