// Random tensors. On the CPU a seed gives PyTorch's numbers; on accelerators it gives the same
// numbers on every device and any number of threads. Without a generator the device's default one
// is used: `manual_seed(seed)` restarts them all. The forms
// that fill a tensor (uniform_, normal_, ...) are methods: tensor/tensor_methods.inc.
// [operations]
#pragma once

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Uniform in [0, 1).
Tensor rand(IntArrayRef size, const TensorOptions& options = {}, Generator* generator = nullptr);
Tensor rand_like(const Tensor& self, const TensorOptions& options = {});
/// Standard normal. Complex numbers have variance 1/2 in each part.
Tensor randn(IntArrayRef size, const TensorOptions& options = {}, Generator* generator = nullptr);
Tensor randn_like(const Tensor& self, const TensorOptions& options = {});
/// Integers in [low, high), int64 unless the options have a dtype.
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = {});
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = {},
               Generator* generator = nullptr);
Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                    const TensorOptions& options = {});
inline Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {}) {
  return randint_like(self, 0, high, options);
}
/// A permutation of 0, 1, ... n - 1, int64 unless the options have a dtype.
Tensor randperm(int64_t n, const TensorOptions& options = {}, Generator* generator = nullptr);

/// 1 with the probability that each element of `self` states, else 0; of self's dtype.
/// [method]
Tensor bernoulli(const Tensor& self, Generator* generator = nullptr);
/// 1 with probability p, in self's shape and dtype.
/// [method]
Tensor bernoulli(const Tensor& self, double p, Generator* generator = nullptr);
/// Normal numbers with a mean and standard deviation for each element.
Tensor normal(const Tensor& mean, double std = 1, Generator* generator = nullptr);
Tensor normal(double mean, const Tensor& std, Generator* generator = nullptr);
Tensor normal(const Tensor& mean, const Tensor& std, Generator* generator = nullptr);
Tensor normal(double mean, double std, IntArrayRef size, const TensorOptions& options = {},
              Generator* generator = nullptr);
/// `num_samples` indices drawn from each row of weights (a vector or a matrix), int64. Throws Error
/// for negative weights, and without `replacement` for more samples than there are weights.
/// [method]
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false,
                   Generator* generator = nullptr);

}  // namespace taeda
