#include "taeda/distributions/distribution.h"

#include <atomic>
#include <charconv>
#include <cstring>
#include <ostream>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/print.h"

namespace taeda::inline v0_2::distributions {

namespace {

std::atomic<bool> validate_by_default{true};

DimVector joined(IntArrayRef a, IntArrayRef b) {
  DimVector result(a);
  for (const int64_t size : b) result.push_back(size);
  return result;
}

IntArrayRef last(IntArrayRef sizes, int64_t n) {
  return sizes.slice(sizes.size() - static_cast<size_t>(n), static_cast<size_t>(n));
}

/// Dtype and device of the first tensor among them; integers count as the default dtype.
TensorOptions options_of(const auto& arguments) {
  for (const auto& a : arguments)
    if (!a.value.is_number()) {
      const Tensor& t = a.value.tensor();
      const ScalarType dtype = t.is_floating_point() ? t.dtype() : get_default_dtype();
      return TensorOptions(t.device()).dtype(dtype);
    }
  return TensorOptions(get_default_dtype());
}

Tensor as_tensor(const Parameter& p, const TensorOptions& options) {
  if (p.is_number()) return full({}, p.number(), options);
  return p.tensor().is_floating_point() ? p.tensor() : p.tensor().to(options.dtype());
}

}  // namespace

void Distribution::set_default_validate_args(bool on) { validate_by_default = on; }
bool Distribution::default_validate_args() { return validate_by_default; }

Distribution::Distribution(std::string name, std::vector<Argument> arguments,
                           Validate validate_args, int64_t event_dim)
    : name_(std::move(name)), validate_args_(validate_args.value_or(validate_by_default)) {
  const TensorOptions options = options_of(arguments);
  for (const Argument& a : arguments) {
    const int64_t own = a.constraint.event_dim();
    const Tensor value = as_tensor(a.value, options);
    TAEDA_CHECK_VALUE(value.dim() >= own, name_, ": `", a.name, "` parameter must be at least ",
                      own, "-dimensional, but has shape ", value.sizes());
    batch_shape_ = broadcast_sizes(batch_shape_, value.sizes().slice(0, value.dim() - own));
    arguments_.push_back({a.name, value, own});
  }
  const IntArrayRef first = arguments_[0].value.sizes();
  event_shape_ = DimVector(last(first, event_dim));
  Distribution::expand_batch(DimVector(batch_shape_));
  if (validate_args_)
    for (size_t i = 0; i < arguments.size(); ++i)
      check_argument(arguments_[i], arguments[i].constraint);
}

Distribution::Distribution(std::string name, IntArrayRef batch_shape, IntArrayRef event_shape,
                           Validate validate_args)
    : name_(std::move(name)),
      batch_shape_(batch_shape),
      event_shape_(event_shape),
      validate_args_(validate_args.value_or(validate_by_default)) {}

void Distribution::expand_batch(IntArrayRef batch_shape) {
  for (Stored& a : arguments_) {
    const IntArrayRef sizes = a.value.sizes();
    a.value = a.value.expand(joined(batch_shape, last(sizes, a.event_dim)));
  }
  batch_shape_ = DimVector(batch_shape);
}

void Distribution::set_shapes(IntArrayRef batch_shape, IntArrayRef event_shape) {
  batch_shape_ = DimVector(batch_shape);
  event_shape_ = DimVector(event_shape);
}

bool Distribution::given(size_t i, const char* name) const {
  return std::strcmp(arguments_[i].name, name) == 0;
}

DimVector Distribution::extended_shape(IntArrayRef sample_shape) const {
  return joined(sample_shape, joined(batch_shape_, event_shape_));
}

std::string shape_text(IntArrayRef sizes) {
  std::string out = "(";
  for (const int64_t n : sizes) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
  return out + (sizes.size() == 1 ? ",)" : ")");
}

namespace {

/// As Python writes it: "0.0".
std::string number_text(double value) {
  char text[32];
  const std::string out(text, std::to_chars(text, text + sizeof text, value).ptr);
  return out.find_first_not_of("-0123456789") == std::string::npos ? out + ".0" : out;
}

}  // namespace

std::string value_text(const Tensor& value) {
  const bool is_number = value.dim() == 0 && is_floating_point(value.dtype());
  return is_number ? number_text(value.item<double>()) : format_tensor(value.detach(), {});
}

std::string Distribution::str() const {
  std::ostringstream out;
  out << name_ << "(";
  const char* comma = "";
  for (const Stored& a : arguments_) {
    out << std::exchange(comma, ", ") << a.name << ": ";
    if (a.value.numel() == 1 && !a.value.is_meta())
      out << number_text(a.value.item<double>());
    else
      out << "torch.Size(" << a.value.sizes() << ")";
  }
  out << ")";
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const Distribution& distribution) {
  return out << distribution.str();
}

void Distribution::check_argument(const Stored& a, const Constraint& constraint) const {
  TAEDA_CHECK_VALUE(taeda::detail::every(constraint.check(a.value)), "Expected parameter ", a.name,
                    " (Tensor of shape ", shape_text(a.value.sizes()), ") of distribution ", str(),
                    " to satisfy the constraint ", constraint.str(),
                    ", but found invalid values:\n", value_text(a.value));
}

void Distribution::check_value(const Tensor& value) const {
  TAEDA_CHECK_TYPE(value.defined(),
                   "The value argument to log_prob must be a Tensor, but is undefined");
  const auto events = static_cast<int64_t>(event_shape_.size());
  const bool fits =
      value.dim() >= events && last(value.sizes(), events) == IntArrayRef(event_shape_);
  TAEDA_CHECK_VALUE(fits, "The right-most size of event_shape must match value.size: ",
                    IntArrayRef(event_shape_), " vs ", value.sizes(), ", of ", str());
  const DimVector expected = extended_shape();
  for (size_t i = 1; i <= std::min<size_t>(expected.size(), value.dim()); ++i) {
    const int64_t own = expected[expected.size() - i],
                  others = value.size(-static_cast<int64_t>(i));
    TAEDA_CHECK_VALUE(own == 1 || others == 1 || own == others,
                      "Value is not broadcastable with batch_shape+event_shape: ", value.sizes(),
                      " vs ", IntArrayRef(expected), ", of ", str());
  }
  const Constraint inside = support();
  TAEDA_CHECK_VALUE(taeda::detail::every(inside.check(value)),
                    "Expected value argument (Tensor of shape ", shape_text(value.sizes()),
                    ") to be within the support (", inside.str(), ") of the distribution ", str(),
                    ", but found invalid values:\n", value_text(value));
}

Tensor Distribution::sample(IntArrayRef sample_shape, Generator* generator) const {
  NoGradGuard guard;
  return draw(extended_shape(sample_shape), generator);
}

Tensor Distribution::rsample(IntArrayRef sample_shape, Generator* generator) const {
  if (!has_rsample()) not_implemented("rsample");
  return draw(extended_shape(sample_shape), generator);
}

Tensor Distribution::log_prob(const Tensor& value) const {
  if (validate_args_) check_value(value);
  return log_density(value);
}

Tensor Distribution::cdf(const Tensor& value) const {
  if (validate_args_) check_value(value);
  return cumulative(value);
}

Tensor Distribution::enumerate_support(bool expand) const {
  if (!has_enumerate_support()) not_implemented("enumerate_support");
  Tensor values = all_values();
  const int64_t n = values.size(0);
  const DimVector ones(batch_shape_.size(), 1);
  values = values.view(joined(joined(n, ones), event_shape_));
  return expand ? values.expand(joined(joined(n, batch_shape_), event_shape_)) : values;
}

void Distribution::not_implemented(const char* what) const {
  detail::fail<NotImplementedError>(detail::concat(name_, " does not implement ", what));
}

Tensor Distribution::entropy() const { not_implemented("entropy"); }
Tensor Distribution::mean() const { not_implemented("mean"); }
Tensor Distribution::mode() const { not_implemented("mode"); }
Tensor Distribution::variance() const { not_implemented("variance"); }
Tensor Distribution::cumulative(const Tensor&) const { not_implemented("cdf"); }
Tensor Distribution::quantile(const Tensor&) const { not_implemented("icdf"); }
Tensor Distribution::all_values() const { not_implemented("enumerate_support"); }
Tensor Distribution::stddev() const { return variance().sqrt(); }
Tensor Distribution::perplexity() const { return entropy().exp(); }

}  // namespace taeda::inline v0_2::distributions
