#include "taeda/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::optim {

namespace {

/// Whether elements of both lie in the same order in memory, so that one flat loop covers them.
bool same_memory_order(const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) return true;
  for (int64_t d = 0; d < a.dim(); ++d)
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  return true;
}

Tensor empty_like_in_memory(const Tensor& t) {
  return make_tensor(Layout{t.sizes(), t.strides(), 0}, t.dtype(), t.device());
}

}  // namespace

OptimizerOptions& OptimizerParamGroup::options() {
  TAEDA_CHECK(options_,
              "this parameter group has no options: it was not added to an optimizer yet");
  return *options_;
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  defaults_->check();
  TAEDA_CHECK_VALUE(!groups.empty(), "optimizer got an empty parameter list");
  for (OptimizerParamGroup& group : groups) add_param_group(std::move(group));
  TAEDA_CHECK_VALUE(size() > 0, "optimizer got an empty parameter list");
}

void Optimizer::add_param_group(OptimizerParamGroup group) {
  std::unordered_set<const TensorImpl*> known;
  for (const OptimizerParamGroup& g : groups_)
    for (const Tensor& p : g.params()) known.insert(p.unsafe_impl());
  for (const Tensor& p : group.params()) {
    TAEDA_CHECK_VALUE(p.defined(),
                      "optimizer can only optimize Tensors, but one of the params is undefined");
    TAEDA_CHECK_VALUE(p.is_leaf(), "can't optimize a non-leaf Tensor");
    TAEDA_CHECK_VALUE(known.insert(p.unsafe_impl()).second,
                      "some parameters appear in more than one parameter group");
  }
  if (!group.has_options()) group.set_options(defaults_->clone());
  group.options().check();
  group.states_.resize(group.params().size());
  groups_.push_back(std::move(group));
}

Tensor Optimizer::step(LossClosure closure) {
  Tensor loss;
  if (closure) {
    AutoGradMode with_gradients(true);
    loss = closure();
  }
  NoGradGuard no_grad;
  for (OptimizerParamGroup& group : groups_) step_group(group);
  return loss;
}

void Optimizer::step_group(OptimizerParamGroup& group) {
  for (ParamList& list : lists_) list.items.clear();
  group.states_.resize(group.params_.size());
  if (captures_under_way() > 0) check_capturable(group);
  count_skipped();
  for (size_t i = 0; i < group.params_.size(); ++i) {
    const Tensor& p = group.params_[i];
    if (!p.grad().defined() || p.numel() == 0) continue;
    size_t at = 0;
    while (at < lists_.size() &&
           !(lists_[at].device == p.device() && lists_[at].dtype == p.dtype()))
      ++at;
    if (at == lists_.size()) lists_.push_back({p.device(), p.dtype(), {}});
    if (!add_to_list(group, i, lists_[at])) update_alone(group, i, lists_[at]);
  }
  for (ParamList& list : lists_) {
    if (list.items.empty()) continue;
    if (is_current_stream_capturing(list.device)) make_live(group, list);
    launch(group.options(), list);
    list.skip = nullptr;
  }
  temporaries_.clear();
}

/// Throws Error, before anything has changed, for a step that a graph could not repeat.
void Optimizer::check_capturable(const OptimizerParamGroup& group) const {
  for (size_t i = 0; i < group.params_.size(); ++i) {
    const Tensor& p = group.params_[i];
    if (!p.grad().defined() || p.numel() == 0 || !is_current_stream_capturing(p.device())) continue;
    TAEDA_CHECK(group.states_[i].step > 0,
                "an optimizer's first step cannot be captured, because it makes the state that "
                "later steps need: run some steps before the capture");
    TAEDA_CHECK(p.is_contiguous() || p.layout().is_non_overlapping_and_dense(),
                "a step cannot be captured for parameters whose elements lie apart in memory");
  }
}

/// A captured step counts at each replay, not now: the numbers that depend on the count come from
/// memory that a replay fills in.
void Optimizer::make_live(OptimizerParamGroup& group, ParamList& list) {
  const size_t n = list.items.size(), which = static_cast<size_t>(&group - groups_.data());
  std::vector<size_t> indices;
  for (size_t i = 0; i < group.params_.size(); ++i) {
    const Tensor& p = group.params_[i];
    if (!p.grad().defined() || p.numel() == 0 || p.device() != list.device ||
        p.dtype() != list.dtype)
      continue;
    indices.push_back(i);
    --group.states_[i].step;
  }
  TAEDA_INTERNAL_ASSERT(indices.size() == n, "a list holds other parameters than its group");
  const std::weak_ptr<int> alive = alive_;
  double* live = graph_numbers(list.device, 4 * n, [this, alive, which, indices](double* out) {
    TAEDA_CHECK(!alive.expired(), "the optimizer whose step was captured is gone");
    OptimizerParamGroup& g = groups_[which];
    for (size_t i : indices) {
      ParamRef numbers{};
      ++g.states_[i].step;
      prepare(*g.options_, g.params_[i], g.states_[i], numbers);
      *out++ = numbers.a;
      *out++ = numbers.b;
      *out++ = g.get_lr();
      *out++ = static_cast<double>(g.states_[i].step);
    }
  });
  for (size_t i = 0; i < n; ++i) list.items[i].live = live + 4 * i;
  list.skip = nullptr;
  if (!skip_.defined()) return;
  TAEDA_CHECK(skip_.device() == list.device, "a gradient scaler on ", skip_.device(),
              " cannot decide about a captured step on ", list.device);
  list.skip = skip_.data_ptr<double>();
  auto entry = std::find_if(skippable_.begin(), skippable_.end(),
                            [&](const Skippable& s) { return s.skip.is_same(skip_); });
  if (entry == skippable_.end()) entry = skippable_.insert(entry, {skip_, {}});
  for (size_t i : indices) entry->params.insert({which, i});
}

void Optimizer::step_unless(const Tensor& skip) {
  skip_ = skip;
  try {
    step();
  } catch (...) {
    skip_.reset();
    throw;
  }
  skip_.reset();
}

/// Takes steps that replays left out off the counts.
void Optimizer::count_skipped() const {
  NoGradGuard no_grad;
  for (const Skippable& s : skippable_) {
    if (is_current_stream_capturing(s.skip.device())) continue;
    Tensor counter = s.skip.select(0, 1);
    const auto skipped = static_cast<int64_t>(counter.item<double>());
    if (skipped == 0) continue;
    counter.zero_();
    for (const auto& [group, i] : s.params) groups_[group].states_[i].step -= skipped;
  }
}

/// False if the parameter's elements do not fill one stretch of memory.
bool Optimizer::add_to_list(OptimizerParamGroup& group, size_t i, ParamList& list) {
  const Tensor& p = group.params_[i];
  if (!p.is_contiguous() && !p.layout().is_non_overlapping_and_dense()) return false;
  Tensor grad = p.grad();
  TAEDA_CHECK(grad.sizes() == p.sizes() && grad.device() == p.device(), "a gradient of shape ",
              grad.sizes(), " on ", grad.device(), " does not fit its parameter of shape ",
              p.sizes(), " on ", p.device());
  if (grad.dtype() != p.dtype() || !same_memory_order(grad, p)) {
    Tensor in_order = empty_like_in_memory(p);
    in_order.copy_(grad);
    grad = temporaries_.emplace_back(std::move(in_order));
  }
  ParamState& state = group.states_[i];
  ++state.step;
  ParamRef ref{
      static_cast<char*>(p.data_ptr()), static_cast<const char*>(grad.data_ptr()), {}, p.numel()};
  prepare(*group.options_, p, state, ref);
  for (size_t k = 0; k < ParamState::kMaxTensors; ++k)
    ref.state[k] =
        state.tensors[k].defined() ? static_cast<char*>(state.tensors[k].data_ptr()) : nullptr;
  list.items.push_back(ref);
  bump_version(p);
  return true;
}

/// A parameter with gaps between its elements is updated through a dense copy.
void Optimizer::update_alone(OptimizerParamGroup& group, size_t i, ParamList& list) {
  const Tensor original = group.params_[i];
  Tensor dense = original.detach().clone(MemoryFormat::Contiguous);
  dense.mutable_grad() = original.grad();
  group.params_[i] = dense;
  ParamList single{list.device, list.dtype, {}};
  add_to_list(group, i, single);
  group.params_[i] = original;
  launch(group.options(), single);
  original.copy_(dense);
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : groups_) {
    for (const Tensor& p : group.params()) {
      if (!p.grad().defined()) continue;
      if (set_to_none) {
        p.mutable_grad().reset();
      } else {
        Tensor& grad = p.mutable_grad();
        if (grad.requires_grad()) grad = grad.detach();
        NoGradGuard no_grad;
        grad.zero_();
      }
    }
  }
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> out;
  for (const OptimizerParamGroup& g : groups_)
    out.insert(out.end(), g.params().begin(), g.params().end());
  return out;
}

size_t Optimizer::size() const {
  size_t n = 0;
  for (const OptimizerParamGroup& g : groups_) n += g.params().size();
  return n;
}

const ParamState& Optimizer::state(const Tensor& param) const {
  count_skipped();
  for (const OptimizerParamGroup& g : groups_)
    for (size_t i = 0; i < g.params().size(); ++i)
      if (g.params()[i].is_same(param)) return g.states_[i];
  throw Error("this optimizer does not hold the given parameter");
}

Tensor Optimizer::zeros_for(const Tensor& param) {
  Tensor t = empty_like_in_memory(param);
  t.zero_();
  return t;
}

double Optimizer::bias_correction(int which, double beta, int64_t step) {
  auto& c = corrections_[which];
  if (c.beta != beta || c.step != step)
    c = {beta, step, 1 - std::pow(beta, static_cast<double>(step))};
  return c.value;
}

OptimizerState Optimizer::state_dict() const {
  count_skipped();
  OptimizerState out;
  size_t index = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const std::string group = taeda::detail::concat("param_groups.", g, ".");
    out.numbers.insert(group + "size", static_cast<double>(groups_[g].params().size()));
    groups_[g].options_->visit(
        [&](const char* name, double value) { return out.numbers.insert(group + name, value); });
    for (const ParamState& s : groups_[g].states_) {
      const std::string prefix = taeda::detail::concat("state.", index++, ".");
      if (s.step == 0) continue;
      out.numbers.insert(prefix + "step", static_cast<double>(s.step));
      for (size_t k = 0; k < state_names().size(); ++k)
        if (s.tensors[k].defined()) out.tensors.insert(prefix + state_names()[k], s.tensors[k]);
    }
  }
  return out;
}

void Optimizer::load_state_dict(const OptimizerState& state) {
  size_t given = 0;
  while (state.numbers.contains(taeda::detail::concat("param_groups.", given, ".size"))) ++given;
  TAEDA_CHECK_VALUE(given == groups_.size(),
                    "loaded state dict has a different number of parameter groups");
  for (size_t g = 0; g < groups_.size(); ++g)
    TAEDA_CHECK_VALUE(state.numbers[taeda::detail::concat("param_groups.", g, ".size")] ==
                          static_cast<double>(groups_[g].params().size()),
                      "loaded state dict contains a parameter group that doesn't match the size of "
                      "optimizer's group");
  count_skipped();
  NoGradGuard no_grad;
  size_t index = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].options_->visit([&](const char* name, double value) {
      const double* found =
          state.numbers.find(taeda::detail::concat("param_groups.", g, ".", name));
      return found ? *found : value;
    });
    for (size_t i = 0; i < groups_[g].params().size(); ++i) {
      const std::string prefix = taeda::detail::concat("state.", index++, ".");
      ParamState& s = groups_[g].states_[i] = ParamState();
      if (const double* step = state.numbers.find(prefix + "step"))
        s.step = static_cast<int64_t>(*step);
      for (size_t k = 0; k < state_names().size(); ++k) {
        const Tensor* saved = state.tensors.find(prefix + state_names()[k]);
        if (!saved) continue;
        const Tensor& p = groups_[g].params()[i];
        TAEDA_CHECK_VALUE(saved->sizes() == p.sizes(), "loaded state dict has ", prefix,
                          state_names()[k], " of shape ", saved->sizes(),
                          " for a parameter of shape ", p.sizes());
        s.tensors[k] = zeros_for(p);
        s.tensors[k].copy_(*saved);
      }
    }
  }
}

}  // namespace taeda::optim
