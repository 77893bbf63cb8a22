// nn::DataParallel over all GPUs: the batch is split, each GPU runs its part.
#include "simple_model.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    SimpleModel simple;
    nn::DataParallel model(simple, gpus(device));
    Tensor input = randn({32, 10});
    if (device.is_cuda()) {
      model->cuda();
      input = input.cuda();
    } else {
      model->to(device);
      input = input.to(device);
    }

    const Tensor output = model(input);

    std::cout << model << "\n";
    std::cout << "devices: " << model->devices().size() << "\n";
    std::cout << "output: " << output.sizes() << " on " << output.device() << "\n";
    std::cout << "difference from one device: "
              << (output - simple(input)).abs().max().item<float>() << "\n";
  });
}
