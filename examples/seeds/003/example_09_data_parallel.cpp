// Example 9: training on several GPUs with nn::DataParallel.
#include "simple_net.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << "Using device: " << device << "\n";
    SimpleNet model(100, 10);
    if (device_count(device.type()) > 1 && !device.is_cpu()) {
      std::cout << "Using " << device_count(device.type()) << " GPUs!\n";
      model->to(device);
      nn::DataParallel parallel(model);
      train_on_noise(parallel, device, 128, 3);
    } else {
      model->to(device);
      train_on_noise(model, device, 128, 3);
    }
  });
}
