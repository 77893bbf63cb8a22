// Example 12: operations in place, and what automatic differentiation says of them.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Tensor x = randn({3, 3}, TensorOptions(device_of(argc, argv)).requires_grad(true));
    std::cout << "\nOriginal Tensor:\n " << x.repr() << "\n";
    nn::ReLU relu;
    Tensor y = relu(x);
    std::cout << "\nTensor after ReLU:\n " << y.repr() << "\n";
    try {
      y += 1;  // allowed; but the gradient of ReLU needs the numbers that this overwrites
      std::cout << "\nTensor after in-place addition:\n " << y.repr() << "\n";
      y.sum().backward();
    } catch (const Error& e) {
      std::cout << "Error with in-place operation: " << e.what() << "\n";
    }
  });
}
