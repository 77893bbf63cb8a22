// Copies between two layouts of host memory by the CPU's own kernel, which transposes in registers.
#pragma once

#include "taeda/base/dtype.h"
#include "taeda/tensor/layout.h"

namespace taeda::inline v0_2::cpu {

/// Copies elements of `dtype`. The memory is the host's, whatever device it belongs to by name;
/// `op` is what errors call the copy.
void copy_on_host(const char* op, void* to, const Layout& to_layout, const void* from,
                  const Layout& from_layout, ScalarType dtype);
/// The same between dtypes.
void convert_on_host(const char* op, void* to, const Layout& to_layout, ScalarType to_dtype,
                     const void* from, const Layout& from_layout, ScalarType from_dtype);

}  // namespace taeda::inline v0_2::cpu
