// Linear maps and changes of shape.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/linear.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

/// x W^T + b. W [out, in] and b start uniform in +-1 / sqrt(in).
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  using Options = LinearOptions;
  LinearImpl(int64_t in_features, int64_t out_features, bool with_bias = true)
      : LinearImpl(Options{in_features, out_features, with_bias}) {}
  explicit LinearImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) { return functional::linear(input, weight, bias); }

  Options options;
  Tensor weight, bias;
};
TAEDA_MODULE(Linear);

/// y_k = x1^T W_k x2 + b_k: inputs [*, in1_features] and [*, in2_features] give [*, out_features];
/// weight [out, in1, in2], bias [out]. Throws ValueError for in1_features below 1.
class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  using Options = BilinearOptions;
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features,
               bool with_bias = true)
      : BilinearImpl(Options{in1_features, in2_features, out_features, with_bias}) {}
  explicit BilinearImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& x1, const Tensor& x2) {
    return functional::bilinear(x1, x2, weight, bias);
  }

  Options options;
  Tensor weight, bias;
};
TAEDA_MODULE(Bilinear);

/// Returns its input; arguments of the constructor are ignored.
class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input) { return input; }
};
TAEDA_MODULE(Identity);

/// Joins dimensions start_dim to end_dim (1 to the last).
class FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  using Options = FlattenOptions;
  explicit FlattenImpl(int64_t start_dim, int64_t end_dim = -1)
      : FlattenImpl(Options{start_dim, end_dim}) {}
  explicit FlattenImpl(Options o = {}) : options(std::move(o)) {}
  void reset() override {}
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) { return input.flatten(options.start_dim, options.end_dim); }

  Options options;
};
TAEDA_MODULE(Flatten);

/// Cuts a dimension into several.
class UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  using Options = UnflattenOptions;
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
      : UnflattenImpl(Options{dim, std::move(sizes)}) {}
  explicit UnflattenImpl(Options o) : options(std::move(o)) {}
  void reset() override {}
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) {
    return input.unflatten(options.dim, options.unflattened_size);
  }

  Options options;
};
TAEDA_MODULE(Unflatten);

}  // namespace taeda::inline v0_2::nn
