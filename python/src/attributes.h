// Attributes of Tensor: shape, dtype, device, grad, ...
#pragma once

#include "python.h"

namespace taeda::python {

extern PyGetSetDef tensor_attributes[];

}  // namespace taeda::python
