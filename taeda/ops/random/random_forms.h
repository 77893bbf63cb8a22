// Drawn numbers as new tensors: what uniform_, exponential_ and their like fill, in the sizes,
// dtype and device of `self`, whose own numbers count for nothing; slopes drawn for negative
// elements. On the CPU a seed gives PyTorch's numbers. Not part of taeda.h.
// [operations, shape: same]
#pragma once

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Uniform in [from, to).
/// [composite]
Tensor uniform(const Tensor& self, double from = 0, double to = 1,
               GeneratorArg generator = nullptr);
/// Normal with this mean and standard deviation.
/// [composite]
Tensor normal_functional(const Tensor& self, double mean = 0, double std = 1,
                         GeneratorArg generator = nullptr);
/// Exponentially distributed with rate `lambd`.
/// [composite]
Tensor exponential(const Tensor& self, double lambd = 1, GeneratorArg generator = nullptr);
/// Cauchy's distribution around `median` with scale `sigma`.
/// [composite]
Tensor cauchy(const Tensor& self, double median = 0, double sigma = 1,
              GeneratorArg generator = nullptr);
/// The number of trials until one of probability p succeeds.
/// [composite]
Tensor geometric(const Tensor& self, double p, GeneratorArg generator = nullptr);
/// Numbers whose logarithm is normal with this mean and standard deviation.
/// [composite]
Tensor log_normal(const Tensor& self, double mean = 1, double std = 2,
                  GeneratorArg generator = nullptr);
/// Integers in [from, to), by default from 0 to the largest that the dtype has exactly.
/// [composite]
Tensor random(const Tensor& self, GeneratorArg generator = nullptr);
Tensor random(const Tensor& self, int64_t to, GeneratorArg generator = nullptr);
Tensor random(const Tensor& self, int64_t from, OptionalDim to, GeneratorArg generator = nullptr);
/// 1 with the probability that each element of `p` states, else 0; p broadcasts to self.
Tensor bernoulli(const Tensor& self, const Tensor& p, GeneratorArg generator = nullptr);

/// x for x > 0, slope * x elsewhere: a slope drawn from [lower, upper) for each element while
/// `training`, else their mean (Xu et al., arXiv:1505.00853).
/// [dtypes: floating]
Tensor rrelu(const Tensor& self, const Scalar& lower = 1.0 / 8, const Scalar& upper = 1.0 / 3,
             bool training = false, GeneratorArg generator = nullptr);
/// [not dtypes]
Tensor& rrelu_(const Tensor& self, const Scalar& lower = 1.0 / 8, const Scalar& upper = 1.0 / 3,
               bool training = false, GeneratorArg generator = nullptr);
/// `rrelu` that, while `training`, writes the slopes into `noise`, a tensor of self's sizes.
/// [dtypes: floating]
Tensor rrelu_with_noise(const Tensor& self, const Tensor& noise, const Scalar& lower = 1.0 / 8,
                        const Scalar& upper = 1.0 / 3, bool training = false,
                        GeneratorArg generator = nullptr);
/// [not dtypes]
Tensor& rrelu_with_noise_(const Tensor& self, const Tensor& noise, const Scalar& lower = 1.0 / 8,
                          const Scalar& upper = 1.0 / 3, bool training = false,
                          GeneratorArg generator = nullptr);

}  // namespace taeda::inline v0_2
