// Activations as modules. Those that take `inplace` change their input.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/activation.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

namespace detail {
/// What a layer asks of its options.
template <class Options>
void check(const Options&) {}
/// Throws Error unless max_val is greater than min_val.
void check(const HardtanhOptions& options);

/// A module without parameters around one function. A first setting may be given without a name.
template <class OptionsType, class Derived>
class Activation : public Cloneable<Derived> {
 public:
  using Options = OptionsType;
  Activation() requires std::is_default_constructible_v<Options>
  = default;
  explicit Activation(Options o) : options(std::move(o)) { check(options); }
  template <class T>
  requires requires(T first) { Options{first}; }
  explicit Activation(T first) : options{std::move(first)} { check(options); }
  void reset() override { check(options); }
  void settings(Settings& out) const override;
  Options options;
};
struct NoOptions {};
}  // namespace detail

class ReLUImpl : public detail::Activation<ReLUOptions, ReLUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::relu(x, options); }
};
TAEDA_MODULE(ReLU);

class ReLU6Impl : public detail::Activation<ReLU6Options, ReLU6Impl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::relu6(x, options); }
};
TAEDA_MODULE(ReLU6);

class SELUImpl : public detail::Activation<SELUOptions, SELUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::selu(x, options); }
};
TAEDA_MODULE(SELU);

class LeakyReLUImpl : public detail::Activation<LeakyReLUOptions, LeakyReLUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::leaky_relu(x, options); }
};
TAEDA_MODULE(LeakyReLU);

class RReLUImpl : public detail::Activation<RReLUOptions, RReLUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) {
    return functional::rrelu(x, options.lower, options.upper, is_training(), options.inplace);
  }
};
TAEDA_MODULE(RReLU);

class ELUImpl : public detail::Activation<ELUOptions, ELUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::elu(x, options); }
};
TAEDA_MODULE(ELU);

class CELUImpl : public detail::Activation<CELUOptions, CELUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::celu(x, options); }
};
TAEDA_MODULE(CELU);

class GELUImpl : public detail::Activation<GELUOptions, GELUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::gelu(x, options); }
};
TAEDA_MODULE(GELU);

class HardtanhImpl : public detail::Activation<HardtanhOptions, HardtanhImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::hardtanh(x, options); }
};
TAEDA_MODULE(Hardtanh);

class SoftplusImpl : public detail::Activation<SoftplusOptions, SoftplusImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::softplus(x, options); }
};
TAEDA_MODULE(Softplus);

class GLUImpl : public detail::Activation<GLUOptions, GLUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::glu(x, options); }
};
TAEDA_MODULE(GLU);

class SoftshrinkImpl : public detail::Activation<SoftshrinkOptions, SoftshrinkImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::softshrink(x, options); }
};
TAEDA_MODULE(Softshrink);

class HardshrinkImpl : public detail::Activation<HardshrinkOptions, HardshrinkImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::hardshrink(x, options); }
};
TAEDA_MODULE(Hardshrink);

class ThresholdImpl : public detail::Activation<ThresholdOptions, ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value) : ThresholdImpl(Options{threshold, value}) {}
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::threshold(x, options); }
};
TAEDA_MODULE(Threshold);

class SigmoidImpl : public detail::Activation<detail::NoOptions, SigmoidImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::sigmoid(x); }
};
TAEDA_MODULE(Sigmoid);

class TanhImpl : public detail::Activation<detail::NoOptions, TanhImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::tanh(x); }
};
TAEDA_MODULE(Tanh);

class SoftsignImpl : public detail::Activation<detail::NoOptions, SoftsignImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::softsign(x); }
};
TAEDA_MODULE(Softsign);

class SiLUImpl : public detail::Activation<detail::NoOptions, SiLUImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::silu(x); }
};
TAEDA_MODULE(SiLU);

class MishImpl : public detail::Activation<detail::NoOptions, MishImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::mish(x); }
};
TAEDA_MODULE(Mish);

class HardswishImpl : public detail::Activation<detail::NoOptions, HardswishImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::hardswish(x); }
};
TAEDA_MODULE(Hardswish);

class HardsigmoidImpl : public detail::Activation<detail::NoOptions, HardsigmoidImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::hardsigmoid(x); }
};
TAEDA_MODULE(Hardsigmoid);

class TanhshrinkImpl : public detail::Activation<detail::NoOptions, TanhshrinkImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::tanhshrink(x); }
};
TAEDA_MODULE(Tanhshrink);

class LogSigmoidImpl : public detail::Activation<detail::NoOptions, LogSigmoidImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return functional::logsigmoid(x); }
};
TAEDA_MODULE(LogSigmoid);

class SoftmaxImpl : public detail::Activation<SoftmaxOptions, SoftmaxImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return x.softmax(options.dim); }
};
TAEDA_MODULE(Softmax);

/// Over the channels of [N, C, H, W] or [C, H, W].
class Softmax2dImpl : public detail::Activation<detail::NoOptions, Softmax2dImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x);
};
TAEDA_MODULE(Softmax2d);

class LogSoftmaxImpl : public detail::Activation<LogSoftmaxOptions, LogSoftmaxImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return x.log_softmax(options.dim); }
};
TAEDA_MODULE(LogSoftmax);

class SoftminImpl : public detail::Activation<SoftminOptions, SoftminImpl> {
 public:
  using Activation::Activation;
  Tensor forward(const Tensor& x) { return x.neg().softmax(options.dim); }
};
TAEDA_MODULE(Softmin);

/// max(0, x) + a min(0, x), whose slopes a are learned: `weight`, [1], or [C] for inputs [N, C,
/// ...] (He et al. 2015, arXiv:1502.01852). The result has the input's shape.
class PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  using Options = PReLUOptions;
  explicit PReLUImpl(Options o = {}) : options(std::move(o)) { reset(); }
  void reset() override;
  Tensor forward(const Tensor& x) { return functional::prelu(x, weight); }
  void settings(Settings& out) const override;
  Options options;
  Tensor weight;
};
TAEDA_MODULE(PReLU);

}  // namespace taeda::inline v0_2::nn
