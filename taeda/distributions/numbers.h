// What several distributions need: limits of dtypes, random numbers like a parameter,
// probabilities, words of errors.
#pragma once

#include <string>
#include <utility>

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributions {

/// The distance from 1 to the next number of a floating dtype.
double epsilon_of(ScalarType dtype);
/// The smallest positive normal number of a floating dtype.
double tiny_of(ScalarType dtype);
double largest_of(ScalarType dtype);

/// Uniform in [from, to), of `like`'s dtype and device.
Tensor uniform_like(const Tensor& like, IntArrayRef shape, double from, double to,
                    Generator* generator);
Tensor standard_normal(const Tensor& like, IntArrayRef shape, Generator* generator);
/// Exponential numbers of rate 1.
Tensor standard_exponential(const Tensor& like, IntArrayRef shape, Generator* generator);

/// Probabilities moved epsilon away from 0 and 1.
Tensor clamp_probs(const Tensor& probs);
/// log(p / (1 - p)) of two outcomes' probabilities.
Tensor logits_of_binary(const Tensor& probs);
/// log(1 + e^x) without overflow.
Tensor log1p_exp(const Tensor& x);
/// log of the beta function, of tensors that broadcast.
Tensor log_beta(const Tensor& a, const Tensor& b);
/// self where `inside` is true, else -inf.
Tensor where_inside(const Tensor& inside, const Tensor& density);

/// "(2, 3)", as Python writes sizes.
std::string shape_text(IntArrayRef sizes);
/// "-1.0" or "tensor([ 1., -1.])", as Python writes values.
std::string value_text(const Tensor& value);

}  // namespace taeda::inline v0_2::distributions
