#include "taeda/amp/grad_scaler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "taeda/amp/scaling.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/gradient_lists.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::amp {

namespace {

std::vector<Tensor> all_of(const std::vector<std::vector<Tensor>>& parameters) {
  std::vector<Tensor> all;
  for (const auto& group : parameters) all.insert(all.end(), group.begin(), group.end());
  return all;
}

bool is_finite(const Tensor& t) { return t.isfinite().all().item<bool>(); }

NonFiniteGradient first_non_finite(const std::vector<std::vector<Tensor>>& parameters) {
  for (size_t g = 0; g < parameters.size(); ++g)
    for (size_t i = 0; i < parameters[g].size(); ++i) {
      const Tensor& grad = parameters[g][i].grad();
      if (grad.defined() && !is_finite(grad)) return {g, i, {}};
    }
  TAEDA_INTERNAL_ASSERT(false, "a gradient was not finite, but all of them are");
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

namespace {

double checked_scale(double scale) {
  TAEDA_CHECK_VALUE(std::isfinite(scale) && scale > 0,
                    "The scale must be a number above 0, but got ", scale);
  return scale;
}

void check_factors(double growth, double backoff, int64_t interval) {
  TAEDA_CHECK_VALUE(growth > 1, "The growth factor must be > 1.0, but got ", growth);
  TAEDA_CHECK_VALUE(backoff < 1, "The backoff factor must be < 1.0, but got ", backoff);
  TAEDA_CHECK_VALUE(backoff > 0, "The backoff factor must be > 0.0, but got ", backoff);
  TAEDA_CHECK_VALUE(interval > 0, "The growth interval must be positive, but got ", interval);
}

}  // namespace

GradScaler::GradScaler(Device device, double init_scale, double growth_factor,
                       double backoff_factor, int64_t growth_interval, bool enabled)
    : device_(device), enabled_(enabled), live_(std::make_shared<Live>()) {
  live_->state = {init_scale, growth_factor, backoff_factor, growth_interval, 0};
  if (!enabled) return;
  check_factors(growth_factor, backoff_factor, growth_interval);
  checked_scale(init_scale);
}

/// What the host knows; after replays, what the device does.
const GradScaler::State& GradScaler::state() const {
  if (!live_->captured || live_->newer) return live_->state;
  const Tensor numbers = live_->numbers.cpu();
  live_->state.scale = numbers.data_ptr<double>()[0];
  live_->state.growth_tracker = static_cast<int64_t>(numbers.data_ptr<double>()[1]);
  return live_->state;
}

/// For a change by the host.
GradScaler::State& GradScaler::changed_state() {
  state();
  live_->newer = true;
  return live_->state;
}

Tensor GradScaler::scale(const Tensor& outputs) {
  if (!enabled_) return outputs;
  const bool widen = outputs.dim() == 0 && is_reduced_floating(outputs.dtype());
  const Tensor wide = widen ? outputs.to(kFloat) : outputs;
  if (is_current_stream_capturing(outputs.device())) return scale_in_graph(wide);
  used_ = true;
  // Made now, because a graph could not: what it allocates is its own.
  if (!live_->numbers.defined()) live_->numbers = make_tensor({2}, kDouble, outputs.device());
  return wide.mul(state().scale);
}

Tensor GradScaler::scale_in_graph(const Tensor& outputs) {
  TAEDA_CHECK(live_->numbers.defined() && live_->numbers.device() == outputs.device(),
              "a GradScaler's first iteration on a device cannot be captured: run some before the "
              "capture");
  live_->captured = true;
  live_factors();  // brings a scale that the host changed
  return outputs.mul(live_->numbers.select(0, 0).to(outputs.dtype()));
}

/// Growth factor, backoff factor and growth interval in device memory that replays bring up to
/// date, and with them the scale, if the host changed it.
GraphNumbers GradScaler::live_factors() const {
  return graph_numbers(live_->numbers.device(), 3, [live = std::weak_ptr(live_)](double* out) {
    const std::shared_ptr<Live> l = live.lock();
    TAEDA_CHECK(l, "the GradScaler whose iteration was captured is gone");
    out[0] = l->state.growth_factor;
    out[1] = l->state.backoff_factor;
    out[2] = static_cast<double>(l->state.growth_interval);
    if (!std::exchange(l->newer, false)) return;
    const Tensor now = make_tensor({2}, kDouble, kCPU);
    now.data_ptr<double>()[0] = l->state.scale;
    now.data_ptr<double>()[1] = static_cast<double>(l->state.growth_tracker);
    NoGradGuard no_grad;
    l->numbers.copy_(now);
  });
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
  const std::vector<ParamList> lists = scaled_gradients(all_of(parameters), /*allow_half=*/false);
  TAEDA_CHECK(!lists.empty(), "No inf checks were recorded for this optimizer.");
  if (is_current_stream_capturing(lists[0].device())) {
    unscale_in_graph(optimizer, lists);
  } else {
    unscale_now(optimizer, lists, parameters);
  }
  for (const auto& group : parameters) taeda::detail::bump_gradients(group);
}

void GradScaler::unscale_now(const void* optimizer, const std::vector<ParamList>& lists,
                             const Parameters& parameters) {
  // All devices are given their work before the first result is waited for.
  std::vector<ParamList> given = lists;
  std::vector<Tensor> found;
  multiply_gradients(given, 1 / state().scale, {}, found);
  const Device device = lists[0].device();
  if (Tensor& skip = live_->skip[optimizer]; !skip.defined()) {
    skip = make_tensor({2}, kDouble, device);
    skip.zero_();
  }
  PerOptimizer& entry = optimizers_[optimizer];
  entry.stage = Stage::Unscaled;
  for (const Tensor& t : found)
    if (t.item<double>() != 0) {
      entry.non_finite = first_non_finite(parameters);
      break;
    }
}

void GradScaler::unscale_in_graph(const void* optimizer, std::vector<ParamList> lists) {
  const auto found = live_->skip.find(optimizer);
  TAEDA_CHECK(found != live_->skip.end() && found->second.defined(),
              "a GradScaler's first iteration with an optimizer cannot be captured: run some "
              "before the capture");
  const Tensor& skip = found->second;
  const Tensor factor = live_->numbers.select(0, 0).reciprocal();
  for (const ParamList& list : lists)
    TAEDA_CHECK(list.device() == skip.device(), "a captured iteration has gradients on ",
                list.device(), " and on ", skip.device());
  std::vector<Tensor> non_finite;
  multiply_gradients(lists, 1, factor, non_finite);
  skip.select(0, 0).copy_(non_finite[0]);
  optimizers_[optimizer] = {Stage::Unscaled, true, {}};
}

Tensor GradScaler::captured_skip(const void* optimizer) const {
  const auto found = optimizers_.find(optimizer);
  const bool captured = found != optimizers_.end() && found->second.captured;
  return captured ? live_->skip.at(optimizer) : Tensor();
}

void GradScaler::count_step(const Tensor& skip) {
  NoGradGuard no_grad;
  skip.select(0, 1).add_(skip.select(0, 0));
}

void GradScaler::throw_no_captured_step() {
  throw Error("a captured GradScaler needs an optimizer with step_unless, as those of optim are");
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
  if (new_scale) checked_scale(*new_scale);
  check_factors(live_->state.growth_factor, live_->state.backoff_factor,
                live_->state.growth_interval);  // which a program may have set since
  TAEDA_CHECK(new_scale || !optimizers_.empty(), "No inf checks were recorded prior to update.");
  const auto any = [&](auto&& condition) {
    return std::any_of(optimizers_.begin(), optimizers_.end(),
                       [&](const auto& item) { return condition(item.second); });
  };
  if (live_->numbers.defined() && is_current_stream_capturing(live_->numbers.device())) {
    update_in_graph(new_scale);
  } else if (new_scale) {
    changed_state().scale = *new_scale;
  } else {
    const bool captured = any([](const PerOptimizer& entry) { return entry.captured; });
    if (captured) optimizers_.clear();  // the next iteration begins anew
    TAEDA_CHECK(!captured, "update() belongs into the capture that its iteration's step is in");
    State& s = changed_state();
    auto tracker = static_cast<double>(s.growth_tracker);
    ScaleFactors{s.growth_factor, s.backoff_factor, static_cast<double>(s.growth_interval)}.next(
        s.scale, tracker,
        any([](const PerOptimizer& entry) { return entry.non_finite.has_value(); }));
    s.growth_tracker = static_cast<int64_t>(tracker);
  }
  optimizers_.clear();
}

void GradScaler::update_in_graph(std::optional<double> new_scale) {
  NoGradGuard no_grad;
  live_->captured = true;
  if (new_scale) {
    live_->numbers.select(0, 0).fill_(*new_scale);
    return;
  }
  Tensor found_inf;
  for (const auto& [optimizer, entry] : optimizers_) {
    TAEDA_CHECK(entry.captured, "an iteration was begun before the capture that ends it");
    const Tensor one = live_->skip.at(optimizer).select(0, 0);
    found_inf = found_inf.defined() ? found_inf.add(one) : one;
  }
  const ScaleUpdate update(Numbers(live_->numbers), live_factors(), Numbers(found_inf));
  scale_update_slot(update.device().type(), update);
}

OrderedDict<std::string, double> GradScaler::state_dict() const {
  OrderedDict<std::string, double> out;
  if (!enabled_) return out;
  const State& now = this->state();
  out.insert("scale", now.scale);
  out.insert("growth_factor", now.growth_factor);
  out.insert("backoff_factor", now.backoff_factor);
  out.insert("growth_interval", static_cast<double>(now.growth_interval));
  out.insert("_growth_tracker", static_cast<double>(now.growth_tracker));
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
  const auto count = [&](const char* name) {
    const double value = number(name);
    TAEDA_CHECK_VALUE(value >= 0 && value < 0x1p63, "the state of a GradScaler has ", value,
                      " as \"", name, "\", which is no count");
    return static_cast<int64_t>(value);
  };
  const State loaded{checked_scale(number("scale")), number("growth_factor"),
                     number("backoff_factor"), count("growth_interval"), count("_growth_tracker")};
  check_factors(loaded.growth_factor, loaded.backoff_factor, loaded.growth_interval);
  live_->state = loaded;
  live_->newer = true;
}

}  // namespace taeda::inline v0_2::amp
