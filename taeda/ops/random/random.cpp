#include "taeda/ops/random/random.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "bodies/random.h"
#include "bodies/tensor_methods.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/draws.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/random.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/meta_guard.h"
#include "taeda/ops/nn/dropout_state.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2 {

namespace {

using detail::finish;

/// On meta nothing is drawn, whoever's generator is given.
Generator& generator_for(const Tensor& t, Generator* given) {
  check_draws();
  if (!given || t.is_meta()) return default_generator(t.device());
  TAEDA_CHECK(given->device().type() == t.device().type(), "Expected a '", t.device(),
              "' device type for generator but found '", given->device(), "'");
  return *given;
}

/// Where the numbers of a contiguous tensor on the CPU go, now or at a replay.
template <class T>
T* place(const Tensor& t) {
  return static_cast<T*>(t.storage()->data_for_work()) + t.storage_offset();
}

/// Fills `self`: `draw(t)` gets `self` in its order in memory, or a contiguous copy where gaps or
/// overlaps forbid that.
template <class Draw>
Tensor& fill_random(const char* op, const Tensor& self, Draw draw) {
  InplaceChange change(op, self, {self});
  if (self.numel() > 0) {
    NoGradGuard guard;
    if (self.layout().is_non_overlapping_and_dense()) {
      const Layout flat{IntArrayRef(self.numel()), IntArrayRef(int64_t{1}), self.storage_offset()};
      draw(make_view(self, flat));
    } else {
      const Tensor fresh = make_tensor(self.sizes(), self.dtype(), self.device());
      draw(fresh);
      self.copy_(fresh);
    }
  }
  change.finish("RandomBackward0",
                [] { return [](const Tensor& g) { return g.new_zeros(g.sizes()); }; });
  return const_cast<Tensor&>(self);
}

void draw_uniform(const Tensor& t, double from, double to, Generator& generator) {
  if (!t.is_cpu()) return uniform_slot(t.device().type(), t, from, to, generator.next_philox());
  dispatch(FloatTypes{}, "uniform_", t.dtype(), [&]<class T>() {
    detail::run_or_record("uniform_", [g = generator, out = place<T>(t), n = t.numel(), from, to] {
      g.fill_uniform(out, n, from, to);
    });
  });
}

void draw_normal(const Tensor& t, double mean, double std, Generator& generator) {
  if (!t.is_cpu()) return normal_slot(t.device().type(), t, mean, std, generator.next_philox());
  dispatch(FloatTypes{}, "normal_", t.dtype(), [&]<class T>() {
    detail::run_or_record("normal_", [g = generator, out = place<T>(t), n = t.numel(), mean, std] {
      g.fill_normal(out, n, mean, std);
    });
  });
}

/// Integers in [from, from + range); a range of 0 stands for 2^64.
void draw_integers(const Tensor& t, int64_t from, uint64_t range, Generator& generator) {
  if (!t.is_cpu()) return randint_slot(t.device().type(), t, from, range, generator.next_philox());
  dispatch(RealBoolTypes{}, "random_", t.dtype(), [&]<class T>() {
    detail::run_or_record("random_", [g = generator, out = place<T>(t), n = t.numel(), from,
                                      range] { g.fill_randint(out, n, from, range); });
  });
}

}  // namespace

Tensor& do_uniform_(const Tensor& self, double from, double to, GeneratorArg generator) {
  const ScalarType real = to_real_type(self.dtype());
  if (is_floating_point(real)) {
    const double most = detail::largest(real);
    for (const auto& [name, bound] : {std::pair("from", from), std::pair("to", to)})
      TAEDA_CHECK(std::abs(bound) <= most, name, " is out of bounds for ", detail::type_name(real));
    TAEDA_CHECK(to - from <= most, "uniform_ expects to-from <= std::numeric_limits<", real,
                ">::max(), but found to=", to, " and from=", from,
                " which result in to-from to exceed the limit");
  }
  TAEDA_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
  return fill_random("uniform_", self, [&](const Tensor& t) {
    const Tensor parts = t.is_complex() ? view_as_real(t).view({-1}) : t;
    draw_uniform(parts, from, to, generator_for(self, generator));
  });
}

Tensor& do_normal_(const Tensor& self, double mean, double std, GeneratorArg generator) {
  TAEDA_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  return fill_random("normal_", self, [&](const Tensor& t) {
    Generator& g = generator_for(self, generator);
    if (t.is_complex())
      draw_normal(view_as_real(t).view({-1}), mean, std / std::sqrt(2.0), g);
    else
      draw_normal(t, mean, std, g);
  });
}

namespace {

/// Largest number that `random_()` gives: the largest integer, or 2^digits for floating point.
uint64_t largest_random(ScalarType dtype) {
  switch (dtype) {
    case kBool: return 1;
    case kByte: return std::numeric_limits<uint8_t>::max();
    case kChar: return std::numeric_limits<int8_t>::max();
    case kShort: return std::numeric_limits<int16_t>::max();
    case kInt: return std::numeric_limits<int32_t>::max();
    case kUInt16: return std::numeric_limits<uint16_t>::max();
    case kUInt32: return std::numeric_limits<uint32_t>::max();
    case kUInt64:
    case kLong: return std::numeric_limits<int64_t>::max();
    case kHalf: return uint64_t{1} << 11;
    case kBFloat16: return uint64_t{1} << 8;
    case kFloat: return uint64_t{1} << 24;
    default: return uint64_t{1} << 53;
  }
}

}  // namespace

Tensor& do_random_(const Tensor& self, GeneratorArg generator) {
  return fill_random("random_", self, [&](const Tensor& t) {
    Generator& g = generator_for(self, generator);
    if (!t.is_cpu() || self.dtype() != kInt)
      return draw_integers(t, 0, largest_random(self.dtype()) + 1, g);
    // All of int32's numbers are 31 of 32 bits; a range of that size takes 64.
    detail::run_or_record("random_",
                          [g, out = place<uint32_t>(t), n = t.numel()] { g.fill_random(out, n); });
    t.bitwise_and_(int64_t{INT32_MAX});
  });
}

Tensor& do_random_(const Tensor& self, int64_t to, GeneratorArg generator) {
  return self.random_(0, to, generator);
}

Tensor& do_random_(const Tensor& self, int64_t from, int64_t to, GeneratorArg generator) {
  TAEDA_CHECK(!self.is_complex(),
              "random_: check_random_bounds handles only integral, floating-point and boolean "
              "types, but got ",
              self.dtype());
  TAEDA_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from,
              " >= to=", to);
  if (is_integral(self.dtype(), true)) {
    const int64_t highest =
        self.dtype() == kLong ? INT64_MAX : static_cast<int64_t>(largest_random(self.dtype()));
    const int64_t lowest = self.is_signed() ? -highest - 1 : 0;
    TAEDA_CHECK(from >= lowest && from <= highest, "from is out of bounds for ",
                dtype_name(self.dtype()));
    TAEDA_CHECK(to - 1 >= lowest && to - 1 <= highest, "to - 1 is out of bounds for ",
                dtype_name(self.dtype()));
  }
  if (is_wide_unsigned(self.dtype()))
    return self.copy_(empty_like(self, TensorOptions(kLong)).random_(from, to, generator));
  return fill_random("random_", self, [&](const Tensor& t) {
    draw_integers(t, from, static_cast<uint64_t>(to) - static_cast<uint64_t>(from),
                  generator_for(self, generator));
  });
}

Tensor& do_random_(const Tensor& self, int64_t from, OptionalDim to, GeneratorArg generator) {
  if (to) return self.random_(from, *to, generator);
  const uint64_t last = largest_random(self.dtype());
  TAEDA_CHECK(from < 0 || static_cast<uint64_t>(from) <= last, "random_ expects 'from' to be less ",
              "than or equal to the largest number of ", dtype_name(self.dtype()),
              ", but got from=", from);
  const uint64_t range = last + 1 - static_cast<uint64_t>(from);  // 0: all of int64
  return fill_random("random_", self, [&](const Tensor& t) {
    draw_integers(t, from, range, generator_for(self, generator));
  });
}

namespace {

/// Throws unless a tensor can hold what is drawn from an interval.
void check_continuous(const char* name, const Tensor& t) {
  TAEDA_CHECK(is_floating_point(t.dtype()), name,
              " distribution is a continuous probability distribution. dtype must be a floating "
              "point but you specified ",
              t.dtype());
}

void check_real(const char* op, ScalarType t) {
  TAEDA_CHECK_NOT_IMPLEMENTED(!is_complex(t), "\"", op, "\" not implemented for '", t, "'");
}

}  // namespace

Tensor& do_bernoulli_(const Tensor& self, const Tensor& p, GeneratorArg generator) {
  check_real("bernoulli_", self.dtype());
  return self.copy_(taeda::bernoulli(p.detach().expand(self.sizes()), generator));
}

namespace {

/// 1 with probability p, else 0. PyTorch compares numbers of 53 bits, whatever the dtype.
void draw_ones(const Tensor& t, double p, const Generator& generator) {
  const Tensor numbers = t.is_floating_point() ? t : make_tensor(t.sizes(), kFloat, kCPU);
  const Tensor bits = detail::next_decisions(t.numel(), p, generator);
  dropout_kept_slot(kCPU, numbers, numbers.fill_(1), bits, 1);
  if (!t.is_floating_point()) t.copy_(numbers);
}

}  // namespace

Tensor& do_bernoulli_(const Tensor& self, double p, GeneratorArg generator) {
  check_real("bernoulli_", self.dtype());
  TAEDA_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  return fill_random("bernoulli_", self, [&](const Tensor& t) {
    Generator& g = generator_for(self, generator);
    if (t.is_cpu()) return draw_ones(t, p, g);
    const Tensor u = make_tensor(t.sizes(), kFloat, t.device());
    draw_uniform(u, 0, 1, g);
    t.copy_(u.lt(p));
  });
}

Tensor& do_exponential_(const Tensor& self, double lambd, GeneratorArg generator) {
  check_continuous("Exponential", self);
  TAEDA_CHECK(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  return fill_random("exponential_", self, [&](const Tensor& t) {
    const Tensor u = make_tensor(t.sizes(), t.is_cpu() ? kDouble : t.dtype(), t.device());
    draw_uniform(u, 0, 1, generator_for(self, generator));
    t.copy_(u.neg().log1p().mul(-1 / lambd));
  });
}

Tensor& do_geometric_(const Tensor& self, double p, GeneratorArg generator) {
  check_real("geometric_", self.dtype());
  TAEDA_CHECK_NOT_IMPLEMENTED(self.dtype() != kBool, "\"geometric_\" not implemented for 'Bool'");
  TAEDA_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  return fill_random("geometric_", self, [&](const Tensor& t) {
    const Tensor u = make_tensor(t.sizes(), kDouble, t.device());
    draw_uniform(u, 0, 1, generator_for(self, generator));
    t.copy_(u.log().div(std::log1p(-p)).ceil().clamp_min(1));
  });
}

Tensor& do_cauchy_(const Tensor& self, double median, double sigma, GeneratorArg generator) {
  check_continuous("Cauchy", self);
  TAEDA_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  return fill_random("cauchy_", self, [&](const Tensor& t) {
    const Tensor u = make_tensor(t.sizes(), kDouble, t.device());
    draw_uniform(u, 0, 1, generator_for(self, generator));
    t.copy_(u.sub(0.5).mul(std::numbers::pi).tan().mul(sigma).add(median));
  });
}

Tensor& do_log_normal_(const Tensor& self, double mean, double std, GeneratorArg generator) {
  TAEDA_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  check_floating("log_normal_", self);
  return fill_random("log_normal_", self, [&](const Tensor& t) {
    const Tensor z = make_tensor(t.sizes(), kDouble, t.device());
    Generator& g = generator_for(self, generator);
    if (t.is_cpu()) {
      // PyTorch draws these one by one, not in blocks as normal_ does.
      detail::run_or_record("log_normal_", [g, out = place<double>(z), n = z.numel()] {
        for (int64_t i = 0; i < n; ++i) out[i] = g.normal();
      });
    } else {
      draw_normal(z, 0, 1, g);
    }
    t.copy_(z.mul(std).add(mean).exp());
  });
}

Tensor do_rand(IntArrayRef sizes, const TensorOptions& o, GeneratorArg generator) {
  Tensor out = empty(sizes, o.requires_grad(false));
  out.uniform_(0, 1, generator);
  return finish(std::move(out), o);
}

Tensor do_rand_like(const Tensor& self, const TensorOptions& o,
                    std::optional<MemoryFormat> format) {
  Tensor out = empty_like(self, o.requires_grad(false), format);
  out.uniform_();
  return finish(std::move(out), o);
}

Tensor do_randn(IntArrayRef sizes, const TensorOptions& o, GeneratorArg generator) {
  Tensor out = empty(sizes, o.requires_grad(false));
  out.normal_(0, 1, generator);
  return finish(std::move(out), o);
}

Tensor do_randn_like(const Tensor& self, const TensorOptions& o,
                     std::optional<MemoryFormat> format) {
  Tensor out = empty_like(self, o.requires_grad(false), format);
  out.normal_();
  return finish(std::move(out), o);
}

Tensor do_randint(int64_t high, IntArrayRef sizes, const TensorOptions& o) {
  return randint(0, high, sizes, o);
}

Tensor do_randint(int64_t low, int64_t high, IntArrayRef sizes, const TensorOptions& o,
                  GeneratorArg generator) {
  Tensor out = empty(sizes, o.dtype(o.dtype_or(kLong)).requires_grad(false));
  out.random_(low, high, generator);
  return finish(std::move(out), o);
}

Tensor do_randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& o,
                       std::optional<MemoryFormat> format) {
  Tensor out = empty_like(self, o.requires_grad(false), format);
  out.random_(low, high);
  return finish(std::move(out), o);
}

namespace {

/// How many of the numbers from 0 on a dtype tells apart.
int64_t most_counted(ScalarType t) {
  switch (t) {
    case kBool: return 2;
    case kByte: return int64_t{1} << 8;
    case kChar: return int64_t{1} << 7;
    case kShort: return int64_t{1} << 15;
    case kInt: return int64_t{1} << 31;
    case kBFloat16: return (int64_t{1} << 8) + 1;
    case kHalf: return (int64_t{1} << 11) + 1;
    case kFloat:
    case kComplexFloat: return (int64_t{1} << 24) + 1;
    case kDouble:
    case kComplexDouble: return (int64_t{1} << 53) + 1;
    default: return std::numeric_limits<int64_t>::max();
  }
}

}  // namespace

Tensor do_randperm(int64_t n, const TensorOptions& o, GeneratorArg generator) {
  TAEDA_CHECK(n >= 0, "n must be non-negative, got", n);
  const ScalarType dtype = o.dtype_or(kLong);
  TAEDA_CHECK_NOT_IMPLEMENTED(dtype != kBool && !is_complex(dtype),
                              "\"randperm\" not implemented for '", dtype, "'");
  TAEDA_CHECK(n <= most_counted(dtype), "randperm: n is too large for result tensor type: '", dtype,
              "', got ", n);
  const Tensor order = make_tensor(IntArrayRef(n), kLong, detail::device_of(o));
  Tensor out = order;
  if (order.is_cpu())
    detail::run_or_record("randperm",
                          [g = generator_for(order, generator), out = place<int64_t>(order), n] {
                            g.fill_permutation(out, n);
                          });
  else if (n > 0)
    out = order.random_(generator).argsort();
  return finish(out.to(dtype), o);
}

Tensor do_bernoulli(const Tensor& self, GeneratorArg generator) {
  check_floating("bernoulli", self);
  NoGradGuard guard;
  if (detail::can_look_at_values(self.device()) && self.numel() > 0) {
    const auto [least, most] = self.aminmax();  // NaN if there is one
    const auto low = least.item<double>(), high = most.item<double>();
    TAEDA_CHECK(low >= 0 && high <= 1,
                "bernoulli: expected probabilities between 0 and 1, but got ",
                low >= 0 ? high : low);
  }
  // 16-bit probabilities are compared with numbers of 24 bits, as PyTorch does.
  const Tensor p = self.dtype() == kDouble ? self : self.to(kFloat);
  const Tensor u = make_tensor(p.sizes(), p.dtype(), p.device());
  u.uniform_(0, 1, generator);
  return u.lt(p).to(self.dtype());
}

Tensor do_bernoulli(const Tensor& self, double p, GeneratorArg generator) {
  return empty(self.sizes(), self.options()).bernoulli_(p, generator);
}

Tensor do_normal(const Tensor& mean, double std, GeneratorArg generator) {
  NoGradGuard guard;
  return empty(mean.sizes(), mean.options()).normal_(0, std, generator).add_(mean);
}

namespace {

void check_std(const Tensor& std) {
  TAEDA_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  TAEDA_CHECK(std.numel() == 0 || std.is_meta() || detail::host_recording() ||
                  std.min().item<double>() >= 0,
              "normal expects all elements of std >= 0.0");
}

}  // namespace

Tensor do_normal(double mean, const Tensor& std, GeneratorArg generator) {
  NoGradGuard guard;
  check_std(std);
  return empty(std.sizes(), std.options()).normal_(0, 1, generator).mul_(std).add_(mean);
}

Tensor do_normal(const Tensor& mean, const Tensor& std, GeneratorArg generator) {
  NoGradGuard guard;
  check_std(std);
  const DimVector shape = broadcast_sizes(mean.sizes(), std.sizes());
  return empty(shape, mean.options()).normal_(0, 1, generator).mul_(std).add_(mean);
}

Tensor do_normal(double mean, double std, IntArrayRef sizes, const TensorOptions& o,
                 GeneratorArg generator) {
  Tensor out = empty(sizes, o.requires_grad(false));
  out.normal_(mean, std, generator);
  return finish(std::move(out), o);
}

namespace {

void check_weights(const Tensor& weights, int64_t num_samples, bool replacement) {
  TAEDA_CHECK(weights.dim() > 0 && weights.dim() <= 2, "prob_dist must be 1 or 2 dim");
  TAEDA_CHECK(weights.is_floating_point(),
              "multinomial only supports floating-point dtypes for "
              "input, got: ",
              to_string(weights.dtype()));
  TAEDA_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  TAEDA_CHECK(replacement || num_samples <= weights.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  if (weights.is_meta() || detail::host_recording()) return;
  const bool valid = weights.isfinite().logical_and(weights.ge(0)).all().item<bool>();
  TAEDA_CHECK(valid, "probability tensor contains either `inf`, `nan` or element < 0");
  TAEDA_CHECK(weights.sum({-1}).gt(0).all().item<bool>(),
              "invalid multinomial distribution (sum of probabilities <= 0)");
}

}  // namespace

Tensor do_multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                      GeneratorArg generator) {
  check_weights(self, num_samples, replacement);
  NoGradGuard guard;
  if (!replacement || num_samples == 1) {
    // The smallest of exponential times with these rates come first (the "exponential race").
    const Tensor times = empty_like(self).exponential_(1, generator);
    const Tensor race = self.div(times);
    if (num_samples == 1) return race.argmax(-1, true);
    return std::get<1>(race.topk(num_samples, -1));
  }
  Tensor steps = self.to(kDouble).cumsum(-1);
  steps = steps.div(steps.narrow(-1, steps.size(-1) - 1, 1));
  DimVector shape(self.sizes());
  shape.back() = num_samples;
  const Tensor u = empty(shape, steps.options()).uniform_(0, 1, generator);
  return searchsorted(steps, u);
}

}  // namespace taeda::inline v0_2
