#include "taeda/ops/write_out.h"

#include <string_view>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

void detail::check_out(const char* name, std::initializer_list<TensorList> tensors) {
  bool first = true;
  for (const TensorList& list : tensors) {
    for (const Tensor& t : list) {
      TAEDA_CHECK(!first || t.defined(), name,
                  "(): functions with out=... arguments expect a defined tensor");
      TAEDA_CHECK(!GradMode::is_enabled() || !t.defined() || !t.requires_grad(), name,
                  "(): functions with out=... arguments don't support automatic differentiation, "
                  "but one of the arguments requires grad.");
    }
    first = false;
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

void detail::write_out(Tensor& out, const Tensor& result) { write_out(out, result, false); }

void detail::write_out(Tensor& out, const Tensor& result, bool silently) {
  TAEDA_CHECK(out.device() == result.device(), "Expected out tensor to have device ",
              result.device().str(), ", but got ", out.device().str(), " instead");
  TAEDA_CHECK(can_cast(result.dtype(), out.dtype()), "result type ", to_string(result.dtype()),
              " can't be cast to the desired output type ", to_string(out.dtype()));
  // The result is a tensor of its own, so a tensor of other sizes takes its memory over.
  if (out.sizes() != result.sizes()) {
    if (out.numel() > 0 && !silently) warn_of_resize(out, result.sizes());
    const Tensor fresh = result.dtype() == out.dtype() ? result.clone() : result.to(out.dtype());
    out.set_data(fresh);
    autograd::bump_version(out);
    return;
  }
  out.copy_(result);
}

}  // namespace taeda
