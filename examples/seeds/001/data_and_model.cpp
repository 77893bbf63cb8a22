// Data and a model go to the GPU, where the model predicts and its gradients are computed; then the
// memory that all this took is given back.
#include "../common.h"

namespace seeds {

void print_memory(const char* when, Device device) {
  const MemoryStats stats = allocator::memory_stats(device);
  const accelerator::MemoryInfo info = accelerator::mem_get_info(device.type(), device.index());
  std::cout << when << ": " << stats.allocated << " bytes allocated, " << stats.reserved
            << " reserved, " << info.free << " free on the device\n";
}

void compute(Device device) {
  Tensor x = tensor({1, 2, 3});
  x = device.is_cuda() ? x.cuda(device.index()) : x.to(device);
  std::cout << x.repr() << "\n";

  nn::Linear model(10, 2);  // made on the CPU
  if (device.is_cuda())
    model->cuda(device.index());
  else
    model->to(device);

  Tensor batch = randn({100000, 10});
  batch = batch.to(device);
  const Tensor prediction = model(batch);
  const Tensor loss = prediction.square().mean();
  loss.backward();
  std::cout << "prediction " << prediction.sizes() << " on " << prediction.device() << ", loss on "
            << loss.device() << ", gradient on " << model->weight.grad().device() << "\n";
  if (!device.is_cpu()) print_memory("with tensors and model", x.device());
}

}  // namespace seeds

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << std::boolalpha << cuda::is_available() << "\n";
    if (device.is_cpu()) return compute(device);
    const Device place = resolve(device);
    print_memory("before", place);
    compute(device);
    // Tensors that nothing holds any more leave their blocks to the cache, for the next tensors of
    // this program; empty_cache() gives them to everybody.
    print_memory("without them", place);
    allocator::empty_cache(place);
    print_memory("after empty_cache", place);
  });
}
