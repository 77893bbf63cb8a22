// Exercise 2: a model and its input on the same device.
#include "../common.h"

namespace seeds {

// Step 1: a simple model
struct SimpleNetImpl : nn::Cloneable<SimpleNetImpl> {
  SimpleNetImpl() { reset(); }
  void reset() override { fc = register_module("fc", nn::Linear(100, 10)); }
  Tensor forward(const Tensor& x) { return fc(x); }

  nn::Linear fc{nullptr};
};
TAEDA_MODULE(SimpleNet);

}  // namespace seeds

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    SimpleNet model;

    // Step 2: is there a GPU?
    const Device device = device_of(argc, argv);
    std::cout << "Using device: " << device << "\n";

    // Step 3: the model goes there
    model->to(device);
    std::cout << "Model is on device: " << model->parameters()[0].device() << "\n";

    // Step 4: and so does its input
    const Tensor input = randn({5, 100}).to(device);
    std::cout << "Input tensor is on device: " << input.device() << "\n";

    // Step 5: the output is there, too
    const Tensor output = model(input);
    std::cout << "Output tensor is on device: " << output.device() << "\n";
  });
}
