// A tensor and a network go to the GPU and back; what happens when they are not in one place.
#include "network.h"

namespace seeds {

void tensors(Device device) {
  Tensor t1 = tensor({{1, 2}, {3, 4}}), t2 = tensor({{5, 6}, {7, 8}});
  std::cout << t1.device() << ", " << t2.device() << "\n";
  t1 = t1.to(device);
  std::cout << t1.device() << "\n";
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
  network->to("cpu");
  std::cout << network(sample).device() << "\n";
}

}  // namespace seeds

int main(int argc, char** argv) {
  return seeds::run([&] {
    const seeds::Device device = seeds::device_of(argc, argv);
    seeds::tensors(device);
    seeds::network(device);
  });
}
