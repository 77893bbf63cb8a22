// torch::enumtype: a type for each of libtorch's enumerators, which converts to Taeda's enumerator.
#pragma once

#include <taeda_compat/namespaces.h>

#include <string>
#include <variant>

namespace taeda_compat::enumtype {

/// A type of libtorch's name whose values are all `value`.
template <auto value>
struct Enumerator {
  using type = decltype(value);
  constexpr operator type() const { return value; }
  friend constexpr bool operator==(Enumerator, type other) { return other == value; }
};

#define TAEDA_COMPAT_ENUM(name)                \
  struct name : Enumerator<taeda::name> {      \
    static constexpr const char* text = #name; \
  }
TAEDA_COMPAT_ENUM(kNone);
TAEDA_COMPAT_ENUM(kMean);
TAEDA_COMPAT_ENUM(kSum);
TAEDA_COMPAT_ENUM(kZeros);
TAEDA_COMPAT_ENUM(kConstant);
TAEDA_COMPAT_ENUM(kReflect);
TAEDA_COMPAT_ENUM(kReplicate);
TAEDA_COMPAT_ENUM(kCircular);
TAEDA_COMPAT_ENUM(kBorder);
TAEDA_COMPAT_ENUM(kReflection);
TAEDA_COMPAT_ENUM(kNearest);
TAEDA_COMPAT_ENUM(kBilinear);
TAEDA_COMPAT_ENUM(kBicubic);
TAEDA_COMPAT_ENUM(kTrilinear);
TAEDA_COMPAT_ENUM(kArea);
TAEDA_COMPAT_ENUM(kNearestExact);
TAEDA_COMPAT_ENUM(kValid);
TAEDA_COMPAT_ENUM(kSame);
TAEDA_COMPAT_ENUM(kConv1D);
TAEDA_COMPAT_ENUM(kConv2D);
TAEDA_COMPAT_ENUM(kConv3D);
TAEDA_COMPAT_ENUM(kConvTranspose1D);
TAEDA_COMPAT_ENUM(kConvTranspose2D);
TAEDA_COMPAT_ENUM(kConvTranspose3D);
TAEDA_COMPAT_ENUM(kSigmoid);
TAEDA_COMPAT_ENUM(kTanh);
TAEDA_COMPAT_ENUM(kReLU);
TAEDA_COMPAT_ENUM(kLeakyReLU);
TAEDA_COMPAT_ENUM(kSELU);
TAEDA_COMPAT_ENUM(kGELU);
TAEDA_COMPAT_ENUM(kFanIn);
TAEDA_COMPAT_ENUM(kFanOut);
TAEDA_COMPAT_ENUM(kMax);
TAEDA_COMPAT_ENUM(kMish);
TAEDA_COMPAT_ENUM(kSiLU);
TAEDA_COMPAT_ENUM(kRNN_TANH);
TAEDA_COMPAT_ENUM(kRNN_RELU);
TAEDA_COMPAT_ENUM(kLSTM);
TAEDA_COMPAT_ENUM(kGRU);
#undef TAEDA_COMPAT_ENUM

/// Of an activation and of an interpolation, as the option that takes it demands.
struct kLinear : Enumerator<taeda::kLinear> {
  static constexpr const char* text = "kLinear";
  constexpr operator taeda::Interpolation() const { return taeda::Interpolation::Linear; }
};
struct kBatchMean {
  static constexpr const char* text = "kBatchMean";
  constexpr operator taeda::BatchMean() const { return {}; }
};

/// The enumerator's name without its `k`, as libtorch prints it.
template <class... E>
std::string get_enum_name(const std::variant<E...>& v) {
  return std::visit([](auto e) { return std::string(decltype(e)::text + 1); }, v);
}

/// A reduction's number in at::Reduction: 0 for none, 1 for the mean, 2 for the sum.
template <class... E>
int64_t reduction_get_enum(const std::variant<E...>& v) {
  return std::visit([](auto e) { return static_cast<int64_t>(Reduction(e)); }, v);
}

}  // namespace taeda_compat::enumtype
