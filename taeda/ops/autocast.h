// What operations do under autocast (amp/autocast.h). An operation whose declaration has a policy,
// say [autocast: lower], begins with
//
//     if (AutocastMode::is_active()) return policy::declared<"mm">(mm, self, mat2);
//
// which casts the tensors among the arguments and calls the operation again with autocast paused.
// Casts are recorded, so the gradient of a float32 leaf is float32. Only floating tensors other
// than float64, on a device type that is on, are cast. Not part of the public interface.
#pragma once

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::policy {

/// Device types a policy is for. PyTorch's lists differ: the CPU leaves to bfloat16 what float16
/// would overflow in.
enum Devices : uint8_t {
  everywhere = 0xff,
  host = AutocastMode::bit(kCPU),
  accelerators = everywhere & ~host
};

/// Casts all tensors to the lower precision, to float32, or to the widest dtype among them.
enum class Cast : uint8_t { lower, float32, promote };

/// The policy that an operation declares; generated/ops/autocast_policies.h lists them.
struct Declared {
  std::string_view operation;
  Cast cast;
  Devices devices;
};
}  // namespace taeda::inline v0_2::policy

#include "taeda/generated/ops/autocast_policies.h"

namespace taeda::inline v0_2::policy {

/// Whether the policies of these devices apply to the tensor.
bool applies(const Tensor& t, Devices devices);
/// Whether an operation with this input would round this weight and this bias to its lower
/// precision. Where the device computes in float32 all the same, it casts the input alone and takes
/// them as they are.
bool rounds_weights(const Tensor& input, const Tensor& weight, const Tensor& bias);
/// Whether the input's device computes products of its lower precision in float32.
bool multiplies_in_float32(const Tensor& input);
/// The tensor in its device's lower precision; casts of float32 leaves are remembered until the
/// outermost guard ends.
Tensor to_lower_precision(const Tensor& t, Devices devices);
Tensor to_float32(const Tensor& t, Devices devices);
void clear_cache();

namespace detail {

/// Calls `cast` on every tensor of an argument; other arguments pass.
template <class Cast, class T>
decltype(auto) cast_argument(const Cast& cast, const T& argument) {
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

template <class Cast, class F, class... Args>
auto call(const Cast& cast, const F& op, const Args&... arguments) {
  // The casts are made while autocast is on: they ask for its dtypes.
  const std::tuple<decltype(cast_argument(cast, arguments))...> casted(
      cast_argument(cast, arguments)...);
  const AutocastMode::Pause pause;
  return std::apply([&](const auto&... a) { return op(a...); }, casted);
}

/// The dtype all operands of a promoting operation get: float32 if one of them has it.
class Widest {
 public:
  explicit Widest(Devices devices) : devices_(devices) {}
  void operator()(const Tensor& t);
  Tensor cast(const Tensor& t) const;

 private:
  Devices devices_;
  bool found_ = false;
  ScalarType dtype_ = kHalf;
};

}  // namespace detail

/// Runs `op` in the lower precision.
template <Devices devices = everywhere, class F, class... Args>
auto lower_precision(const F& op, const Args&... arguments) {
  const auto cast = [](const Tensor& t) { return to_lower_precision(t, devices); };
  return detail::call(cast, op, arguments...);
}

/// Runs `op` in float32.
template <Devices devices = everywhere, class F, class... Args>
auto float32(const F& op, const Args&... arguments) {
  const auto cast = [](const Tensor& t) { return to_float32(t, devices); };
  return detail::call(cast, op, arguments...);
}

/// Runs `op` in the widest dtype among its tensors: for operations that want all of one dtype.
template <Devices devices = everywhere, class F, class... Args>
auto promote(const F& op, const Args&... arguments) {
  detail::Widest widest(devices);
  (detail::visit_tensors(widest, arguments), ...);
  return detail::call([&](const Tensor& t) { return widest.cast(t); }, op, arguments...);
}

/// The name of an operation as an argument of a template.
template <size_t N>
struct OperationName {
  constexpr OperationName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};

/// The policy that `operation` declares in its header; does not compile where it declares none.
template <OperationName operation>
consteval Declared policy_of() {
  for (const Declared& d : kDeclared)
    if (d.operation == operation.text) return d;
  throw "the operation's declaration has no tag 'autocast'";
}

/// Runs `op` as the declaration of `operation` says.
template <OperationName operation, class F, class... Args>
auto declared(const F& op, const Args&... arguments) {
  constexpr Declared policy = policy_of<operation>();
  if constexpr (policy.cast == Cast::lower)
    return lower_precision<policy.devices>(op, arguments...);
  else if constexpr (policy.cast == Cast::float32)
    return float32<policy.devices>(op, arguments...);
  else
    return promote<policy.devices>(op, arguments...);
}

}  // namespace taeda::inline v0_2::policy
