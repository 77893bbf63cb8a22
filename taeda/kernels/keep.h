// What an argument of a kernel becomes when the kernel runs after the call: simulated devices queue
// calls, captures of the CPU's work keep them (sim/register.cpp, cpu/capture.cpp).
//
// A new kind of argument needs one more overload, or members `rebase(ptrdiff_t)`,
// `for_each_extent` and a `device`. `delta` is the distance from an address on the argument's
// device to where the kernel finds the byte.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/base/array_ref.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

template <class T>
concept Rebasable = requires(T x, ptrdiff_t delta) {
  x.rebase(delta);
};

/// A kernel that writes to host memory of its caller must be over when the call returns.
template <class T>
constexpr bool kWritesToCaller = (std::is_pointer_v<T> && !std::same_as<T, const char*>) ||
                                 (std::is_lvalue_reference_v<T> &&
                                  !std::is_const_v<std::remove_reference_t<T>>);

/// The same elements, in memory that the result does not own.
inline Tensor keep(const Tensor& t, ptrdiff_t delta) {
  if (!t.defined()) return t;
  const StorageImpl* storage = t.storage().get();
  char* data = static_cast<char*>(storage->data_for_work());
  Storage reachable =
      Storage::from_user(data ? data + delta : nullptr, storage->nbytes(), Device(kCPU), {});
  return Tensor(make_intrusive<TensorImpl>(std::move(reachable), Layout(t.layout()), t.dtype()));
}

inline std::vector<Tensor> keep(const TensorList& list, ptrdiff_t delta) {
  std::vector<Tensor> out;
  out.reserve(list.size());
  for (const Tensor& t : list) out.push_back(keep(t, delta));
  return out;
}

inline std::optional<Tensor> keep(const std::optional<Tensor>& t, ptrdiff_t delta) {
  return t ? std::optional(keep(*t, delta)) : std::nullopt;
}

template <class T>
SmallVector<T, 5> keep(const ArrayRef<T>& list, ptrdiff_t) {
  return SmallVector<T, 5>(list);
}

/// A list of addresses and what belongs to them (Iter, ParamList).
template <Rebasable T>
T keep(const T& x, ptrdiff_t delta) {
  T out = x;
  if (delta != 0) out.rebase(delta);
  return out;
}

/// Numbers, strings, and structs of them.
template <class T>
requires(!Rebasable<T>) T keep(const T& x, ptrdiff_t) {
  static_assert(std::is_trivially_copyable_v<T> || std::same_as<T, std::string>,
                "this argument of a kernel slot needs an overload of keep() in kernels/keep.h");
  return x;
}

/// A kernel and what became of its arguments. A tuple would do, but is compiled for every kind of
/// kernel, and takes a third longer.
template <class Places, class... Args>
struct KeptCallOf;
template <size_t I, class Arg>
struct KeptArgument {
  decltype(keep(std::declval<const std::remove_cvref_t<Arg>&>(), 0)) value;
};
template <size_t... I, class... Args>
struct KeptCallOf<std::index_sequence<I...>, Args...> : KeptArgument<I, Args>... {
  void operator()() { kernel(static_cast<KeptArgument<I, Args>&>(*this).value...); }
  void (*kernel)(Args...);
};
template <class... Args>
using KeptCall = KeptCallOf<std::index_sequence_for<Args...>, Args...>;

}  // namespace taeda::inline v0_2::detail
