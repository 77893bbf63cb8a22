// The bodies of methods that class Tensor itself declares and that have doors: tools/ops writes the
// methods from these declarations (Note [Doors of operations] in ops/door.h), sources of autograd/
// and ops/ define the bodies. Nobody else calls them.
#pragma once

#include "taeda/tensor/tensor.h"

#pragma GCC visibility push(hidden)
namespace taeda::inline v0_2 {

Tensor do_to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy);
Tensor do_contiguous(const Tensor& self, MemoryFormat format);
Tensor& do_copy_(const Tensor& self, const Tensor& source, bool non_blocking);
Scalar do_item(const Tensor& self);
Tensor do_detach(const Tensor& self);

}  // namespace taeda::inline v0_2
#pragma GCC visibility pop
