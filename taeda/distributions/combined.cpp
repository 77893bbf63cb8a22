#include "taeda/distributions/combined.h"

#include "taeda/base/error.h"
#include "taeda/distributions/normal.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributions {

namespace {

int64_t rank(IntArrayRef shape) { return static_cast<int64_t>(shape.size()); }

DimVector both(IntArrayRef a, IntArrayRef b) {
  DimVector result(a);
  for (const int64_t size : b) result.push_back(size);
  return result;
}

/// The shape without its last `n` dimensions, and these.
DimVector head(IntArrayRef shape, int64_t n) { return DimVector(shape.slice(0, shape.size() - n)); }
DimVector tail(IntArrayRef shape, int64_t n) { return DimVector(shape.slice(shape.size() - n, n)); }

Tensor sum_of_last(const Tensor& t, int64_t n) {
  DimVector dims;
  for (int64_t i = 1; i <= n; ++i) dims.push_back(-i);
  return n == 0 ? t : t.sum(dims);
}

/// The samples' dimensions of a draw of `shape` from `base`.
DimVector sample_shape(IntArrayRef shape, const Distribution& base) {
  return head(shape, rank(base.batch_shape()) + rank(base.event_shape()));
}

/// A draw as the caller wants it: with gradient where the mode has it and the distribution can.
Tensor drawn(const Distribution& base, IntArrayRef samples, Generator* generator) {
  const bool differentiable = GradMode::is_enabled() && base.has_rsample();
  return differentiable ? base.rsample(samples, generator) : base.sample(samples, generator);
}

}  // namespace

AnyDistribution::AnyDistribution(std::shared_ptr<const Distribution> distribution)
    : shared_(std::move(distribution)) {
  TAEDA_CHECK_VALUE(shared_, "the distribution is null");
}

Independent::Independent(AnyDistribution base, int64_t reinterpreted_batch_ndims,
                         Validate validate_args)
    : DistributionOf("Independent", IntArrayRef(), IntArrayRef(), validate_args),
      base_(std::move(base)),
      dims_(reinterpreted_batch_ndims) {
  const IntArrayRef batch = base_->batch_shape();
  TAEDA_CHECK_VALUE(
      dims_ >= 0 && dims_ <= rank(batch),
      "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual ", dims_,
      " vs ", rank(batch));
  set_shapes(head(batch, dims_), both(tail(batch, dims_), base_->event_shape()));
}

std::string Independent::str() const {
  return "Independent(" + base_->str() + ", " + std::to_string(dims_) + ")";
}

void Independent::expand_batch(IntArrayRef batch_shape) {
  base_ = base_->expanded(both(batch_shape, tail(base_->batch_shape(), dims_)));
  set_shapes(batch_shape, DimVector(event_shape()));
}

Tensor Independent::entropy() const { return sum_of_last(base_->entropy(), dims_); }

Tensor Independent::draw(IntArrayRef shape, Generator* generator) const {
  return drawn(*base_, sample_shape(shape, *base_), generator);
}

Tensor Independent::log_density(const Tensor& value) const {
  return sum_of_last(base_->log_prob(value), dims_);
}

TransformedDistribution::TransformedDistribution(AnyDistribution base,
                                                 std::vector<TransformPtr> transforms,
                                                 Validate validate_args)
    : TransformedDistribution(std::move(base), transforms::compose(std::move(transforms)),
                              validate_args) {}

TransformedDistribution::TransformedDistribution(AnyDistribution base, TransformPtr transform,
                                                 Validate validate_args)
    : DistributionOf("TransformedDistribution", IntArrayRef(), IntArrayRef(), validate_args),
      base_(std::move(base)),
      transform_(std::move(transform)) {
  TAEDA_CHECK_VALUE(transform_, "TransformedDistribution: the transform is null");
  const DimVector from = base_->extended_shape();
  const int64_t takes = transform_->domain().event_dim(),
                gives = transform_->codomain().event_dim();
  TAEDA_CHECK_VALUE(rank(from) >= takes,
                    "base_distribution needs to have shape with size at least ", takes,
                    ", but got ", IntArrayRef(from), ".");
  // What the transform takes as one value becomes the event.
  const DimVector to = transform_->forward_shape(from);
  const DimVector wide = transform_->inverse_shape(to);
  const int64_t base_events = rank(base_->event_shape());
  if (wide != from) base_ = base_->expanded(head(wide, base_events));
  const int64_t missing = std::max<int64_t>(takes - base_events, 0);
  if (missing > 0) base_ = AnyDistribution(Independent(base_, missing));
  const int64_t events = std::max(gives, base_events + missing + gives - takes);
  set_shapes(head(to, events), tail(to, events));
}

std::string TransformedDistribution::str() const {
  return "TransformedDistribution(" + base_->str() + ", " + transform_->name() + ")";
}

Constraint TransformedDistribution::support() const {
  const Constraint codomain = transform_->codomain();
  return codomain.independent(rank(event_shape()) - codomain.event_dim());
}

void TransformedDistribution::expand_batch(IntArrayRef batch_shape) {
  const DimVector shape = transform_->inverse_shape(both(batch_shape, event_shape()));
  base_ = base_->expanded(head(shape, rank(base_->event_shape())));
  set_shapes(batch_shape, DimVector(event_shape()));
}

Tensor TransformedDistribution::draw(IntArrayRef shape, Generator* generator) const {
  const int64_t own = rank(batch_shape()) + rank(event_shape());
  return (*transform_)(drawn(*base_, head(shape, own), generator));
}

Tensor TransformedDistribution::log_density(const Tensor& value) const {
  const Tensor x = transform_->inv(value);
  const int64_t events = rank(event_shape());
  const Tensor stretch = sum_of_last(transform_->log_abs_det_jacobian(x, value),
                                     events - transform_->codomain().event_dim());
  const int64_t base_events = rank(base_->event_shape());
  const int64_t more =
      events + transform_->domain().event_dim() - transform_->codomain().event_dim() - base_events;
  return sum_of_last(base_->log_prob(x), more).sub(stretch);
}

Tensor TransformedDistribution::falls() const { return transform_->sign().lt(0); }

Tensor TransformedDistribution::cumulative(const Tensor& value) const {
  const Tensor below = base_->cdf(transform_->inv(value));
  return where(falls(), below.neg().add(1), below);
}

Tensor TransformedDistribution::quantile(const Tensor& probability) const {
  const Tensor below = where(falls(), probability.neg().add(1), probability);
  return (*transform_)(base_->icdf(below));
}

namespace {

Normal of_vectors(Parameter loc, Parameter scale, std::optional<bool> validate_args) {
  Normal normal(std::move(loc), std::move(scale), validate_args);
  return normal.batch_shape().empty() ? normal.expand({1}) : normal;
}

const TransformPtr& broken_stick() {
  static const TransformPtr transform = transforms::stick_breaking();
  return transform;
}

const Normal& normal_of(const Distribution& independent) {
  return dynamic_cast<const Normal&>(dynamic_cast<const Independent&>(independent).base());
}

}  // namespace

/// All share one transform, so that two of them have a divergence.
LogisticNormal::LogisticNormal(Parameter loc, Parameter scale, Validate validate_args)
    : DistributionOf(of_vectors(std::move(loc), std::move(scale), validate_args), broken_stick(),
                     validate_args) {}

const Tensor& LogisticNormal::loc() const { return normal_of(base()).loc(); }
const Tensor& LogisticNormal::scale() const { return normal_of(base()).scale(); }

MixtureSameFamily::MixtureSameFamily(Categorical mixture, AnyDistribution components,
                                     Validate validate_args)
    : DistributionOf("MixtureSameFamily", IntArrayRef(), IntArrayRef(), validate_args),
      mixture_(std::move(mixture)),
      components_(std::move(components)) {
  const IntArrayRef batch = components_->batch_shape();
  TAEDA_CHECK_VALUE(!batch.empty(),
                    "MixtureSameFamily: the components need a batch dimension, but are ",
                    components_->str());
  const DimVector rest = head(batch, 1);
  TAEDA_CHECK_VALUE(batch.back() == mixture_.num_outcomes(), "`mixture_distribution component` (",
                    mixture_.num_outcomes(),
                    ") does not equal `component_distribution.batch_shape[-1]` (", batch.back(),
                    ")");
  TAEDA_CHECK_VALUE(broadcast_sizes(rest, mixture_.batch_shape()) == rest,
                    "`mixture_distribution.batch_shape` (", mixture_.batch_shape(),
                    ") is not compatible with `component_distribution.batch_shape` (", batch, ")");
  set_shapes(rest, components_->event_shape());
}

std::string MixtureSameFamily::str() const {
  return "MixtureSameFamily(\n  " + mixture_.str() + ",\n  " + components_->str() + ")";
}

void MixtureSameFamily::expand_batch(IntArrayRef batch_shape) {
  components_ = components_->expanded(both(batch_shape, mixture_.num_outcomes()));
  mixture_ = mixture_.expand(batch_shape);
  set_shapes(batch_shape, DimVector(event_shape()));
}

Tensor MixtureSameFamily::weights() const {
  Tensor p = mixture_.probs();
  for (size_t i = 0; i < event_shape().size(); ++i) p = p.unsqueeze(-1);
  return p;
}

Tensor MixtureSameFamily::with_components(const Tensor& value) const {
  return value.unsqueeze(-1 - rank(event_shape()));
}

Tensor MixtureSameFamily::mean() const {
  return weights().mul(components_->mean()).sum({-1 - rank(event_shape())});
}

/// The mean of the variances and the variance of the means.
Tensor MixtureSameFamily::variance() const {
  const int64_t dim = -1 - rank(event_shape());
  const Tensor spread = components_->mean().sub(with_components(mean())).square();
  return weights().mul(components_->variance().add(spread)).sum({dim});
}

Tensor MixtureSameFamily::draw(IntArrayRef shape, Generator* generator) const {
  const int64_t events = rank(event_shape());
  const DimVector samples = head(shape, rank(batch_shape()) + events);
  Tensor index = mixture_.expand(batch_shape()).sample(samples, generator).unsqueeze(-1);
  const Tensor all = components_->sample(samples, generator);
  for (int64_t i = 0; i < events; ++i) index = index.unsqueeze(-1);
  const DimVector wide = both(both(head(shape, events), int64_t{1}), event_shape());
  return all.gather(-1 - events, index.expand(wide)).squeeze(-1 - events);
}

Tensor MixtureSameFamily::log_density(const Tensor& value) const {
  const Tensor density = components_->log_prob(with_components(value));
  return density.add(mixture_.logits().log_softmax(-1)).logsumexp(-1);
}

Tensor MixtureSameFamily::cumulative(const Tensor& value) const {
  return components_->cdf(with_components(value)).mul(mixture_.probs()).sum({-1});
}

}  // namespace taeda::inline v0_2::distributions
