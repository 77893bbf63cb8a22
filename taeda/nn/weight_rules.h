// Weights that follow from others, as functions over tensors: what `reparametrize.h` and Python's
// hooks and parametrizations compute.
#pragma once

#include <utility>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::utils {

/// v g / |v|, the norm being that of all but dimension `dim`, or with -1 of everything (Salimans
/// and Kingma 2016, arXiv:1602.07868).
Tensor weight_of_norm(const Tensor& v, const Tensor& g, int64_t dim);

/// Random vectors of length 1 from which the power method starts: of as many elements as dimension
/// `dim` of a weight has, and as all others have together.
std::pair<Tensor, Tensor> first_singular_vectors(const Tensor& weight, int64_t dim, double eps);
/// A weight divided by the largest singular value of its matrix of dimension `dim` by all others,
/// which `iterations` of the power method find: they move `u` and `v` (Miyato et al. 2018,
/// arXiv:1802.05957).
Tensor weight_of_spectral_norm(const Tensor& weight, Tensor u, Tensor v, int64_t iterations,
                               int64_t dim, double eps);

}  // namespace taeda::inline v0_2::nn::utils
