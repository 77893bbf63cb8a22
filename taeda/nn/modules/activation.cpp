#include "taeda/nn/modules/activation.h"

#include "taeda/nn/settings.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

namespace {

// What each kind of options shows.
// ---------------------------------------------------------------------------

void show(Settings&, const detail::NoOptions&) {}
void show(Settings& out, const ReLUOptions& o) { out.unless(false, "inplace", o.inplace()); }
void show(Settings& out, const LeakyReLUOptions& o) {
  out("negative_slope", o.negative_slope).unless(false, "inplace", o.inplace());
}
void show(Settings& out, const ELUOptions& o) {
  out("alpha", o.alpha).unless(false, "inplace", o.inplace());
}
void show(Settings& out, const GELUOptions& o) { out.python("approximate", o.approximate); }
void show(Settings& out, const HardtanhOptions& o) {
  out("min_val", o.min_val)("max_val", o.max_val).unless(false, "inplace", o.inplace());
}
void show(Settings& out, const SoftplusOptions& o) {
  out.number("beta", o.beta).number("threshold", o.threshold);
}
void show(Settings& out, const SoftmaxOptions& o) { out("dim", o.dim); }
void show(Settings& out, const RReLUOptions& o) {
  out("lower", o.lower)("upper", o.upper).unless(false, "inplace", o.inplace());
}
void show(Settings& out, const GLUOptions& o) { out("dim", o.dim); }
void show(Settings& out, const ThresholdOptions& o) {
  out.number("threshold", o.threshold).number("value", o.value);
  out.unless(false, "inplace", o.inplace());
}
void show(Settings& out, const ShrinkOptions& o) { out.value(o.lambda); }

}  // namespace

void detail::check(const HardtanhOptions& options) {
  TAEDA_CHECK(options.max_val > options.min_val, "max_val (", options.max_val(),
              ") must be greater than min_val (", options.min_val(), ")");
}

template <class OptionsType, class Derived>
void detail::Activation<OptionsType, Derived>::settings(Settings& out) const {
  show(out.of(typeid(Derived)), options);
}

#define TAEDA_ACTIVATION(Options, Name) template class detail::Activation<Options, Name##Impl>
TAEDA_ACTIVATION(ReLUOptions, ReLU);
TAEDA_ACTIVATION(ReLU6Options, ReLU6);
TAEDA_ACTIVATION(SELUOptions, SELU);
TAEDA_ACTIVATION(LeakyReLUOptions, LeakyReLU);
TAEDA_ACTIVATION(RReLUOptions, RReLU);
TAEDA_ACTIVATION(ELUOptions, ELU);
TAEDA_ACTIVATION(CELUOptions, CELU);
TAEDA_ACTIVATION(GELUOptions, GELU);
TAEDA_ACTIVATION(HardtanhOptions, Hardtanh);
TAEDA_ACTIVATION(SoftplusOptions, Softplus);
TAEDA_ACTIVATION(GLUOptions, GLU);
TAEDA_ACTIVATION(SoftshrinkOptions, Softshrink);
TAEDA_ACTIVATION(HardshrinkOptions, Hardshrink);
TAEDA_ACTIVATION(ThresholdOptions, Threshold);
TAEDA_ACTIVATION(SoftmaxOptions, Softmax);
TAEDA_ACTIVATION(LogSoftmaxOptions, LogSoftmax);
TAEDA_ACTIVATION(SoftminOptions, Softmin);
TAEDA_ACTIVATION(detail::NoOptions, Sigmoid);
TAEDA_ACTIVATION(detail::NoOptions, Tanh);
TAEDA_ACTIVATION(detail::NoOptions, Softsign);
TAEDA_ACTIVATION(detail::NoOptions, SiLU);
TAEDA_ACTIVATION(detail::NoOptions, Mish);
TAEDA_ACTIVATION(detail::NoOptions, Hardswish);
TAEDA_ACTIVATION(detail::NoOptions, Hardsigmoid);
TAEDA_ACTIVATION(detail::NoOptions, Tanhshrink);
TAEDA_ACTIVATION(detail::NoOptions, LogSigmoid);
TAEDA_ACTIVATION(detail::NoOptions, Softmax2d);
#undef TAEDA_ACTIVATION

Tensor Softmax2dImpl::forward(const Tensor& x) {
  TAEDA_CHECK(x.dim() == 3 || x.dim() == 4, "Softmax2d requires a 3D or 4D tensor as input");
  return x.softmax(-3);
}

void PReLUImpl::reset() {
  weight = register_parameter("weight", full({options.num_parameters()}, options.init()));
}

void PReLUImpl::settings(Settings& out) const {
  out.of(typeid(PReLUImpl))("num_parameters", options.num_parameters);
}

}  // namespace taeda::inline v0_2::nn
