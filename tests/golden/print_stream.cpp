// Writes tests/tensor/print_stream_golden.h: what libtorch's operator<< prints for the tensors that
// print_test.cpp makes. Build against libtorch 1.13:
//   g++ -std=c++17 -I/usr/include/torch/csrc/api/include print_stream.cpp -ltorch -ltorch_cpu -lc10
#include <torch/torch.h>

#include <iostream>
#include <sstream>

int main() {
  using torch::arange, torch::kFloat, torch::Tensor, torch::tensor, torch::zeros;
  const std::vector<Tensor> cases = {tensor(1.5),
                                     tensor({1.0, 2.0, 3.0}),
                                     tensor({1, -2, 30}),
                                     arange(6).reshape({2, 3}).to(kFloat),
                                     tensor({1.5, -2.25}),
                                     tensor({1e-5, 1.0}),
                                     tensor({123456.5, 1000.25}),
                                     tensor({0.001, 0.002}),
                                     arange(8).reshape({2, 2, 2}),
                                     arange(40).reshape({2, 20}) * 10000,
                                     zeros({0}),
                                     zeros({2, 0}),
                                     tensor({123456.5, 200000.25}).reshape({1, 2}),
                                     arange(16).reshape({2, 2, 2, 2}),
                                     tensor({0.5, 0.25}).reshape({2, 1}),
                                     tensor(7),
                                     tensor({true, false}),
                                     tensor({1e12, 1.0})};
  std::cout << "// Made by tests/golden/print_stream.cpp with libtorch 1.13.\n#pragma once\n\n"
               "constexpr const char* kPrintStreamGolden[] = {\n";
  for (const Tensor& t : cases) {
    std::ostringstream text;
    text << t;
    std::cout << "    R\"(" << text.str() << ")\",\n";
  }
  std::cout << "};\n";
}
