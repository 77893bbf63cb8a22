#include "taeda/ops/elementwise/elementwise.h"

namespace taeda::inline v0_2 {

Tensor detail::gradient_by(GradientFormula gradient, bool has_complex_form, const Tensor& g,
                           const Tensor& t) {
  if (has_complex_form && t.is_complex()) return gradient(g.conj(), t).conj();
  return gradient(g, t);
}

Tensor detail::differentiable(const char* node, const PointwiseCall& call, const Tensor& x,
                              Reads reads, GradientFormula gradient) {
  if (!x.is_strided()) [[unlikely]]
    return on_values_if_zero(x, [&](const Tensor& values) {
      return differentiable(node, call, values, reads, gradient);
    });
  Tensor y;
  run_pointwise(call, y, {Operand(x)});
  if (!wants_grad(x)) return y;
  if (reads == Reads::Nothing) {
    record(node, y, {x}, [](const Tensor& g) { return detail::zeros_like(g); });
    return y;
  }
  const bool has_complex_form = call.make_complex != nullptr;
  record(
      node, y, {x},
      [gradient, has_complex_form, saved = reads == Reads::Input ? save_tensor(x) : save_output(y)](
          const Tensor& g) { return gradient_by(gradient, has_complex_form, g, saved.unpack()); });
  return y;
}

}  // namespace taeda::inline v0_2
