// Data and a model on the GPU, a prediction there, and the memory that they take and give back.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << std::boolalpha << cuda::is_available() << "\n";
    nn::Linear model(10, 2);
    model->to(device);
    {
      const Tensor x = tensor({1, 2, 3}).to(device);
      std::cout << x.repr() << "\n";
      const Tensor prediction = model(randn({4, 10}, device));
      std::cout << "prediction " << prediction.sizes() << " on " << prediction.device() << "\n";
      if (!device.is_cpu())
        std::cout << "allocated: " << allocator::memory_stats(x.device()).allocated << " bytes\n";
    }
    if (device.is_cpu()) return;
    // The tensors are gone: their blocks are in the cache until it is emptied.
    const Device place = model->weight.device();
    const MemoryStats kept = allocator::memory_stats(place);
    allocator::empty_cache(place);
    const MemoryStats left = allocator::memory_stats(place);
    std::cout << "without the tensors: " << kept.allocated << " allocated, " << kept.reserved
              << " reserved; after empty_cache " << left.reserved << " reserved\n";
  });
}
