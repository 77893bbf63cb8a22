// The object by which another language holds a tensor.
//
// A binding gives every tensor one object, so that asking twice gives the same. Usually the object
// owns the tensor and the tensor only knows where it is. When the object would end while the tensor
// lives on, the binding may turn that round: the tensor owns the object, and hands it to the
// binding's hook when it ends itself.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The hook that gets the wrappers of tensors that end. One binding per process; throws Error if
/// another one is set. May be called on any thread.
void set_wrapper_hook(WrapperHook hook);

/// The tensor's wrapper, or nullptr.
void* wrapper_of(const Tensor& t);

/// Gives the tensor a wrapper unless it has one. Returns the one it has now: two threads that wrap
/// a tensor at once agree on it. Addresses are even; nullptr is an Error.
void* offer_wrapper(const Tensor& t, void* wrapper);

/// Who owns whom. Throws Error if the tensor has no wrapper, or no hook is set that could end it.
void set_owns_wrapper(const Tensor& t, bool owns);
bool owns_wrapper(const Tensor& t);

/// Forgets the wrapper, which the caller ends.
void clear_wrapper(const Tensor& t);

}  // namespace taeda
