// Programs written for libtorch's C++ frontend compile against this header unchanged: namespace
// `torch` (and `at`, `c10`) opens onto namespace `taeda`.
#pragma once

#include <taeda/taeda.h>

#include <optional>

namespace torch {
using namespace taeda;
using std::nullopt;
using std::optional;
using DeviceType = taeda::DeviceType;
using TensorList = taeda::TensorList;
/// libtorch's function; its number type is c10::complex.
inline Tensor complex(const Tensor& real, const Tensor& imag) { return make_complex(real, imag); }
}  // namespace torch

namespace at {
using namespace taeda;
using torch::complex;
}  // namespace at

namespace c10 {
using namespace taeda;
using std::nullopt;
using std::optional;
}  // namespace c10

#define TORCH_MODULE(Name) TAEDA_MODULE(Name)
#define TORCH_MODULE_IMPL(Name, Impl) TAEDA_MODULE_IMPL(Name, Impl)
#define TORCH_CHECK(...) TAEDA_CHECK(__VA_ARGS__, "")
#define TORCH_CHECK_INDEX(...) TAEDA_CHECK_INDEX(__VA_ARGS__, "")
#define TORCH_CHECK_VALUE(...) TAEDA_CHECK_VALUE(__VA_ARGS__, "")
#define TORCH_CHECK_TYPE(...) TAEDA_CHECK_TYPE(__VA_ARGS__, "")
#define TORCH_CHECK_NOT_IMPLEMENTED(...) TAEDA_CHECK_NOT_IMPLEMENTED(__VA_ARGS__, "")
#define TORCH_INTERNAL_ASSERT(...) TAEDA_INTERNAL_ASSERT(__VA_ARGS__)
#define TORCH_ARG(T, name) TAEDA_ARG(T, name)
