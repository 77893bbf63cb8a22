#include "taeda/ops/write_out.h"

#include <string_view>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/iter.h"
#include "taeda/tensor/overlap.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

namespace {

/// Throws Error, in PyTorch's words, if `out` shares more memory with `in` than the rule allows.
void check_memory(const detail::OutRule& rule, const Tensor& out, const Tensor& in) {
  using Memory = detail::OutRule::Memory;
  if (rule.memory == Memory::Any || !in.defined() || !in.is_strided() || !out.is_strided()) return;
  if (rule.memory == Memory::Whole)
    check_partial_overlap(out, in);
  else
    check_no_overlap(out, {&in});
}

/// What PyTorch says where `out` has another dtype than the result; some operations have words of
/// their own.
std::string other_dtype(std::string_view name, ScalarType out, ScalarType result) {
  using detail::concat;
  if (name == "lerp") return concat("Found dtype ", out, " but expected ", result);
  if (name == "multi_dot")
    return concat("multi_dot(): expected out tensor to have dtype ", detail::type_name(result),
                  " but got ", detail::type_name(out));
  if (name == "tensordot")
    return concat("tensordot: Expected the output tensor to have dtype ", result,
                  ", but got an output tensor with dtype ", out);
  if (name == "ormqr")
    return concat(
        "torch.ormqr: Expected input and result to have the same dtype, but input has "
        "dtype",
        result, " and result has dtype ", out);
  if (name == "make_complex" || name == "polar")
    return concat("Expected object of scalar type ", result, " but got scalar type ", out,
                  " for argument 'out'");
  return concat("Expected out tensor to have dtype ", detail::type_name(result), ", but got ",
                detail::type_name(out), " instead");
}

/// Throws Error, in PyTorch's words, if `out` has a dtype that the rule does not take.
void check_dtype(const detail::OutRule& rule, ScalarType out, ScalarType result) {
  using Dtype = detail::OutRule::Dtype;
  TAEDA_CHECK(rule.dtype != Dtype::Same || out == result, other_dtype(rule.name, out, result));
  TAEDA_CHECK(rule.dtype != Dtype::Truth || out == kBool || out == kByte, rule.name,
              " only supports bool tensor for result, got: ", to_string(out));
  TAEDA_CHECK(rule.dtype != Dtype::Floating || is_floating_point(out), rule.name,
              " expects a floating point output tensor, but got ", to_string(out));
  // What joins tensors is made of `cat`.
  const bool joins = rule.name == std::string_view("cat") ||
                     std::string_view(rule.name).starts_with("concat") ||
                     std::string_view(rule.name).ends_with("stack");
  TAEDA_CHECK_TYPE(!joins || can_cast(result, out),
                   "torch.cat(): input types can't be cast to the desired output type ",
                   to_string(out));
  TAEDA_CHECK(can_cast(result, out), "result type ", to_string(result),
              " can't be cast to the desired output type ", to_string(out));
}

}  // namespace

void detail::check_out(const OutRule& rule, std::initializer_list<TensorList> tensors) {
  const TensorList& outs = *tensors.begin();
  for (const TensorList& list : tensors) {
    const bool first = &list == tensors.begin();
    for (const Tensor& t : list) {
      TAEDA_CHECK(!first || t.defined(), rule.name,
                  "(): functions with out=... arguments expect a defined tensor");
      TAEDA_CHECK(!GradMode::is_enabled() || !t.defined() || !t.requires_grad(), rule.name,
                  "(): functions with out=... arguments don't support automatic differentiation, "
                  "but one of the arguments requires grad.");
      if (first && t.is_strided()) check_no_internal_overlap(t);
      for (size_t i = 0; !first && i < outs.size(); ++i) check_memory(rule, outs[i], t);
    }
  }
}

namespace {

/// `out` has elements that it loses.
void warn_of_resize(const Tensor& out, IntArrayRef size) {
  TAEDA_WARN("An output with one or more elements was resized since it had shape ", out.sizes(),
             ", which does not match the required output shape ", size,
             ". This behavior is deprecated, and in a future PyTorch release outputs will not be "
             "resized unless they have zero elements. You can explicitly reuse an out tensor t by "
             "resizing it, inplace, to zero elements with t.resize_(0).");
}

}  // namespace

Tensor detail::in_shape_of(const char* name, const Tensor& out, const Tensor& result) {
  const bool fits = out.numel() == result.numel();
  // How many numbers a range has may be a matter of rounding.
  if (!fits && out.numel() > 0 && std::string_view(name) == "arange")
    TAEDA_WARN("The number of elements in the out tensor of shape ", out.sizes(), " is ",
               out.numel(), " which does not match the computed number of elements ",
               result.numel(),
               ". Note that this may occur as a result of rounding error. The out tensor will be "
               "resized to a tensor of shape (",
               result.numel(), ",).");
  if (!fits || out.sizes() == result.sizes()) return result;
  return result.view(out.sizes());
}

void detail::write_out(const OutRule& rule, Tensor& out, const Tensor& result) {
  TAEDA_CHECK(out.device() == result.device(), "Expected out tensor to have device ",
              result.device().str(), ", but got ", out.device().str(), " instead");
  check_dtype(rule, out.dtype(), result.dtype());
  // The result is a tensor of its own, so a tensor of other sizes takes its memory over.
  if (out.sizes() != result.sizes()) {
    if (out.numel() > 0 && !rule.silent) warn_of_resize(out, result.sizes());
    const Tensor fresh = result.dtype() == out.dtype() ? result.clone() : result.to(out.dtype());
    out.set_data(fresh);
    autograd::bump_version(out);
    return;
  }
  out.copy_(result);
}

}  // namespace taeda::inline v0_2
