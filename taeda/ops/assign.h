// The in-place form of an operation that is made of others; not part of the public interface.
#pragma once

#include <functional>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// self = compute(self), in the dtype of `self`; recorded as a change in place if `recorded`.
/// Throws Error if the result has other sizes or cannot be cast.
Tensor& assign(const char* name, const Tensor& self, bool recorded,
               const std::function<Tensor(const Tensor&)>& compute);

}  // namespace taeda::detail
