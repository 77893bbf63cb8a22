// What operations do under autocast (amp/autocast.h). The door of an operation whose declaration
// has a policy, say [autocast: lower], casts the tensors among its arguments and calls its body
// with autocast paused (ops/door.h). Where the tag adds `inside`, the body does so itself. Casts
// are recorded, so the gradient of a float32 leaf is float32. Only floating tensors other than
// float64, on a device type that is on, are cast. Not part of the public interface.
#pragma once

#include <type_traits>
#include <vector>

#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::policy {

/// Casts tensors to the lower precision, to float32, or to the widest dtype among them; or refuses
/// the call.
enum class Cast : uint8_t { none, lower, float32, promote, unsafe };

/// What becomes of tensors on the host and on accelerators. PyTorch's lists differ: the CPU leaves
/// to bfloat16 what float16 would overflow in.
struct Casts {
  Cast host = Cast::none, accelerators = host;
  constexpr bool any() const { return host != Cast::none || accelerators != Cast::none; }
};

bool applies_while_active(const Tensor& t);
/// Whether autocast is on for tensors like this one.
inline bool applies(const Tensor& t) {
  return AutocastMode::is_active() && applies_while_active(t);
}
/// Whether an operation with this input would round this weight and this bias to its lower
/// precision. Where the device computes in float32 all the same, it casts the input alone and takes
/// them as they are.
bool rounds_weights(const Tensor& input, const Tensor& weight, const Tensor& bias);
/// Whether the input's device computes products of its lower precision in float32.
bool multiplies_in_float32(const Tensor& input);
/// The tensor in its device's lower precision; casts of float32 leaves are remembered until the
/// outermost guard ends.
Tensor to_lower_precision(const Tensor& t);
Tensor to_float32(const Tensor& t);
void clear_cache();

namespace detail {

/// Casts a call's tensors one by one. One that promotes visits all of them first: it casts to
/// float32 if one of them has it.
class Caster {
 public:
  explicit Caster(Casts casts) : casts_(casts) {}
  void visit(const Tensor& t);
  Tensor operator()(const Tensor& t) const;

 private:
  /// What becomes of this tensor.
  Cast cast_of(const Tensor& t) const;

  Casts casts_;
  bool found_ = false;
  ScalarType widest_ = kHalf;
};

/// Calls `cast` on every tensor of an argument; other arguments pass.
template <class T>
decltype(auto) cast_argument(const Caster& cast, const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return cast(argument);
  } else if constexpr (std::is_same_v<T, TensorList>) {
    std::vector<Tensor> out;
    out.reserve(argument.size());
    for (const Tensor& t : argument) out.push_back(cast(t));
    return out;
  } else {
    return (argument);
  }
}

template <class Visit, class T>
void visit_tensors(Visit&& visit, const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) {
    visit(argument);
  } else if constexpr (std::is_same_v<T, TensorList>) {
    for (const Tensor& t : argument) visit(t);
  }
}

template <class F, class... Args>
decltype(auto) call_paused(const F& op, const Args&... arguments) {
  const AutocastMode::Pause pause;
  return op(arguments...);
}

}  // namespace detail

/// Runs `op` on the arguments with their tensors cast, and with autocast paused.
template <class F, class... Args>
decltype(auto) casted(Casts casts, const F& op, const Args&... arguments) {
  detail::Caster caster(casts);
  if (casts.host == Cast::promote || casts.accelerators == Cast::promote)
    (detail::visit_tensors([&](const Tensor& t) { caster.visit(t); }, arguments), ...);
  // The casts are made while autocast is on: they ask for its dtypes.
  return detail::call_paused(op, detail::cast_argument(caster, arguments)...);
}

/// Runs `op` in the lower precision.
template <class F, class... Args>
auto lower_precision(const F& op, const Args&... arguments) {
  return casted({Cast::lower}, op, arguments...);
}

}  // namespace taeda::inline v0_2::policy
