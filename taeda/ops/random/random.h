// Random tensors. On the CPU a seed gives PyTorch's numbers; on accelerators it gives the same
// numbers on every device and any number of threads. Without a generator the device's default one
// is used: `manual_seed(seed)` restarts them all. The forms
// that fill a tensor (uniform_, normal_, ...) are methods: tensor/tensor_methods.inc.
// [operations]
#pragma once

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Numbers uniform in [0, 1), of shape `size` or that of `self`. Throws Error for integers.
Tensor rand(IntArrayRef size, const TensorOptions& options = {}, GeneratorArg generator = nullptr);
Tensor rand_like(const Tensor& self, const TensorOptions& options = {},
                 std::optional<MemoryFormat> memory_format = {});
/// Standard normal numbers, of shape `size` or that of `self`. Complex numbers have variance 1/2 in
/// each part.
Tensor randn(IntArrayRef size, const TensorOptions& options = {}, GeneratorArg generator = nullptr);
Tensor randn_like(const Tensor& self, const TensorOptions& options = {},
                  std::optional<MemoryFormat> memory_format = {});
/// Integers in [low, high), of shape `size` or that of `self`, int64 unless the options have a
/// dtype.
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = {});
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = {},
               GeneratorArg generator = nullptr);
Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                    const TensorOptions& options = {},
                    std::optional<MemoryFormat> memory_format = {});
inline Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {},
                           std::optional<MemoryFormat> memory_format = {}) {
  return randint_like(self, 0, high, options, memory_format);
}
/// A vector of a permutation of 0, 1, ... n - 1, int64 unless the options have a dtype.
Tensor randperm(int64_t n, const TensorOptions& options = {}, GeneratorArg generator = nullptr);

// libtorch's other order: the generator before the options.
inline Tensor rand(IntArrayRef size, GeneratorArg generator, const TensorOptions& options = {}) {
  return rand(size, options, generator);
}
inline Tensor randn(IntArrayRef size, GeneratorArg generator, const TensorOptions& options = {}) {
  return randn(size, options, generator);
}
inline Tensor randint(int64_t low, int64_t high, IntArrayRef size, GeneratorArg generator,
                      const TensorOptions& options = {}) {
  return randint(low, high, size, options, generator);
}
inline Tensor randint(int64_t high, IntArrayRef size, GeneratorArg generator,
                      const TensorOptions& options = {}) {
  return randint(0, high, size, options, generator);
}
inline Tensor randperm(int64_t n, GeneratorArg generator, const TensorOptions& options = {}) {
  return randperm(n, options, generator);
}

/// 1 with the probability that each element of `self` states, else 0; of self's shape and dtype.
/// Throws Error for probabilities outside of [0, 1].
/// [method]
Tensor bernoulli(const Tensor& self, GeneratorArg generator = nullptr);
/// 1 with probability p, in self's shape and dtype.
/// [method]
Tensor bernoulli(const Tensor& self, double p, GeneratorArg generator = nullptr);
/// Normal numbers with a mean and standard deviation for each element: tensors that have as many,
/// or numbers with `size`. Throws Error for a negative deviation.
Tensor normal(const Tensor& mean, double std = 1, GeneratorArg generator = nullptr);
Tensor normal(double mean, const Tensor& std, GeneratorArg generator = nullptr);
Tensor normal(const Tensor& mean, const Tensor& std, GeneratorArg generator = nullptr);
Tensor normal(double mean, double std, IntArrayRef size, const TensorOptions& options = {},
              GeneratorArg generator = nullptr);
inline Tensor normal(double mean, double std, IntArrayRef size, GeneratorArg generator,
                     const TensorOptions& options = {}) {
  return normal(mean, std, size, options, generator);
}
/// How many events come where `self` come on average; of its shape and dtype. The gradient is zero.
/// Throws Error for a negative rate.
/// [dtypes: floating]
Tensor poisson(const Tensor& self, GeneratorArg generator = nullptr);
/// How many of `count` trials succeed that each do with probability `prob`. Both broadcast and have
/// one dtype. The gradient is zero. Throws Error for a negative count and for probabilities outside
/// of [0, 1].
/// [dtypes: floating]
Tensor binomial(const Tensor& count, const Tensor& prob, GeneratorArg generator = nullptr);
/// `num_samples` indices drawn from each row of weights (a vector or a matrix), int64. Throws Error
/// for negative weights, and without `replacement` for more samples than there are weights.
/// [method]
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false,
                   GeneratorArg generator = nullptr);

}  // namespace taeda
