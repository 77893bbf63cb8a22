// What the programs of this folder share: weights and data from formulas, so that every framework
// starts from the same numbers, and the lines that they print.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

/// Numbers between -scale and scale without a pattern that a small network would notice.
inline torch::Tensor waves(torch::IntArrayRef sizes, double scale = 1, double phase = 0) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  const auto i = torch::arange(n, torch::kDouble);
  return (torch::sin(i * i * 0.37 + i * 12.9898 + phase) * scale).to(torch::kFloat).reshape(sizes);
}

/// Gives matrices and filters a size that fits their inputs, and leaves scales at 1, biases at 0.
inline void fill(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  double phase = 0;
  for (auto& item : module.named_parameters()) {
    torch::Tensor& p = item.value();
    phase += 1;
    if (p.dim() > 1)
      p.copy_(waves(p.sizes(), std::sqrt(3.0 * p.size(0) / p.numel()), phase));
    else
      p.fill_(item.key().find("bias") == std::string::npos ? 1.0 : 0.0);
  }
}

/// "loss 3 0.123456789"
inline void report(const char* what, int64_t step, double value) {
  std::printf("%s %lld %.9g\n", what, static_cast<long long>(step), value);
}
inline void report(const char* what, int64_t step, const torch::Tensor& value) {
  report(what, step, value.item<double>());
}
