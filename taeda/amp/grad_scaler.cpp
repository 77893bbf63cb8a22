#include "taeda/amp/grad_scaler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/gradient_lists.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::amp {

namespace {

std::vector<ParamList> gradient_lists(const std::vector<std::vector<Tensor>>& parameters) {
  std::vector<ParamList> lists;
  for (const auto& group : parameters)
    for (const Tensor& p : group) {
      if (!p.grad().defined() || p.grad().numel() == 0) continue;
      TAEDA_CHECK_VALUE(p.grad().dtype() != kHalf, "Attempting to unscale FP16 gradients.");
      taeda::detail::add_gradient(lists, p);
    }
  return lists;
}

/// The largest magnitude in a list, as a number on its device.
Tensor largest(const ParamList& list) {
  const Tensor out = make_tensor(IntArrayRef(), kDouble, list.device);
  grad_norm_slot(list.device.type(), out, list, std::numeric_limits<double>::infinity());
  return out;
}

bool is_finite(const Tensor& t) { return t.isfinite().all().item<bool>(); }

NonFiniteGradient first_non_finite(const std::vector<std::vector<Tensor>>& parameters) {
  for (size_t g = 0; g < parameters.size(); ++g)
    for (size_t i = 0; i < parameters[g].size(); ++i) {
      const Tensor& grad = parameters[g][i].grad();
      if (grad.defined() && !is_finite(grad)) return {g, i, {}};
    }
  TAEDA_INTERNAL_ASSERT(false, "the gradients' norm is not finite, but all of them are");
  return {};
}

std::string name_of(const Tensor& parameter, const GradScaler::Names& names) {
  for (const auto& item : names)
    if (item.value().is_same(parameter)) return item.key();
  return {};
}

}  // namespace

std::string NonFiniteGradient::str() const {
  return name.empty() ? detail::concat("parameter ", index, " of group ", group) : name;
}

GradScaler::GradScaler(Device device, double init_scale, double growth_factor,
                       double backoff_factor, int64_t growth_interval, bool enabled)
    : device_(device),
      enabled_(enabled),
      state_{init_scale, growth_factor, backoff_factor, growth_interval, 0} {
  TAEDA_CHECK_VALUE(!enabled || growth_factor > 1, "The growth factor must be > 1.0.");
  TAEDA_CHECK_VALUE(!enabled || backoff_factor < 1, "The backoff factor must be < 1.0.");
}

Tensor GradScaler::scale(const Tensor& outputs) {
  if (!enabled_) return outputs;
  used_ = true;
  const bool widen = outputs.dim() == 0 && is_reduced_floating(outputs.dtype());
  return (widen ? outputs.to(kFloat) : outputs).mul(state_.scale);
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> scaled;
  scaled.reserve(outputs.size());
  for (const Tensor& t : outputs) scaled.push_back(scale(t));
  return scaled;
}

void GradScaler::check_scaled(const char* function) const {
  TAEDA_CHECK(used_, "Attempted ", function,
              " but _scale is None.  This may indicate your script did not use "
              "scaler.scale(loss or outputs) earlier in the iteration.");
}

void GradScaler::unscale(const void* optimizer, const Parameters& parameters) {
  check_scaled("unscale_");
  const auto found = optimizers_.find(optimizer);
  const Stage stage = found == optimizers_.end() ? Stage::Ready : found->second.stage;
  TAEDA_CHECK(stage != Stage::Unscaled,
              "unscale_() has already been called on this optimizer since the last update().");
  TAEDA_CHECK(stage != Stage::Stepped, "unscale_() is being called after step().");
  NoGradGuard no_grad;
  const std::vector<ParamList> lists = gradient_lists(parameters);
  TAEDA_CHECK(!lists.empty(), "No inf checks were recorded for this optimizer.");
  // All devices are given their work before the first result is waited for.
  std::vector<Tensor> norms;
  for (const ParamList& list : lists) {
    norms.push_back(largest(list));
    grad_scale_slot(list.device.type(), list, 1 / state_.scale);
  }
  for (const auto& group : parameters) taeda::detail::bump_gradients(group);
  PerOptimizer& entry = optimizers_[optimizer];
  entry.stage = Stage::Unscaled;
  for (const Tensor& norm : norms)
    if (!std::isfinite(norm.item<double>())) {
      entry.non_finite = first_non_finite(parameters);
      break;
    }
}

std::optional<NonFiniteGradient> GradScaler::before_step(const void* optimizer,
                                                         const Parameters& parameters,
                                                         const Names& names) {
  check_scaled("step");
  const auto found = optimizers_.find(optimizer);
  const Stage stage = found == optimizers_.end() ? Stage::Ready : found->second.stage;
  TAEDA_CHECK(stage != Stage::Stepped, "step() has already been called since the last update().");
  if (stage == Stage::Ready) unscale(optimizer, parameters);
  PerOptimizer& entry = optimizers_[optimizer];
  entry.stage = Stage::Stepped;
  std::optional<NonFiniteGradient> bad = entry.non_finite;
  if (bad) bad->name = name_of(parameters[bad->group][bad->index], names);
  return bad;
}

void GradScaler::update(std::optional<double> new_scale) {
  if (!enabled_) return;
  check_scaled("update");
  if (new_scale) {
    state_.scale = *new_scale;
  } else {
    TAEDA_CHECK(!optimizers_.empty(), "No inf checks were recorded prior to update.");
    const bool bad = std::any_of(optimizers_.begin(), optimizers_.end(), [](const auto& item) {
      return item.second.non_finite.has_value();
    });
    if (bad) {
      state_.scale *= state_.backoff_factor;
      state_.growth_tracker = 0;
    } else if (++state_.growth_tracker == state_.growth_interval) {
      const double grown = state_.scale * state_.growth_factor;
      // The scale meets float32 numbers; where it would leave their range it stays.
      if (std::isfinite(static_cast<float>(grown))) state_.scale = grown;
      state_.growth_tracker = 0;
    }
  }
  optimizers_.clear();
}

OrderedDict<std::string, double> GradScaler::state_dict() const {
  OrderedDict<std::string, double> out;
  if (!enabled_) return out;
  out.insert("scale", state_.scale);
  out.insert("growth_factor", state_.growth_factor);
  out.insert("backoff_factor", state_.backoff_factor);
  out.insert("growth_interval", static_cast<double>(state_.growth_interval));
  out.insert("_growth_tracker", static_cast<double>(state_.growth_tracker));
  return out;
}

void GradScaler::load_state_dict(const OrderedDict<std::string, double>& state) {
  if (!enabled_) return;
  TAEDA_CHECK(!state.is_empty(),
              "The source state dict is empty, possibly because it was saved from a disabled "
              "instance of GradScaler.");
  const auto number = [&](const char* name) {
    const double* found = state.find(name);
    TAEDA_CHECK(found, "the state of a GradScaler lacks \"", name, "\"");
    return *found;
  };
  state_ = {number("scale"), number("growth_factor"), number("backoff_factor"),
            static_cast<int64_t>(number("growth_interval")),
            static_cast<int64_t>(number("_growth_tracker"))};
}

}  // namespace taeda::amp
