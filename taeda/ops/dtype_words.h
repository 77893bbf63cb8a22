// How errors about dtypes are worded. Not part of the public interface.
#pragma once

#include "taeda/base/dtype.h"

namespace taeda::inline v0_2::detail {

/// The dtype's name in C++, as in some of PyTorch's errors: "long int", "c10::complex<float>".
const char* type_name(ScalarType t);

}  // namespace taeda::inline v0_2::detail
