// Distributions made of others: mapped, joined to vectors, mixed.
#pragma once

#include <concepts>
#include <memory>

#include "taeda/distributions/categorical.h"
#include "taeda/distributions/transforms.h"

namespace taeda::inline v0_2::distributions {

/// A distribution of any class, shared and never changed.
class AnyDistribution {
 public:
  template <class D>
  requires std::derived_from<D, Distribution> AnyDistribution(D distribution)
      : shared_(std::make_shared<const D>(std::move(distribution))) {}
  /// Throws ValueError for null.
  AnyDistribution(std::shared_ptr<const Distribution> distribution);
  const Distribution& operator*() const { return *shared_; }
  const Distribution* operator->() const { return shared_.get(); }

 private:
  std::shared_ptr<const Distribution> shared_;
};

/// The last `reinterpreted_batch_ndims` batch dimensions of `base` as dimensions of one event,
/// whose elements are independent.
class Independent : public DistributionOf<Independent> {
 public:
  Independent(AnyDistribution base, int64_t reinterpreted_batch_ndims, Validate validate_args = {});
  const Distribution& base() const { return *base_; }
  int64_t reinterpreted_batch_ndims() const { return dims_; }

  std::string str() const override;
  bool has_rsample() const override { return base_->has_rsample(); }
  Tensor entropy() const override;
  Tensor mean() const override { return base_->mean(); }
  Tensor mode() const override { return base_->mode(); }
  Tensor variance() const override { return base_->variance(); }
  Constraint support() const override { return base_->support().independent(dims_); }

 protected:
  void expand_batch(IntArrayRef batch_shape) override;
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;

 private:
  AnyDistribution base_;
  int64_t dims_;
};

/// f(x) of a random x of `base`, for one transform or several in turn.
/// Shapes are those that they give the base's; ValueError for a transform of more dimensions than
/// the base has.
class TransformedDistribution : public DistributionOf<TransformedDistribution> {
 public:
  TransformedDistribution(AnyDistribution base, TransformPtr transform,
                          Validate validate_args = {});
  TransformedDistribution(AnyDistribution base, std::vector<TransformPtr> transforms,
                          Validate validate_args = {});
  const Distribution& base() const { return *base_; }
  const Transform& transform() const { return *transform_; }

  std::string str() const override;
  bool has_rsample() const override { return base_->has_rsample(); }
  Constraint support() const override;

 protected:
  void expand_batch(IntArrayRef batch_shape) override;
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;

 private:
  /// Whether the transform falls instead of growing, for each element.
  Tensor falls() const;
  AnyDistribution base_;
  TransformPtr transform_;
};

/// Weights [..., n + 1] that add up to 1, of n normal numbers by stick breaking: `loc` and `scale`
/// [..., n] (numbers are one).
/// Draws have shape [*sample, ..., n + 1].
class LogisticNormal : public DistributionOf<LogisticNormal, TransformedDistribution> {
 public:
  LogisticNormal(Parameter loc, Parameter scale, Validate validate_args = {});
  const Tensor& loc() const;
  const Tensor& scale() const;
};

/// One of k distributions, chosen by a Categorical: the last batch dimension of `components` has
/// size k, that of `mixture` the others.
class MixtureSameFamily : public DistributionOf<MixtureSameFamily> {
 public:
  MixtureSameFamily(Categorical mixture, AnyDistribution components, Validate validate_args = {});
  const Categorical& mixture_distribution() const { return mixture_; }
  const Distribution& component_distribution() const { return *components_; }

  std::string str() const override;
  Tensor mean() const override;
  Tensor variance() const override;
  Constraint support() const override { return components_->support(); }

 protected:
  void expand_batch(IntArrayRef batch_shape) override;
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;

 private:
  /// The mixture's probabilities, with a dimension of size 1 for each of the event's.
  Tensor weights() const;
  Tensor with_components(const Tensor& value) const;
  Categorical mixture_;
  AnyDistribution components_;
};

}  // namespace taeda::inline v0_2::distributions
