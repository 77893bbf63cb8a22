// Example 9: training on several GPUs with nn::DataParallel.
#include "simple_net.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    std::cout << "Using device: " << device << "\n";
    SimpleNet model(100, 10);
    const std::vector<Device> devices = gpus(device);
    if (devices.size() > 1) {
      std::cout << "Using " << devices.size() << " GPUs!\n";
      nn::DataParallel parallel(model, devices);
      parallel->to(device);
      train_on_noise(parallel, device, 128, 3);
    } else {
      model->to(device);
      train_on_noise(model, device, 128, 3);
    }
  });
}
