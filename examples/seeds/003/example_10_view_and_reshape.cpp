// Example 10: view needs memory that fits, reshape copies if it must.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Tensor contiguous = arange(12, device_of(argc, argv)).reshape({3, 4});
    std::cout << "\nContiguous Tensor Shape: " << contiguous.sizes() << "\n";
    std::cout << "Reshaped with view: " << contiguous.view({6, 2}).sizes() << "\n";

    const Tensor transposed = contiguous.transpose(0, 1);
    std::cout << "\nNon-Contiguous Tensor Shape: " << transposed.sizes() << "\n";
    try {
      transposed.view({6, 2});
    } catch (const Error& e) {
      std::cout << "Error with view on non-contiguous tensor: " << e.what() << "\n";
    }
    std::cout << "Reshaped with reshape: " << transposed.reshape({6, 2}).sizes() << "\n";
  });
}
