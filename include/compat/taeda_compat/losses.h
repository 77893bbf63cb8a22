// Losses and norms that Taeda has under other names, with libtorch's arguments. The build makes
// their forms with `out`.
// [operations]
#pragma once

#include <taeda_compat/namespaces.h>

namespace taeda_compat {

/// nll_loss over [N, C, H, W] with a target [N, H, W]. Throws Error for other numbers of
/// dimensions.
inline Tensor nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                         ReductionArg reduction = Reduction::Mean, int64_t ignore_index = -100) {
  TAEDA_CHECK(
      target.dim() == 3,
      "only batches of spatial targets supported (3D tensors) but got targets of dimension: ",
      target.dim());
  TAEDA_CHECK(self.dim() == 4,
              "only batches of spatial inputs supported (4D tensors), but got input of dimension: ",
              self.dim());
  return taeda::nll_loss(self, target, weight, reduction, ignore_index);
}
/// nll_loss over [C], [N, C] or [N, C, ...].
inline Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                          ReductionArg reduction = Reduction::Mean, int64_t ignore_index = -100) {
  return taeda::nll_loss(self, target, weight, reduction, ignore_index);
}
/// cross_entropy.
inline Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                                 const Tensor& weight = {},
                                 ReductionArg reduction = Reduction::Mean,
                                 int64_t ignore_index = -100, double label_smoothing = 0) {
  return taeda::cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing);
}
/// nn::functional::multi_margin_loss.
inline Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p = 1,
                                const Scalar& margin = 1, const Tensor& weight = {},
                                ReductionArg reduction = Reduction::Mean) {
  return nn::functional::multi_margin_loss(self, target,
                                           {.p = p.toInt(),
                                            .margin = margin.toDouble(),
                                            .weight = weight,
                                            .reduction = Reduction(reduction)});
}
/// nn::functional::multilabel_margin_loss.
inline Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target,
                                     ReductionArg reduction = Reduction::Mean) {
  return nn::functional::multilabel_margin_loss(self, target, {.reduction = Reduction(reduction)});
}

// Norms ------------------------------------------------------------------------------------------

/// The root of the sum of squares.
inline Tensor frobenius_norm(const Tensor& self) { return taeda::linalg::vector_norm(self); }
inline Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return taeda::linalg::vector_norm(self, 2, dim, keepdim);
}
/// The sum of singular values.
inline Tensor nuclear_norm(const Tensor& self, bool keepdim = false) {
  return taeda::linalg::matrix_norm(self, "nuc", {-2, -1}, keepdim);
}
inline Tensor nuclear_norm(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return taeda::linalg::matrix_norm(self, "nuc", dim, keepdim);
}

}  // namespace taeda_compat
