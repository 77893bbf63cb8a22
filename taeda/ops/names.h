// Second names that PyTorch gives to operations: the tag `also` of a declaration. And calls as in
// Python that are no calls here, whose line the compiler shows.
#pragma once

#include "taeda/generated/ops/names.h"  // IWYU pragma: export
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {
Tensor empty(int64_t, int64_t, ...) = delete;  // sizes stand in braces: empty({2, 3})
Tensor zeros(int64_t, int64_t, ...) = delete;  // sizes stand in braces: zeros({2, 3})
Tensor ones(int64_t, int64_t, ...) = delete;   // sizes stand in braces: ones({2, 3})
Tensor rand(int64_t, int64_t, ...) = delete;   // sizes stand in braces: rand({2, 3})
Tensor randn(int64_t, int64_t, ...) = delete;  // sizes stand in braces: randn({2, 3})
}  // namespace taeda::inline v0_2
