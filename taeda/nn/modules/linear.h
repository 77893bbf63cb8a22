// Linear maps and changes of shape.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/linear.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

/// x W^T + b. W [out, in] and b start uniform in +-1 / sqrt(in).
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features, bool with_bias = true)
      : LinearImpl(LinearOptions(in_features, out_features).bias(with_bias)) {}
  explicit LinearImpl(LinearOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input) { return functional::linear(input, weight, bias); }

  LinearOptions options;
  Tensor weight, bias;
};
TAEDA_MODULE(Linear);

/// y_k = x1^T W_k x2 + b_k.
class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features,
               bool with_bias = true)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features).bias(with_bias)) {}
  explicit BilinearImpl(BilinearOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  std::string extra_repr() const override;
  Tensor forward(const Tensor& x1, const Tensor& x2) {
    return functional::bilinear(x1, x2, weight, bias);
  }

  BilinearOptions options;
  Tensor weight, bias;
};
TAEDA_MODULE(Bilinear);

/// Returns its input.
class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input) { return input; }
};
TAEDA_MODULE(Identity);

/// Joins dimensions start_dim to end_dim (1 to the last).
class FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(int64_t start_dim, int64_t end_dim = -1)
      : FlattenImpl(FlattenOptions(start_dim, end_dim)) {}
  explicit FlattenImpl(FlattenOptions o = {}) : options(std::move(o)) {}
  void reset() override {}
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input) {
    return input.flatten(options.start_dim(), options.end_dim());
  }

  FlattenOptions options;
};
TAEDA_MODULE(Flatten);

/// Cuts a dimension into several.
class UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  explicit UnflattenImpl(UnflattenOptions o) : options(std::move(o)) {}
  void reset() override {}
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input) { return input.unflatten(options.dim(), options.sizes()); }

  UnflattenOptions options;
};
TAEDA_MODULE(Unflatten);

}  // namespace taeda::nn
