// Example 3: moving tensors by cuda() and cpu().
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const bool available = device_of(argc, argv).is_cuda();
    std::cout << std::boolalpha << "Is CUDA available? " << available << "\n";
    const Tensor tensor_cpu = randn({2, 2});
    std::cout << "\nTensor on CPU:\n " << tensor_cpu.repr() << "\n";
    if (!available) return;
    const Tensor tensor_gpu = tensor_cpu.cuda();
    std::cout << "\nTensor on GPU:\n " << tensor_gpu.repr() << "\n";
    std::cout << "\nIs tensor_gpu on GPU? " << tensor_gpu.is_cuda() << "\n";
    const Tensor tensor_back = tensor_gpu.cpu();
    std::cout << "\nTensor moved back to CPU:\n " << tensor_back.repr() << "\n";
    std::cout << "\nIs tensor_back on GPU? " << tensor_back.is_cuda() << "\n";
  });
}
