#include "taeda/nn/modules/linear.h"

#include <cmath>

#include "taeda/nn/settings.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

void LinearImpl::reset() {
  weight = register_parameter("weight", empty({options.out_features, options.in_features}));
  bias = register_parameter("bias", options.bias ? empty({options.out_features}) : Tensor());
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const double bound =
      options.in_features > 0 ? 1 / std::sqrt(static_cast<double>(options.in_features)) : 0;
  init::uniform_(bias, -bound, bound);
}

void LinearImpl::settings(Settings& out) const {
  out.of(typeid(LinearImpl))("in_features", options.in_features)("out_features",
                                                                 options.out_features);
  out("bias", options.bias);
}

void BilinearImpl::reset() {
  TAEDA_CHECK_VALUE(options.in1_features > 0, "in1_features must be > 0, but got ",
                    options.in1_features);
  weight = register_parameter(
      "weight", empty({options.out_features, options.in1_features, options.in2_features}));
  bias = register_parameter("bias", options.bias ? empty({options.out_features}) : Tensor());
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

void BilinearImpl::settings(Settings& out) const {
  const auto& o = options;
  out.of(typeid(BilinearImpl))("in1_features", o.in1_features)("in2_features", o.in2_features);
  out("out_features", o.out_features)("bias", o.bias);
}

void FlattenImpl::settings(Settings& out) const {
  out.of(typeid(FlattenImpl))("start_dim", options.start_dim)("end_dim", options.end_dim);
}

void UnflattenImpl::settings(Settings& out) const {
  out.of(typeid(UnflattenImpl))("dim", options.dim);
  out("unflattened_size", Settings::Shape{options.unflattened_size});
}

}  // namespace taeda::inline v0_2::nn
