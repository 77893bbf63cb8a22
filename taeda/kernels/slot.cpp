#include "taeda/kernels/slot.h"

#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::detail {

void throw_other_device(const char* kernel, size_t argument, Device expected, Device found) {
  throw Error(concat(
      "Expected all tensors to be on the same device, but found at least two devices, ", expected,
      " and ", found, "! (when checking argument ", argument, " of kernel ", kernel, ")"));
}

void append_shape(std::string& out, const Tensor& t) {
  out += "[";
  if (t.defined())
    for (int64_t i = 0; i < t.dim(); ++i) out += (i ? ", " : "") + std::to_string(t.size(i));
  out += "], ";
}

/// The iterator has joined dimensions: what is left of the shape.
void append_shape(std::string& out, const Iter& it) {
  out += "[";
  for (int d = it.ndim(); d-- > 0;) out += std::to_string(it.size(d)) + (d ? ", " : "");
  out += "], ";
}

void append_shape(std::string& out, const std::optional<Tensor>& t) {
  append_shape(out, t ? *t : Tensor());
}

void append_shape(std::string& out, ArrayRef<Tensor> list) {
  for (const Tensor& t : list) append_shape(out, t);
}

std::string close_shapes(std::string shapes) {
  if (shapes.ends_with(", ")) shapes.resize(shapes.size() - 2);
  return "[" + shapes + "]";
}

}  // namespace taeda::detail
