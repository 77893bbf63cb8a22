// Gamma numbers and their derivative, on which half of the distributions rest.
#pragma once

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributions {

/// A gamma number of rate 1 for every element of `concentration` (float or double, positive), of
/// its shape; differentiable in it once. On the CPU a seed gives PyTorch's numbers. They are made
/// on the host: tensors of accelerators go there and back.
///
/// Numbers: Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
/// Derivative: that of the number with a fixed cumulative probability, -(dP/da) / density, of the
/// regularised incomplete gamma function P(a, x) by its series and continued fraction,
/// differentiated term by term (Moore, "Algorithm AS 187", 1982).
Tensor standard_gamma(const Tensor& concentration, Generator* generator = nullptr);

/// P(a, x), the probability that a gamma number with concentration a and rate 1 is at most x,
/// elementwise; differentiable in both once. Made on the host.
Tensor gamma_cdf(const Tensor& concentration, const Tensor& x);

/// dx/da of a gamma number x with concentration a.
double gamma_number_gradient(double a, double x);

/// Weights of the last dimension that add up to 1, of gamma numbers with these concentrations;
/// differentiable in them once.
Tensor standard_dirichlet(const Tensor& concentration, Generator* generator = nullptr);

/// (dx/da) / (1 - x) of a beta number x with concentrations a and b; `rest` is 1 - x.
double beta_number_gradient(double a, double b, double x, double rest);

}  // namespace taeda::inline v0_2::distributions
