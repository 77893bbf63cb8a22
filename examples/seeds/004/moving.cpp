// A tensor and a network go to the GPU and back; what happens when they are not in one place.
#include "network.h"

namespace seeds {

/// By cuda() and cpu(), which name the place; to(), in what follows, gets it as an argument.
void there_and_back(Device device) {
  Tensor t = ones({1, 1, 28, 28});
  Network network;
  if (device.is_cuda()) {
    t = t.cuda(device.index());
    network->cuda(device.index());
  } else {
    t = t.to(device);
    network->to(device);
  }
  const Tensor gpu_pred = network(t);
  std::cout << gpu_pred.device().repr() << "\n";

  t = t.cpu();
  network->cpu();
  const Tensor cpu_pred = network(t);
  std::cout << cpu_pred.device().repr() << "\n";
}

void tensors(Device device) {
  Tensor t1 = tensor({{1, 2}, {3, 4}}), t2 = tensor({{5, 6}, {7, 8}});
  std::cout << t1.device().repr() << ", " << t2.device().repr() << "\n";
  t1 = t1.to(device);
  std::cout << t1.device().repr() << "\n";
  const auto attempt = [](const Tensor& a, const Tensor& b) {
    try {
      std::cout << (a + b).repr() << "\n";
    } catch (const Error& e) {
      std::cout << e.what() << "\n";
    }
  };
  attempt(t1, t2);
  attempt(t2, t1);
  t2 = t2.to(device);
  attempt(t1, t2);
}

void print_devices(const Network& network) {
  for (const auto& p : network->named_parameters())
    std::cout << p.value().device() << "  " << p.key() << "\n";
}

void network(Device device) {
  Network network;
  for (const auto& p : network->named_parameters())
    std::cout << p.key() << "\t\t" << p.value().sizes() << "\n";
  print_devices(network);
  network->to(device);
  std::cout << network << "\n";
  print_devices(network);

  const Tensor sample = ones({1, 1, 28, 28});
  std::cout << sample.sizes() << "\n";
  try {
    network(sample);
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
  std::cout << network(sample.to(device)).repr() << "\n";
}

}  // namespace seeds

int main(int argc, char** argv) {
  return seeds::run([&] {
    const seeds::Device device = seeds::device_of(argc, argv);
    seeds::there_and_back(device);
    seeds::tensors(device);
    seeds::network(device);
  });
}
