// A program of somebody else: it knows only what is installed.
#include <taeda/taeda.h>

#include <iostream>

int main() {
  const taeda::Tensor x = taeda::tensor({1.5, -2.0, 3.0}).requires_grad_(true);
  (x * x).sum().backward();
  std::cout << "gradient";
  for (int64_t i = 0; i < x.numel(); ++i) std::cout << ' ' << x.grad()[i].item<double>();
  try {
    taeda::ones({2, 3}).view({4});
  } catch (const taeda::Error& error) {
    std::cout << ", error caught";
  }
  std::cout << std::endl;
}
