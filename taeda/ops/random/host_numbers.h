// Random numbers that are made one by one, on the host: those of rejection methods. Not part of the
// public interface.
#pragma once

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// A CPU generator for numbers of `device`: its own there, else one that continues from the
/// device's, so that a seed gives the same numbers again. Throws Error for a generator of another
/// device, and while a graph is recorded, which cannot hold them. `what` names the numbers.
Generator host_generator(const char* what, Device device, Generator* given);

/// The tensor on the CPU, in double, contiguous.
Tensor in_double(const Tensor& t);

/// Whether every element of a bool tensor is true. Yes on meta, where values cannot be checked.
bool every(const Tensor& t);

/// How many events come in a unit of time, `rate` on average. Hoermann, "The transformed rejection
/// method for generating Poisson random variables" (1993), and below a rate of 10 products of
/// uniform numbers.
double poisson_number(double rate, const Generator& generator);

/// How many of `count` trials succeed that each do with probability `probs`. Hoermann, "The
/// generation of binomial random variates" (1993); below 10 expected successes by the gaps between
/// them, which are geometric.
double binomial_number(double count, double probs, const Generator& generator);

}  // namespace taeda::inline v0_2::detail
