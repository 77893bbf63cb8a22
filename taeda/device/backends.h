// torch.backends: switches of the libraries behind a backend. They can be set and asked for without
// a device; each is read when an operation is called.
#pragma once

#include <string>

namespace taeda::inline v0_2 {

/// How float products on an accelerator round their factors: "highest" (float32), "high" or
/// "medium" (TF32, where the device has it). Throws Error for another word.
void set_float32_matmul_precision(const std::string& precision);
std::string get_float32_matmul_precision();

namespace backends {

namespace detail {

enum class SwitchName {
  MatmulTf32,
  DnnEnabled,
  DnnBenchmark,
  DnnDeterministic,
  DnnTf32,
  DnnAttention
};
bool get(SwitchName name);
void set(SwitchName name, bool value);

}  // namespace detail

/// Reads and assigns like a bool, from any thread.
class Switch {
 public:
  explicit constexpr Switch(detail::SwitchName name) : name_(name) {}
  operator bool() const { return detail::get(name_); }
  const Switch& operator=(bool value) const {
    detail::set(name_, value);
    return *this;
  }

 private:
  detail::SwitchName name_;
};

namespace cuda::matmul {
/// TF32 in products of float matrices; false. The same switch as set_float32_matmul_precision.
inline constexpr Switch allow_tf32{detail::SwitchName::MatmulTf32};
}  // namespace cuda::matmul

namespace cuda {
/// Whether attention may be computed by cuDNN, where it has faster kernels (compute capability 9
/// and 10, 16-bit floats, no dropout, no mask); true. The own kernels do it otherwise.
void enable_cudnn_sdp(bool enabled);
bool cudnn_sdp_enabled();
}  // namespace cuda

namespace cudnn {
/// Whether cuDNN is used where it can be; true.
inline constexpr Switch enabled{detail::SwitchName::DnnEnabled};
/// Times several algorithms for a new shape and keeps the fastest; false.
inline constexpr Switch benchmark{detail::SwitchName::DnnBenchmark};
/// Only algorithms that give the same bits every time; false. Without `benchmark` no others are
/// used anyway.
inline constexpr Switch deterministic{detail::SwitchName::DnnDeterministic};
/// TF32 in convolutions of float tensors; true.
inline constexpr Switch allow_tf32{detail::SwitchName::DnnTf32};
}  // namespace cudnn

}  // namespace backends
}  // namespace taeda
