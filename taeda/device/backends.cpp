#include "taeda/device/backends.h"

#include <atomic>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace {

enum class Precision { Highest, High, Medium };
constexpr const char* kPrecisions[] = {"highest", "high", "medium"};

constinit std::atomic<Precision> precision{Precision::Highest};
constinit std::atomic<bool> dnn_enabled{true}, dnn_benchmark{false}, dnn_deterministic{false},
    dnn_tf32{true}, dnn_attention{true};

std::atomic<bool>& flag(backends::detail::SwitchName name) {
  using enum backends::detail::SwitchName;
  switch (name) {
    case DnnEnabled: return dnn_enabled;
    case DnnBenchmark: return dnn_benchmark;
    case DnnDeterministic: return dnn_deterministic;
    case DnnAttention: return dnn_attention;
    default: return dnn_tf32;
  }
}

}  // namespace

void set_float32_matmul_precision(const std::string& text) {
  for (int i = 0; i < 3; ++i)
    if (text == kPrecisions[i]) {
      precision = static_cast<Precision>(i);
      return;
    }
  throw Error(detail::concat(text,
                             " is not one of 'highest', 'high', or 'medium'; the precision of "
                             "float32 products is unchanged"));
}

std::string get_float32_matmul_precision() {
  return kPrecisions[static_cast<int>(precision.load())];
}

namespace backends::detail {

bool get(SwitchName name) {
  return name == SwitchName::MatmulTf32 ? precision != Precision::Highest : flag(name).load();
}

void set(SwitchName name, bool value) {
  if (name == SwitchName::MatmulTf32)
    precision = value ? Precision::High : Precision::Highest;
  else
    flag(name) = value;
}

}  // namespace backends::detail

namespace backends::cuda {

void enable_cudnn_sdp(bool enabled) { detail::set(detail::SwitchName::DnnAttention, enabled); }

bool cudnn_sdp_enabled() { return detail::get(detail::SwitchName::DnnAttention); }

}  // namespace backends::cuda

}  // namespace taeda
