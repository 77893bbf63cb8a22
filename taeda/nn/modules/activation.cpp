#include "taeda/nn/modules/activation.h"

#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

namespace {

std::string inplace_text(bool inplace, const char* separator = ", ") {
  return inplace ? std::string(separator) + "inplace=True" : "";
}

/// Numbers that Python's defaults give as integers: "20" rather than "20.0".
std::string plain_text(double value) {
  const std::string text = float_text(value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

std::string dim_text(int64_t dim) { return "dim=" + std::to_string(dim); }

}  // namespace

std::string ReLUImpl::extra_repr() const { return inplace_text(options.inplace(), ""); }
std::string ReLU6Impl::extra_repr() const { return inplace_text(options.inplace(), ""); }
std::string SELUImpl::extra_repr() const { return inplace_text(options.inplace(), ""); }
std::string LeakyReLUImpl::extra_repr() const {
  return "negative_slope=" + float_text(options.negative_slope()) + inplace_text(options.inplace());
}
std::string RReLUImpl::extra_repr() const {
  return "lower=" + float_text(options.lower()) + ", upper=" + float_text(options.upper()) +
         inplace_text(options.inplace());
}
std::string ELUImpl::extra_repr() const {
  return "alpha=" + float_text(options.alpha()) + inplace_text(options.inplace());
}
std::string CELUImpl::extra_repr() const {
  return "alpha=" + float_text(options.alpha()) + inplace_text(options.inplace());
}
std::string GELUImpl::extra_repr() const { return "approximate='" + options.approximate() + "'"; }
std::string HardtanhImpl::extra_repr() const {
  return "min_val=" + float_text(options.min_val()) + ", max_val=" + float_text(options.max_val()) +
         inplace_text(options.inplace());
}
std::string SoftplusImpl::extra_repr() const {
  return "beta=" + plain_text(options.beta()) + ", threshold=" + plain_text(options.threshold());
}
std::string GLUImpl::extra_repr() const { return dim_text(options.dim()); }
std::string SoftshrinkImpl::extra_repr() const { return float_text(options.lambda()); }
std::string HardshrinkImpl::extra_repr() const { return float_text(options.lambda()); }
std::string ThresholdImpl::extra_repr() const {
  return "threshold=" + plain_text(options.threshold()) + ", value=" + plain_text(options.value()) +
         inplace_text(options.inplace());
}
std::string SoftmaxImpl::extra_repr() const { return dim_text(options.dim()); }
std::string LogSoftmaxImpl::extra_repr() const { return dim_text(options.dim()); }
std::string SoftminImpl::extra_repr() const { return dim_text(options.dim()); }

Tensor Softmax2dImpl::forward(const Tensor& x) {
  TAEDA_CHECK(x.dim() == 3 || x.dim() == 4, "Softmax2d requires a 3D or 4D tensor as input");
  return x.softmax(-3);
}

void PReLUImpl::reset() {
  weight = register_parameter("weight", full({options.num_parameters()}, options.init()));
}
std::string PReLUImpl::extra_repr() const {
  return "num_parameters=" + std::to_string(options.num_parameters());
}

}  // namespace taeda::nn
