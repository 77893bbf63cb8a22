// Distributions of one of several outcomes.
#pragma once

#include "taeda/distributions/outcomes.h"

namespace taeda::inline v0_2::distributions {

/// One of the indices 0 ... k - 1 (int64), with weights or logits [..., k].
/// Draws have shape [*sample, ...]; an empty k or weights below 0 are a ValueError.
class Categorical : public DistributionOf<Categorical, SeveralOutcomes> {
 public:
  Categorical(Chances probs, Validate validate_args = {});

  Tensor entropy() const override;
  /// NaN, as indices have no mean; neither have they a variance.
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override {
    return constraints::integer_interval(0, num_outcomes() - 1);
  }
  bool has_enumerate_support() const override { return true; }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor all_values() const override;
};

/// Vectors [k] with a 1 at one of k places and else 0.
/// Draws have shape [*sample, ..., k].
class OneHotCategorical : public DistributionOf<OneHotCategorical, SeveralOutcomes> {
 public:
  OneHotCategorical(Chances probs, Validate validate_args = {});

  Tensor entropy() const override;
  Tensor mean() const override { return probs(); }
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::one_hot(); }
  bool has_enumerate_support() const override { return true; }

 protected:
  OneHotCategorical(std::string name, Chances probs, Validate validate_args);
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor all_values() const override;
};

/// OneHotCategorical with the gradient of its mean (Bengio et al., "Estimating or Propagating
/// Gradients Through Stochastic Neurons for Conditional Computation", 2013).
class OneHotCategoricalStraightThrough
    : public DistributionOf<OneHotCategoricalStraightThrough, OneHotCategorical> {
 public:
  OneHotCategoricalStraightThrough(Chances probs, Validate validate_args = {});
  bool has_rsample() const override { return true; }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
};

/// How often each of k outcomes comes in `total_count` draws: vectors [k].
/// Draws have shape [*sample, ..., k]; a negative count is a ValueError.
class Multinomial : public DistributionOf<Multinomial, SeveralOutcomes> {
 public:
  Multinomial(int64_t total_count, Chances probs, Validate validate_args = {});
  int64_t total_count() const { return total_count_; }

  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::multinomial(total_count_); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;

 private:
  int64_t total_count_;
};

/// Weights [k] that tend to a one-hot vector as `temperature`, one number, goes to 0,
/// differentiable in its probabilities (Maddison et al., "The Concrete Distribution", 2017; Jang et
/// al., "Categorical Reparameterization with Gumbel-Softmax", 2017).
class RelaxedOneHotCategorical : public DistributionOf<RelaxedOneHotCategorical, SeveralOutcomes> {
 public:
  RelaxedOneHotCategorical(Parameter temperature, Chances probs, Validate validate_args = {});
  const Tensor& temperature() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Constraint support() const override { return constraints::simplex(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

}  // namespace taeda::inline v0_2::distributions
