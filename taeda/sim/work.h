// What a call of a kernel slot costs, derived from its arguments: the bytes of the tensors it is
// given, and for products the operations that follow from their shapes.
#pragma once

#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>

#include "taeda/kernels/attention.h"
#include "taeda/kernels/conv.h"
#include "taeda/kernels/matmul.h"
#include "taeda/kernels/param_list.h"
#include "taeda/sim/predictor.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::sim {

/// Bytes that a kernel touches of an argument. Elements that a broadcast repeats count once.
inline int64_t touched_bytes(const Tensor& t) {
  if (!t.defined()) return 0;
  int64_t bytes = t.element_size();
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.layout().strides[static_cast<size_t>(d)] != 0) bytes *= t.size(d);
  return t.numel() == 0 ? 0 : bytes;
}

inline int64_t touched_bytes(const TensorList& list) {
  int64_t bytes = 0;
  for (const Tensor& t : list) bytes += touched_bytes(t);
  return bytes;
}

inline int64_t touched_bytes(const std::optional<Tensor>& t) { return t ? touched_bytes(*t) : 0; }

inline int64_t touched_bytes(const Iter& it) {
  int64_t bytes = 0;
  for (int i = 0; i < it.noperands(); ++i) {
    if (it.is_scalar(i)) continue;
    int64_t n = element_size(i < it.noutputs() ? it.output_dtype() : it.common_dtype());
    for (int d = 0; d < it.ndim(); ++d)
      if (it.stride(i, d) != 0) n *= it.size(d);
    bytes += it.numel() == 0 ? 0 : n;
  }
  return bytes;
}

/// An optimizer reads the gradient, and reads and writes the rest.
inline int64_t touched_bytes(const ParamList& list) {
  int64_t elements = 0;
  for (const ParamRef& p : list.items()) {
    int64_t arrays = 2 + (p.grad() ? 1 : 0);
    for (int k = 0; k < ParamRef::kMaxStates; ++k) arrays += p.state(k) ? 2 : 0;
    elements += arrays * p.numel();
  }
  return elements * element_size(list.dtype());
}

/// Numbers and settings.
template <class T>
int64_t touched_bytes(const T&) {
  return 0;
}

/// 2 m n k, for each matrix of a batch.
inline double matmul_flops(const Tensor& out, const Tensor& a) {
  return 2.0 * static_cast<double>(out.numel()) * static_cast<double>(a.size(-1));
}

/// Each output position of each output channel takes a product with that channel's weights; both
/// gradients take as many.
inline double conv_flops(const Tensor& out, const Tensor& weight) {
  const int64_t channels = weight.size(0);
  return channels == 0 ? 0
                       : 2.0 * static_cast<double>(out.numel()) *
                             static_cast<double>(weight.numel() / channels);
}

/// Products of (L, S) scores for each head of query: `of_keys` as deep as the keys are wide,
/// `of_values` as deep as the values. Half of the scores count if a position sees only what is
/// before it.
inline double attention_flops(const Tensor& query, const Tensor& key, const Tensor& value,
                              const AttentionSpec& spec, int of_keys, int of_values) {
  const double scores = static_cast<double>(query.size(0) * query.size(1) * query.size(2)) *
                        static_cast<double>(key.size(2)) * (spec.causal ? 0.5 : 1);
  return 2 * scores * static_cast<double>(of_keys * query.size(3) + of_values * value.size(3));
}

/// Whether two slots are one. Told by types: g++ compares addresses of inline variables at compile
/// time only without -fsanitize=undefined.
template <auto* slot>
struct SlotType {};
template <auto* a, auto* b>
constexpr bool kSameSlot = std::is_same_v<SlotType<a>, SlotType<b>>;

/// The floating-point operations that decide how long a kernel of these arguments takes; null where
/// the bytes do.
template <class... Args>
using FlopsOf = double (*)(const std::remove_cvref_t<Args>&...);

template <auto* slot, class... Args>
constexpr FlopsOf<Args...> flops_of() {
  if constexpr (kSameSlot<slot, &matmul_slot>)
    return [](const auto&... args) {
      const auto x = std::tie(args...);
      return matmul_flops(std::get<0>(x), std::get<1>(x));
    };
  else if constexpr (kSameSlot<slot, &conv_slot>)
    return [](const auto&... args) {
      const auto x = std::tie(args...);
      return conv_flops(std::get<0>(x), std::get<2>(x));
    };
  else if constexpr (kSameSlot<slot, &conv_input_grad_slot>)
    return [](const auto&... args) {
      const auto x = std::tie(args...);
      return conv_flops(std::get<1>(x), std::get<2>(x));
    };
  else if constexpr (kSameSlot<slot, &conv_weight_grad_slot>)
    return [](const auto&... args) {
      const auto x = std::tie(args...);
      return conv_flops(std::get<3>(x), std::get<0>(x));
    };
  else if constexpr (kSameSlot<slot, &attention_slot>)
    return [](const auto&... args) {
      const auto x = std::tie(args...);
      return attention_flops(std::get<2>(x), std::get<3>(x), std::get<4>(x), std::get<6>(x), 1, 1);
    };
  else if constexpr (kSameSlot<slot, &attention_backward_slot>)
    return [](const auto&... args) {
      const auto x = std::tie(args...);
      return attention_flops(std::get<4>(x), std::get<5>(x), std::get<6>(x), std::get<10>(x), 3, 2);
    };
  else
    return nullptr;
}

/// The dtype of the first tensor.
inline std::optional<ScalarType> dtype_of_argument(const Tensor& t) {
  return t.defined() ? std::optional(t.dtype()) : std::nullopt;
}
template <class T>
std::optional<ScalarType> dtype_of_argument(const T&) {
  return std::nullopt;
}

template <class... Args>
Work work_of(FlopsOf<Args...> flops, const std::remove_cvref_t<Args>&... args) {
  Work work;
  ((work.bytes += touched_bytes(args)), ...);
  work.flops = flops ? flops(args...) : 0;
  std::optional<ScalarType> dtype;
  ((dtype = dtype ? dtype : dtype_of_argument(args)), ...);
  work.dtype = dtype.value_or(kFloat);
  return work;
}

}  // namespace taeda::inline v0_2::sim
