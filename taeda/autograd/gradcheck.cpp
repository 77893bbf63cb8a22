#include "taeda/autograd/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "taeda/autograd/engine.h"
#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::autograd {

namespace {

/// A row-major matrix: one row per input element, one column per output element.
struct Jacobian {
  int64_t rows, columns;
  std::vector<double> values;
  Jacobian(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  double& at(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }

  std::string str() {
    std::ostringstream out;
    for (int64_t r = 0; r < rows; ++r) {
      out << (r ? "\n [" : "[[");
      for (int64_t c = 0; c < columns; ++c) out << (c ? ", " : "") << at(r, c);
      out << "]";
    }
    out << "]";
    return out.str();
  }
};

/// Real numbers in a tensor: a complex element counts as two, its real and its imaginary part. Then
/// a complex gradient, dL/dRe + i dL/dIm, is the gradient of these numbers.
int64_t number_count(const Tensor& t) { return t.is_complex() ? 2 * t.numel() : t.numel(); }

std::vector<double> host_values(const Tensor& t) {
  NoGradGuard guard;
  const ScalarType dtype = t.is_complex() ? kComplexDouble : kDouble;
  const Tensor host = t.detach().to_dense().to(kCPU, dtype).contiguous();
  const auto* p = static_cast<const double*>(host.data_ptr());
  return {p, p + number_count(host)};
}

/// A tensor like `model` (device, layout, requires_grad) with other values.
Tensor with_values(const Tensor& model, const std::vector<double>& values) {
  NoGradGuard guard;
  const ScalarType dtype = model.is_complex() ? kComplexDouble : kDouble;
  const Tensor host = make_tensor(model.sizes(), dtype, Device(kCPU));
  if (!values.empty()) std::memcpy(host.data_ptr(), values.data(), values.size() * sizeof(double));
  if (!model.is_strided()) return host.to(model.device()).sparse_mask(model.detach());
  Tensor out = model.detach().clone();
  out.copy_(host);
  return out;
}

void check_function(const GradcheckFn& fn) {
  TAEDA_CHECK_VALUE(fn, "gradcheck: expected a function, but got an empty one");
}

std::vector<Tensor> checked_outputs(const GradcheckFn& fn, const std::vector<Tensor>& inputs) {
  check_function(fn);
  std::vector<Tensor> out;
  for (const Tensor& t : fn(inputs))
    if (t.defined() && is_differentiable(t.dtype())) out.push_back(t);
  return out;
}

/// d outputs[o] / d inputs[i] for all o, by central differences.
std::vector<Jacobian> numerical(const GradcheckFn& fn, const std::vector<Tensor>& inputs, size_t i,
                                const std::vector<Tensor>& outputs, double eps) {
  std::vector<Jacobian> out;
  for (const Tensor& t : outputs) out.emplace_back(number_count(inputs[i]), number_count(t));
  std::vector<Tensor> moved = inputs;
  std::vector<double> values = host_values(inputs[i]);
  const auto evaluate = [&](double v, size_t r) {
    const double original = values[r];
    values[r] = v;
    moved[i] = with_values(inputs[i], values).requires_grad_(true);
    values[r] = original;
    std::vector<std::vector<double>> results;
    for (const Tensor& t : checked_outputs(fn, moved)) results.push_back(host_values(t));
    return results;
  };
  for (size_t r = 0; r < values.size(); ++r) {
    const auto plus = evaluate(values[r] + eps, r), minus = evaluate(values[r] - eps, r);
    for (size_t o = 0; o < out.size(); ++o)
      for (int64_t c = 0; c < out[o].columns; ++c)
        out[o].at(static_cast<int64_t>(r), c) =
            (plus[o][static_cast<size_t>(c)] - minus[o][static_cast<size_t>(c)]) / (2 * eps);
  }
  return out;
}

/// d output / d inputs[i], one backward pass per output element.
Jacobian analytical(const Tensor& output, const Tensor& input) {
  Jacobian out(number_count(input), number_count(output));
  std::vector<double> weights(static_cast<size_t>(out.columns), 0.0);
  for (int64_t c = 0; c < out.columns; ++c) {
    weights[static_cast<size_t>(c)] = 1;
    const Tensor g = grad({output}, {input}, {with_values(output, weights)}, true, false, true)[0];
    weights[static_cast<size_t>(c)] = 0;
    if (!g.defined()) continue;
    TAEDA_CHECK(g.sizes() == input.sizes(), "gradcheck: the gradient has shape ", g.sizes(),
                ", the input ", input.sizes());
    const std::vector<double> column = host_values(g);
    for (int64_t r = 0; r < out.rows; ++r) out.at(r, c) = column[static_cast<size_t>(r)];
  }
  return out;
}

bool close(const Jacobian& a, const Jacobian& n, const GradcheckOptions& o) {
  for (size_t k = 0; k < a.values.size(); ++k) {
    const double x = a.values[k], y = n.values[k];
    if (!(std::fabs(x - y) <= o.atol + o.rtol * std::fabs(y))) return false;
  }
  return true;
}

bool wants_difference(const Tensor& t) { return t.defined() && t.requires_grad(); }

void check_precision(const std::vector<Tensor>& inputs) {
  for (const Tensor& t : inputs)
    TAEDA_CHECK_VALUE(
        !wants_difference(t) || t.dtype() == kDouble || t.dtype() == kComplexDouble,
        "gradcheck expects float64 or complex128 inputs, got ", to_string(t.dtype()));
}

}  // namespace

std::string detail::gradient_mismatch(const GradcheckFn& fn, const std::vector<Tensor>& inputs,
                                      const GradcheckOptions& options) {
  TAEDA_CHECK_VALUE(
      std::any_of(inputs.begin(), inputs.end(), wants_difference),
      "gradcheck expects at least one input tensor to require gradient, but none of the them have "
      "requires_grad=true.");
  AutoGradMode grad_on(true);
  const std::vector<Tensor> outputs = checked_outputs(fn, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!wants_difference(inputs[i])) continue;
    std::vector<Jacobian> n = numerical(fn, inputs, i, outputs, options.eps);
    for (size_t o = 0; o < outputs.size(); ++o) {
      Jacobian a(number_count(inputs[i]), number_count(outputs[o]));
      if (outputs[o].requires_grad()) a = analytical(outputs[o], inputs[i]);
      if (!close(a, n[o], options))
        return taeda::detail::concat("Jacobian mismatch for output ", o, " with respect to input ",
                                     i, ",\nnumerical:", n[o].str(), "\nanalytical:", a.str());
    }
  }
  return {};
}

bool gradcheck(const GradcheckFn& fn, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options) {
  check_precision(inputs);
  const std::string mismatch = detail::gradient_mismatch(fn, inputs, options);
  TAEDA_CHECK(mismatch.empty(), mismatch);
  return true;
}

std::string detail::second_gradient_mismatch(const GradcheckFn& fn,
                                             const std::vector<Tensor>& inputs,
                                             const std::vector<Tensor>& given,
                                             const GradcheckOptions& options) {
  AutoGradMode grad_on(true);
  std::vector<Tensor> all = inputs;
  const std::vector<Tensor> outputs = checked_outputs(fn, inputs);
  for (size_t o = 0; o < outputs.size(); ++o) {
    Tensor weight = given.empty() ? Tensor() : given[o];
    if (!weight.defined()) {
      std::vector<double> values(static_cast<size_t>(number_count(outputs[o])));
      for (size_t k = 0; k < values.size(); ++k)
        values[k] = std::sin(1.0 + 0.7 * static_cast<double>(k + o));
      weight = with_values(outputs[o], values);
    }
    all.push_back(weight.detach().requires_grad_(true));
  }
  const size_t n = inputs.size();
  const GradcheckFn gradient = [&fn, n](const std::vector<Tensor>& args) {
    const std::vector<Tensor> in(args.begin(), args.begin() + static_cast<ptrdiff_t>(n));
    std::vector<Tensor> outs, weights, wanted;
    const std::vector<Tensor> results = checked_outputs(fn, in);
    for (size_t o = 0; o < results.size(); ++o)
      if (results[o].requires_grad()) outs.push_back(results[o]), weights.push_back(args[n + o]);
    for (const Tensor& t : in)
      if (t.defined() && t.requires_grad()) wanted.push_back(t);
    return grad(outs, wanted, weights, true, true, true);
  };
  return gradient_mismatch(gradient, all, options);
}

bool gradgradcheck(const GradcheckFn& fn, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& grad_outputs, const GradcheckOptions& options) {
  check_function(fn);
  check_precision(inputs);
  const std::string mismatch =
      detail::second_gradient_mismatch(fn, inputs, grad_outputs, options);
  TAEDA_CHECK(mismatch.empty(), mismatch);
  return true;
}

}  // namespace taeda::inline v0_2::autograd
