// Table look-up.
// [operations]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Row indices[i...] of `weight` ([num_embeddings, dim]) for every index: indices' shape + [dim].
/// The gradient of row `padding_idx` (-1: none) is zero; with `scale_grad_by_freq` a row's gradient
/// is divided by how often the row was looked up. With `sparse` the gradient is a sparse tensor of
/// the rows that were looked up. Throws IndexError ("index out of range in self").
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1,
                 bool scale_grad_by_freq = false, bool sparse = false);

/// int64 tensor with one more dimension of size `num_classes` (-1: largest class + 1), 1 at the
/// class and 0 elsewhere. Throws Error for classes outside of [0, num_classes).
Tensor one_hot(const Tensor& classes, int64_t num_classes = -1);

}  // namespace taeda
