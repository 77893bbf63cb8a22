// Tensors made on a device, moved by to() and by cuda(), and asked where they are.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    Tensor x = tensor({1, 2, 3});
    std::cout << x.repr() << "\nDevice: " << x.device() << "\n";

    const Tensor y = tensor({4, 5, 6}, device);
    std::cout << y.repr() << "\nDevice: " << y.device() << "\n";
    std::cout << x.get_device() << "\n" << y.get_device() << "\n";

    x = x.to(device);
    std::cout << "Device: " << x.device() << "\n" << x.get_device() << "\n";
    if (!device.is_cuda()) return;

    x = tensor({8, 9, 10}).to("cuda:0");
    std::cout << x.device() << "\n";
    Tensor t = rand({100, 30});
    t = t.cuda();
    std::cout << t.device().repr() << "\n";
    try {
      x.to(Device(kCUDA, 99));
    } catch (const Error& e) {
      std::cout << e.what() << "\n";
    }
  });
}
