// Dropout.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/dropout.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

/// Throws ValueError unless p is in [0, 1].
template <class Derived>
class DropoutImplBase : public Cloneable<Derived> {
 public:
  using Options = DropoutOptions;
  explicit DropoutImplBase(double p = 0.5) : DropoutImplBase(Options{p}) {}
  explicit DropoutImplBase(Options o) : options(std::move(o)) { DropoutImplBase::reset(); }
  void reset() override {
    TAEDA_CHECK_VALUE(options.p >= 0 && options.p <= 1,
                      "dropout probability has to be between 0 and 1, but got ", options.p);
  }
  void settings(Settings& out) const override;
  Options options;
};

class DropoutImpl : public DropoutImplBase<DropoutImpl> {
 public:
  using DropoutImplBase::DropoutImplBase;
  Tensor forward(const Tensor& x) {
    return functional::dropout(x, options.p, is_training(), options.inplace);
  }
};
TAEDA_MODULE(Dropout);

class Dropout2dImpl : public DropoutImplBase<Dropout2dImpl> {
 public:
  using DropoutImplBase::DropoutImplBase;
  Tensor forward(const Tensor& x) {
    return functional::dropout2d(x, options.p, is_training(), options.inplace);
  }
};
TAEDA_MODULE(Dropout2d);

class Dropout3dImpl : public DropoutImplBase<Dropout3dImpl> {
 public:
  using DropoutImplBase::DropoutImplBase;
  Tensor forward(const Tensor& x) {
    return functional::dropout3d(x, options.p, is_training(), options.inplace);
  }
};
TAEDA_MODULE(Dropout3d);

class AlphaDropoutImpl : public DropoutImplBase<AlphaDropoutImpl> {
 public:
  using DropoutImplBase::DropoutImplBase;
  Tensor forward(const Tensor& x) {
    return functional::alpha_dropout(x, options.p, is_training(), options.inplace);
  }
};
TAEDA_MODULE(AlphaDropout);

class FeatureAlphaDropoutImpl : public DropoutImplBase<FeatureAlphaDropoutImpl> {
 public:
  using DropoutImplBase::DropoutImplBase;
  Tensor forward(const Tensor& x) {
    return functional::feature_alpha_dropout(x, options.p, is_training(), options.inplace);
  }
};
TAEDA_MODULE(FeatureAlphaDropout);

}  // namespace taeda::inline v0_2::nn
