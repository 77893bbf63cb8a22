// Namespace `taeda_compat`: what libtorch has under names of its own. It sees all of `taeda`;
// `torch`, `at` and `c10` get their names in taeda_compat/roots.h.
#pragma once

#include <taeda/taeda.h>

#include <optional>
#include <string_view>
#include <variant>

namespace taeda_compat {
using namespace taeda;
using std::get_if;
using std::in_place;
using std::make_optional;
using std::make_unique;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;
using std::variant;
using std::visit;
using DeviceType = taeda::DeviceType;
using TensorList = taeda::TensorList;
using DeviceIndex = int8_t;
/// libtorch's function; its number type is c10::complex.
inline Tensor complex(const Tensor& real, const Tensor& imag) { return make_complex(real, imag); }
}  // namespace taeda_compat
