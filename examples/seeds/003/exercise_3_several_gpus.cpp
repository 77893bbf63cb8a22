// Exercise 3: a convolutional network on all GPUs.
#include "../common.h"

struct SimpleCNNImpl : taeda::nn::Cloneable<SimpleCNNImpl> {
  SimpleCNNImpl() { reset(); }
  void reset() override {
    using namespace taeda::nn;
    conv1 = register_module(
        "conv1", Conv2d({.in_channels = 3, .out_channels = 16, .kernel_size = 3, .padding = 1}));
    relu = register_module("relu", ReLU());
    pool = register_module("pool", MaxPool2d(2));
    fc = register_module("fc", Linear(16 * 16 * 16, 10));
  }
  taeda::Tensor forward(taeda::Tensor x) {
    x = pool(relu(conv1(x)));
    return fc(x.view({x.size(0), -1}));
  }

  taeda::nn::Conv2d conv1{nullptr};
  taeda::nn::ReLU relu{nullptr};
  taeda::nn::MaxPool2d pool{nullptr};
  taeda::nn::Linear fc{nullptr};
};
TAEDA_MODULE(SimpleCNN);

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    const std::vector<Device> devices = gpus(device);
    std::cout << std::boolalpha << "CUDA Available: " << device.is_cuda() << "\n";
    std::cout << "Number of GPUs: " << devices.size() << "\n";
    SimpleCNN cnn;
    nn::AnyModule model(cnn);
    if (devices.size() > 1) {
      model = nn::AnyModule(nn::DataParallel(cnn, devices));
      std::cout << "Model wrapped with DataParallel\n";
    }
    model->to(device);
    std::cout << "Model is on device: " << model->parameters()[0].device() << "\n";
    const Tensor input = randn({32, 3, 32, 32}).to(device);
    std::cout << "Dummy input is on device: " << input.device() << "\n";
    const Tensor output = model.forward(input);
    std::cout << "Output shape: " << output.sizes() << "\n";
    std::cout << "Output is on device: " << output.device() << "\n";
  });
}
