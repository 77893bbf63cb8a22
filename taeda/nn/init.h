// Initial values of parameters. Every function fills the tensor in place, records nothing, and
// returns the tensor. Random numbers come from the device's default generator, in PyTorch's order.
#pragma once

#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn::init {

/// While one lives on a thread, the functions below leave tensors as they are: for modules whose
/// values are copied or loaded right after construction.
class SkipInitGuard {
 public:
  SkipInitGuard();
  ~SkipInitGuard();
  SkipInitGuard(const SkipInitGuard&) = delete;
  SkipInitGuard& operator=(const SkipInitGuard&) = delete;
  /// Whether modules of this thread leave their parameters uninitialised, false by default.
  static bool is_active();

 private:
  bool previous_;
};

/// The factor by which a function shrinks the standard deviation of what passes through it; `param`
/// is the negative slope of LeakyReLU. Throws ValueError for functions without a known gain.
double calculate_gain(Nonlinearity nonlinearity, double param = 0.01);
/// Fan in and fan out of a weight. Throws ValueError for fewer than two dimensions.
std::pair<int64_t, int64_t> calculate_fans(const Tensor& tensor);

/// Fills `tensor` in place without recording and returns it: uniform_ from [a, b),
/// [0, 1) by default, and normal_ around `mean`, 0 and 1 by default.
Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
/// Normal, redrawn within [a, b] (by inversion of the distribution function).
Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
Tensor constant_(Tensor tensor, const Scalar& value);
Tensor ones_(Tensor tensor);
Tensor zeros_(Tensor tensor);
/// Ones on the diagonal. Throws ValueError unless the tensor is a matrix.
Tensor eye_(Tensor matrix);
/// Normal numbers of that deviation, of which in each column a part `sparsity` is zero. Throws
/// ValueError unless the tensor is a matrix and `sparsity` lies in [0, 1].
Tensor sparse_(Tensor matrix, double sparsity, double std = 0.01);
/// Convolution weights that pass as many input channels through as they can, in each group. Throws
/// ValueError unless there are 3 to 5 dimensions and the groups divide the output channels.
Tensor dirac_(Tensor tensor, int64_t groups = 1);
/// Fills a weight [out, in, ...] so that sums of its inputs and of its outputs' gradients keep
/// their variance, times `gain` (Glorot and Bengio 2010). Throws ValueError for fewer than two
/// dimensions.
Tensor xavier_uniform_(Tensor tensor, double gain = 1);
Tensor xavier_normal_(Tensor tensor, double gain = 1);
/// Fills a weight [out, in, ...] so that layers with the nonlinearity keep the variance of their
/// inputs or gradients (He et al. 2015, arXiv:1502.01852); `a` is the negative slope of LeakyReLU,
/// 0 by default. Throws ValueError for fewer than two dimensions.
Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanMode mode = kFanIn,
                        Nonlinearity nonlinearity = kLeakyReLU);
Tensor kaiming_normal_(Tensor tensor, double a = 0, FanMode mode = kFanIn,
                       Nonlinearity nonlinearity = kLeakyReLU);
/// Fills a matrix, or a tensor as a matrix of size(0) rows, whose rows, or columns, if they are
/// fewer, are then orthonormal, times `gain` (Saxe et al. 2014, arXiv:1312.6120). Throws ValueError
/// for fewer than two dimensions.
Tensor orthogonal_(Tensor tensor, double gain = 1);

}  // namespace taeda::nn::init
