#include "taeda/nn/modules/linear.h"

#include <cmath>

#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

void LinearImpl::reset() {
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = register_parameter("bias", options.bias() ? empty({options.out_features()}) : Tensor());
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const double bound =
      options.in_features() > 0 ? 1 / std::sqrt(static_cast<double>(options.in_features())) : 0;
  init::uniform_(bias, -bound, bound);
}

std::string LinearImpl::extra_repr() const {
  return taeda::detail::concat("in_features=", options.in_features(),
                               ", out_features=", options.out_features(),
                               ", bias=", bool_text(options.bias()));
}

void BilinearImpl::reset() {
  TAEDA_CHECK_VALUE(options.in1_features() > 0, "in1_features must be > 0, but got ",
                    options.in1_features());
  weight = register_parameter(
      "weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  bias = register_parameter("bias", options.bias() ? empty({options.out_features()}) : Tensor());
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

std::string BilinearImpl::extra_repr() const {
  return taeda::detail::concat(
      "in1_features=", options.in1_features(), ", in2_features=", options.in2_features(),
      ", out_features=", options.out_features(), ", bias=", bool_text(options.bias()));
}

std::string FlattenImpl::extra_repr() const {
  return taeda::detail::concat("start_dim=", options.start_dim(), ", end_dim=", options.end_dim());
}

std::string UnflattenImpl::extra_repr() const {
  return taeda::detail::concat("dim=", options.dim(),
                               ", unflattened_size=", tuple_text(options.sizes()));
}

}  // namespace taeda::nn
