#include "taeda/ops/random/random_forms.h"

#include "bodies/random.h"
#include "bodies/random_forms.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/host_graph.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2 {

namespace {

/// A tensor like `self`, without a history, that `draw` fills.
template <class Draw>
Tensor drawn_like(const Tensor& self, Draw&& draw) {
  const NoGradGuard guard;
  Tensor out = empty_like(self.detach());
  draw(out);
  return out;
}

}  // namespace

Tensor uniform(const Tensor& self, double from, double to, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.uniform_(from, to, generator); });
}

Tensor normal_functional(const Tensor& self, double mean, double std, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.normal_(mean, std, generator); });
}

Tensor exponential(const Tensor& self, double lambd, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.exponential_(lambd, generator); });
}

Tensor cauchy(const Tensor& self, double median, double sigma, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.cauchy_(median, sigma, generator); });
}

Tensor geometric(const Tensor& self, double p, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.geometric_(p, generator); });
}

Tensor log_normal(const Tensor& self, double mean, double std, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.log_normal_(mean, std, generator); });
}

Tensor random(const Tensor& self, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.random_(generator); });
}

Tensor random(const Tensor& self, int64_t to, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.random_(to, generator); });
}

Tensor random(const Tensor& self, int64_t from, OptionalDim to, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.random_(from, to, generator); });
}

Tensor do_bernoulli(const Tensor& self, const Tensor& p, GeneratorArg generator) {
  return drawn_like(self, [&](const Tensor& t) { t.bernoulli_(p, generator); });
}

// ---- counts ----

namespace {

/// What is drawn from, in double on the host; nothing for a tensor on meta.
Tensor values_on_host(const Tensor& t) {
  return t.is_meta() ? make_tensor({0}, kDouble, Device(kCPU)) : detail::in_double(t);
}

/// draw(i, generator) for each of the elements of something like `like`, on the host.
template <class Draw>
Tensor drawn_on_host(const char* what, const Tensor& like, Generator* given, Draw draw) {
  if (like.is_meta()) return make_tensor(like.sizes(), like.dtype(), like.device());
  detail::check_not_recording(what);
  const Generator generator = detail::host_generator(what, like.device(), given);
  const Tensor result = make_tensor(like.sizes(), kDouble, Device(kCPU));
  double* const out = result.data_ptr<double>();
  for (int64_t i = 0; i < result.numel(); ++i) out[i] = draw(i, generator);
  return result.to(like.options().requires_grad(false));
}

}  // namespace

Tensor do_poisson(const Tensor& self, GeneratorArg generator) {
  check_floating("poisson_cpu", self);
  Tensor out;
  {
    const NoGradGuard guard;
    const Tensor rate = values_on_host(self);
    const double* const r = rate.data_ptr<double>();
    out = drawn_on_host("poisson", self, generator, [&](int64_t i, const Generator& g) {
      return detail::poisson_number(r[i], g);
    });
  }
  if (wants_grad(self))
    record("PoissonBackward0", out, {self}, [](const Tensor& g) { return zeros_like(g); });
  return out;
}

Tensor do_binomial(const Tensor& count, const Tensor& prob, GeneratorArg generator) {
  TAEDA_CHECK_VALUE(
      count.is_floating_point(),
      "binomial only supports floating-point dtypes for count, got: ", to_string(count.dtype()));
  TAEDA_CHECK_VALUE(
      prob.is_floating_point(),
      "binomial only supports floating-point dtypes for prob, got: ", to_string(prob.dtype()));
  TAEDA_CHECK(count.dtype() == prob.dtype(), "Found dtype ", to_string(prob.dtype()),
              " but expected ", to_string(count.dtype()));
  const DimVector sizes = broadcast_sizes(count.sizes(), prob.sizes());
  Tensor out;
  {
    const NoGradGuard guard;
    const Tensor counts = values_on_host(count.expand(sizes)),
                 probs = values_on_host(prob.expand(sizes));
    const double *const n = counts.data_ptr<double>(), *const p = probs.data_ptr<double>();
    const Tensor like = count.detach().expand(sizes);
    out = drawn_on_host("binomial", like, generator, [&](int64_t i, const Generator& g) {
      return detail::binomial_number(n[i], p[i], g);
    });
  }
  if (wants_grad(count, prob))
    record("BinomialBackward0", out, {count, prob}, [](const Tensor& g, Needs) {
      const Tensor none = zeros_like(g);
      return TensorVec{none, none};
    });
  return out;
}

// ---- drawn slopes ----

namespace {

/// 1 for elements above 0, a drawn number for the others; PyTorch draws for those alone.
Tensor drawn_slopes(const Tensor& self, double lower, double upper, GeneratorArg generator) {
  const NoGradGuard guard;
  const Tensor x = self.detach();
  if (!x.is_cpu())
    return empty_like(x).uniform_(lower, upper, generator).masked_fill_(x.le(0).logical_not(), 1);
  detail::check_not_recording("rrelu");  // how many are drawn depends on the values
  const Tensor values = detail::in_double(x);
  const double* const v = values.data_ptr<double>();
  return drawn_on_host("rrelu", x, generator, [&](int64_t i, const Generator& g) {
    return v[i] <= 0 ? lower + g.uniform() * (upper - lower) : 1.0;
  });
}

}  // namespace

Tensor do_rrelu_with_noise(const Tensor& self, const Tensor& noise, const Scalar& lower,
                           const Scalar& upper, bool training, GeneratorArg generator) {
  check_floating("rrelu_with_noise", self);
  const double low = lower.toDouble(), high = upper.toDouble();
  TAEDA_CHECK(low <= high, "Lower bound should be less than or equal to the upper bound");
  TAEDA_CHECK(noise.sizes() == self.sizes(),
              "noise tensor shape must match self tensor shape. Got self.shape = ", self.sizes(),
              " noise.shape = ", noise.sizes());
  if (!training) return leaky_relu(self, (low + high) / 2);
  const Tensor slopes = drawn_slopes(self, low, high, generator);
  noise.copy_(slopes);
  return self.mul(slopes);
}

Tensor& do_rrelu_with_noise_(const Tensor& self, const Tensor& noise, const Scalar& lower,
                             const Scalar& upper, bool training, GeneratorArg generator) {
  return detail::assign("rrelu_with_noise_", self, wants_grad(self), [&](const Tensor& x) {
    return rrelu_with_noise(x, noise, lower, upper, training, generator);
  });
}

Tensor do_rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                GeneratorArg generator) {
  return rrelu_with_noise(self, empty_like(self.detach()), lower, upper, training, generator);
}

Tensor& do_rrelu_(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                  GeneratorArg generator) {
  return rrelu_with_noise_(self, empty_like(self.detach()), lower, upper, training, generator);
}

}  // namespace taeda::inline v0_2
