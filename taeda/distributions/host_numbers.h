// Random numbers that are made one by one, on the host: those of rejection methods.
#pragma once

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributions {

/// A CPU generator for numbers of `device`: its own there, else one that continues from the
/// device's, so that a seed gives the same numbers again. Throws Error for a generator of another
/// device, and while a graph is recorded, which cannot hold them. `what` names the numbers.
Generator host_generator(const char* what, Device device, Generator* given);

/// The tensor on the CPU, in double, contiguous.
Tensor in_double(const Tensor& t);

/// How many events come in a unit of time, `rate` on average; of rate's shape and dtype. On the CPU
/// a seed gives PyTorch's numbers. Hoermann, "The transformed rejection method for generating
/// Poisson random variables" (1993), and below a rate of 10 products of uniform numbers.
Tensor poisson_numbers(const Tensor& rate, Generator* generator);

/// How many of `count` trials succeed that each do with probability `probs`, tensors of one shape
/// and dtype. Hoermann, "The generation of binomial random variates" (1993); below 10 expected
/// successes by the gaps between them, which are geometric.
Tensor binomial_numbers(const Tensor& count, const Tensor& probs, Generator* generator);

}  // namespace taeda::inline v0_2::distributions
