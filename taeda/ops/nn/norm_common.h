// The dtype that normalisations keep statistics, weights and biases in.
#pragma once

#include "taeda/autograd/record.h"

namespace taeda::inline v0_2::detail {

/// A parameter as a kernel over data like `x` wants it: contiguous, in the computing dtype.
inline Tensor computing_form(const Tensor& t, const Tensor& x) {
  if (!t.defined()) return t;
  NoGradGuard guard;
  return t.to(computing_dtype(x.dtype())).contiguous();
}

/// `updated` was `computing_form` of `target` and has been written to: makes `target` follow.
inline void write_back(const Tensor& target, const Tensor& updated) {
  if (!target.defined()) return;
  if (target.is_same(updated))
    autograd::bump_version(target);
  else
    target.copy_(updated);
}

}  // namespace taeda::detail
