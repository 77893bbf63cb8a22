// What draws first values, with any generator: functions of `init.h` and of Python are its faces.
#pragma once

#include <optional>

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::init {

/// Fills a tensor with normal numbers within [a, b]. What falls outside is drawn again; where less
/// than 0.3 of the distribution lies inside, uniform numbers are drawn, and kept with the
/// probability that their density has in the densest one's.
void draw_trunc_normal(Tensor& tensor, double mean, double std, double a, double b,
                       const std::optional<Generator>& generator = {});
/// Fills a tensor of two dimensions or more, those behind the first as one, with `gain` times a
/// matrix whose rows are orthonormal, or its columns if they are fewer: the first factor of the QR
/// decomposition of normal numbers, with the signs of the second one's diagonal.
void draw_orthogonal(Tensor& tensor, double gain, const std::optional<Generator>& generator = {});
/// Normal numbers of that deviation, of which in each column of a matrix a part `sparsity` is zero.
void draw_sparse(Tensor& matrix, double sparsity, double std,
                 const std::optional<Generator>& generator = {});
/// Ones on the diagonal of a matrix, zeros elsewhere.
void fill_eye(Tensor& matrix);
/// Convolution weights that pass as many input channels through as they can, in each group.
void fill_dirac(Tensor& tensor, int64_t groups);

}  // namespace taeda::inline v0_2::nn::init
