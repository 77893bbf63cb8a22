// Example 14: a model that was not moved to where its input is.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    nn::Linear model(10, 2);
    const Tensor input = randn({5, 10}).to(device);
    try {
      model(input);
    } catch (const Error& e) {
      std::cout << "\nError due to model on CPU: " << e.what() << "\n";
    }
    model->to(device);
    std::cout << "\nModel Output:\n " << model(input).repr() << "\n";
  });
}
