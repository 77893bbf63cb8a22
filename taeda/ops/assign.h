// The in-place form of an operation that is made of others; not part of the public interface.
#pragma once

#include <functional>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// self = compute(self), in the dtype of `self`; recorded as a change in place if `recorded`.
/// `name` is that of the in-place form; the operation's kernel writes into `self` where it can
/// (Note [Destinations] in ops/destination.h). Throws Error if the result has other sizes or
/// cannot be cast.
Tensor& assign(const char* name, const Tensor& self, bool recorded,
               const std::function<Tensor(const Tensor&)>& compute);

/// The recorded change alone, after `check_inplace`: computes with a copy of what `self` was, which
/// the closure may save, and takes over the result's history.
void assign_recorded(const char* name, const Tensor& self,
                     const std::function<Tensor(const Tensor&)>& compute);

/// For changes that PyTorch makes in what an expanded tensor shares, and warns of.
void warn_of_expansion(const char* name, const Tensor& self);

}  // namespace taeda::detail
