// The base of all distributions (torch.distributions.Distribution): shapes, checks and what is
// asked of one.
#pragma once

#include <memory>
#include <string>
#include <typeindex>
#include <vector>

#include "taeda/base/small_vector.h"
#include "taeda/device/generator.h"
#include "taeda/distributions/constraints.h"

namespace taeda::inline v0_2::distributions {

/// A family of random values. Parameters broadcast to `batch_shape()`, whose elements are
/// distributions of their own; one draw of one of them has `event_shape()`. A value has a shape
/// that broadcasts with batch_shape + event_shape; what is asked of it comes without the event
/// dimensions.
///
/// With `validate_args`, the default, parameters and values outside of their constraints throw
/// ValueError.
class Distribution {
 public:
  virtual ~Distribution() = default;

  /// The class's name in PyTorch, "Normal", and the shapes of the batch and of an event, empty for
  /// numbers.
  const std::string& name() const { return name_; }
  IntArrayRef batch_shape() const { return batch_shape_; }
  IntArrayRef event_shape() const { return event_shape_; }
  /// The shape of drawn values: sample_shape + batch_shape + event_shape.
  DimVector extended_shape(IntArrayRef sample_shape = {}) const;
  /// The distribution as PyTorch prints it: `Normal(loc: 0, scale: 1)`, sizes instead of tensors
  /// with several elements.
  virtual std::string str() const;

  /// Draws values of the shape extended_shape(sample_shape), without gradient.
  Tensor sample(IntArrayRef sample_shape = {}, Generator* generator = nullptr) const;
  /// Draws values that are differentiable in the parameters. Throws NotImplementedError without
  /// has_rsample().
  Tensor rsample(IntArrayRef sample_shape = {}, Generator* generator = nullptr) const;
  virtual bool has_rsample() const { return false; }

  /// The logarithm of the density (of discrete values: of the probability) at `value`, whose shape
  /// broadcasts with batch_shape + event_shape; throws ValueError for values outside of the
  /// support.
  Tensor log_prob(const Tensor& value) const;
  /// The probability of values up to `value`, whose shape broadcasts with batch_shape; throws
  /// NotImplementedError where there is none.
  Tensor cdf(const Tensor& value) const;
  /// The value whose cdf is `probability`, between 0 and 1; throws NotImplementedError where there
  /// is none.
  Tensor icdf(const Tensor& probability) const { return quantile(probability); }
  /// The entropy in nats, of batch_shape; throws NotImplementedError where there is none.
  virtual Tensor entropy() const;
  /// exp(entropy()), of the shape batch_shape.
  Tensor perplexity() const;

  /// Moments and mode, of the shape batch_shape + event_shape; NaN or inf where there are none.
  virtual Tensor mean() const;
  virtual Tensor mode() const;
  virtual Tensor variance() const;
  virtual Tensor stddev() const;

  /// The constraint of values; whether all of them can be listed, false by default.
  virtual Constraint support() const = 0;
  virtual bool has_enumerate_support() const { return false; }
  /// All values, in a first dimension of their own, for every distribution of the batch; without
  /// `expand` the batch's dimensions are 1.
  Tensor enumerate_support(bool expand = true) const;

  bool validates_args() const { return validate_args_; }
  /// Whether distributions without a `validate_args` of their own check arguments and values from
  /// now on; true by default.
  static void set_default_validate_args(bool on);
  static bool default_validate_args();

  /// The classes that it is one of, its own last (for kl_divergence).
  virtual std::vector<std::type_index> lineage() const { return {}; }
  /// A copy whose batch is expanded to the shape `batch_shape`; throws Error where that cannot be.
  virtual std::shared_ptr<const Distribution> expanded(IntArrayRef batch_shape) const = 0;

 protected:
  struct Argument {
    const char* name;  ///< PyTorch's
    Parameter value;
    Constraint constraint;  ///< its event_dim says which last dimensions of the value are one
  };
  using Validate = std::optional<bool>;

  /// Of the broadcast arguments; the last `event_dim` dimensions of the first are the event.
  Distribution(std::string name, std::vector<Argument> arguments, Validate validate_args,
               int64_t event_dim = 0);
  /// Of other distributions.
  Distribution(std::string name, IntArrayRef batch_shape, IntArrayRef event_shape,
               Validate validate_args);

  /// The i-th parameter, of batch_shape and its own event dimensions.
  const Tensor& argument(size_t i) const { return arguments_[i].value; }
  /// Whether the i-th parameter was given under this name.
  bool given(size_t i, const char* name) const;
  virtual void expand_batch(IntArrayRef batch_shape);
  void set_shapes(IntArrayRef batch_shape, IntArrayRef event_shape);
  [[noreturn]] void not_implemented(const char* what) const;

  /// Draws of `shape`, which ends in batch_shape + event_shape.
  virtual Tensor draw(IntArrayRef shape, Generator* generator) const = 0;
  virtual Tensor log_density(const Tensor& value) const = 0;
  virtual Tensor cumulative(const Tensor& value) const;
  virtual Tensor quantile(const Tensor& probability) const;
  /// The support as a vector of values, and of batches alike.
  virtual Tensor all_values() const;

 private:
  struct Stored {
    const char* name;
    Tensor value;
    int64_t event_dim;
  };
  void check_argument(const Stored& argument, const Constraint& constraint) const;
  void check_value(const Tensor& value) const;

  std::string name_;
  DimVector batch_shape_, event_shape_;
  std::vector<Stored> arguments_;
  bool validate_args_;
};

std::ostream& operator<<(std::ostream& out, const Distribution& distribution);

/// The base of classes of distributions, `class Normal : public DistributionOf<Normal>`, each of
/// which must have a static list of its arguments' constraints.
template <class Self, class Base = Distribution>
class DistributionOf : public Base {
 public:
  using Base::Base;
  /// The same distributions in a batch of the shape `batch_shape`, as Tensor::expand does it;
  /// throws Error where that cannot be.
  Self expand(IntArrayRef batch_shape) const {
    Self copy(static_cast<const Self&>(*this));
    static_cast<DistributionOf&>(copy).expand_batch(batch_shape);
    return copy;
  }
  std::shared_ptr<const Distribution> expanded(IntArrayRef batch_shape) const override {
    return std::make_shared<const Self>(expand(batch_shape));
  }
  std::vector<std::type_index> lineage() const override {
    std::vector<std::type_index> classes = Base::lineage();
    classes.push_back(typeid(Self));
    return classes;
  }
};

}  // namespace taeda::inline v0_2::distributions
