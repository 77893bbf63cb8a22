// An optimizer's state as names, tensors and numbers, and back. Loading makes everything that it
// takes over before it changes the first thing.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "taeda/base/error.h"
#include "taeda/io/keyed_archive.h"
#include "taeda/optim/optimizer.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

/// "group.7.name" without "group.": 7 and "name". Nothing for another name.
std::optional<std::pair<size_t, std::string_view>> numbered(std::string_view key,
                                                            std::string_view group) {
  if (!key.starts_with(group)) return std::nullopt;
  key.remove_prefix(group.size());
  size_t n = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), n);
  key.remove_prefix(static_cast<size_t>(end - key.data()));
  if (error != std::errc() || !key.starts_with('.')) return std::nullopt;
  return std::pair(n, key.substr(1));
}

bool contains(ArrayRef<const char*> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string group_prefix(size_t g) { return taeda::detail::concat("param_groups.", g, "."); }
std::string param_prefix(size_t i) { return taeda::detail::concat("state.", i, "."); }

}  // namespace

OptimizerState Optimizer::state_dict() const {
  bring_up_to_date();
  OptimizerState out;
  out.kind = kind();
  size_t index = 0;
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    const std::string group = group_prefix(g);
    out.numbers.insert(group + "size", static_cast<double>(param_groups_[g].params().size()));
    param_groups_[g].options().clone()->visit(
        [&](const char* name, double value) { return out.numbers.insert(group + name, value); });
    for (const Tensor& param : param_groups_[g].params()) {
      const ParamState& s = known_state(param);
      const std::string prefix = param_prefix(index++);
      if (s.step == 0) continue;
      out.numbers.insert(prefix + "step", static_cast<double>(s.step));
      for (size_t k = 0; k < state_names().size(); ++k)
        if (s.tensors[k].defined()) out.tensors.insert(prefix + state_names()[k], s.tensors[k]);
      for (size_t k = 0; k < number_names().size(); ++k)
        out.numbers.insert(prefix + number_names()[k], s.numbers[k]);
    }
  }
  return out;
}

/// Class, groups, and that there is a place for everything.
void Optimizer::check_names(const OptimizerState& state) const {
  TAEDA_CHECK_VALUE(state.kind.empty() || state.kind == kind(),
                    "loaded state dict is that of an optimizer of class ", state.kind,
                    ", but this one is of class ", kind());
  size_t given = 0;
  while (state.numbers.contains(group_prefix(given) + "size")) ++given;
  TAEDA_CHECK_VALUE(given == param_groups_.size(),
                    "loaded state dict has a different number of parameter groups");
  for (size_t g = 0; g < param_groups_.size(); ++g)
    TAEDA_CHECK_VALUE(state.numbers[group_prefix(g) + "size"] ==
                          static_cast<double>(param_groups_[g].params().size()),
                      "loaded state dict contains a parameter group that doesn't match the size of "
                      "optimizer's group");
  const size_t params = size();
  const auto check = [&](const std::string& name, bool known) {
    TAEDA_CHECK_VALUE(known, "loaded state dict has \"", name, "\", for which this ", kind(),
                      " has no place");
  };
  for (const auto& item : state.tensors) {
    const auto found = numbered(item.key(), "state.");
    check(item.key(), found && found->first < params && contains(state_names(), found->second));
  }
  std::vector<const char*> options = {"size"};
  defaults_->clone()->visit([&](const char* name, double value) {
    options.push_back(name);
    return value;
  });
  for (const auto& item : state.numbers) {
    const auto of_param = numbered(item.key(), "state.");
    const auto of_group = numbered(item.key(), "param_groups.");
    const bool to_param =
        of_param && of_param->first < params &&
        (of_param->second == "step" || contains(number_names(), of_param->second));
    check(item.key(), to_param || (of_group && of_group->first < param_groups_.size() &&
                                   contains(options, of_group->second)));
  }
}

/// The group's options with the loaded numbers, which fit together.
std::unique_ptr<OptimizerOptions> Optimizer::loaded_options(const OptimizerState& state,
                                                            size_t group) const {
  std::unique_ptr<OptimizerOptions> options = param_groups_[group].options().clone();
  options->visit([&](const char* name, double value) {
    const double* found = state.numbers.find(group_prefix(group) + name);
    return found ? *found : value;
  });
  options->check();
  return options;
}

ParamState Optimizer::loaded_param(const OptimizerState& state, const std::string& prefix,
                                   const Tensor& param) const {
  ParamState out;
  const double* step = state.numbers.find(prefix + "step");
  TAEDA_CHECK_VALUE(!step || (*step >= 0 && *step < 0x1p53 && *step == std::floor(*step)),
                    "loaded state dict has ", prefix, "step of ", *step);
  if (step) out.step = static_cast<int64_t>(*step);
  for (size_t k = 0; k < state_names().size(); ++k) {
    const std::string name = prefix + state_names()[k];
    const Tensor* saved = state.tensors.find(name);
    const std::optional<DimVector> sizes = state_sizes(k, param);
    TAEDA_CHECK_VALUE(saved || out.step == 0 || !sizes || k >= lasting_states(),
                      "loaded state dict lacks ", name);
    if (!saved) continue;
    TAEDA_CHECK_VALUE(out.step > 0, "loaded state dict has ", name, ", but no step");
    TAEDA_CHECK_VALUE(sizes && saved->sizes() == IntArrayRef(*sizes), "loaded state dict has ",
                      name, " of shape ", saved->sizes(), " for a parameter of shape ",
                      param.sizes());
    TAEDA_CHECK_VALUE(saved->is_floating_point(), "loaded state dict has ", name, " of dtype ",
                      to_string(saved->dtype()));
    out.tensors[k] = saved->sizes() == param.sizes()
                         ? empty_for(param)
                         : make_tensor(Layout::contiguous(*sizes), param.dtype(), param.device());
    out.tensors[k].copy_(*saved);
  }
  for (size_t k = 0; k < number_names().size(); ++k) {
    const std::string name = prefix + number_names()[k];
    const double* saved = state.numbers.find(name);
    TAEDA_CHECK_VALUE(saved || out.step == 0, "loaded state dict lacks ", name);
    if (saved) out.numbers[k] = *saved;
  }
  return out;
}

void Optimizer::load_state_dict(const OptimizerState& state) {
  check_names(state);
  bring_up_to_date();
  NoGradGuard no_grad;
  std::vector<std::unique_ptr<OptimizerOptions>> options;
  ParamStateMap states;
  size_t index = 0;
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    options.push_back(loaded_options(state, g));
    for (const Tensor& param : param_groups_[g].params()) {
      ParamState loaded = loaded_param(state, param_prefix(index++), param);
      if (loaded.step == 0) continue;
      ParamStateMap::Pointer& place = states[param.unsafe_impl()] = make_param_state();
      static_cast<ParamState&>(*place) = std::move(loaded);
    }
  }
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    // The object stays: others may refer to it.
    std::vector<double> values;
    options[g]->visit([&](const char*, double value) { return values.emplace_back(value); });
    auto next = values.begin();
    param_groups_[g].options().visit([&](const char*, double) { return *next++; });
  }
  state_ = std::move(states);
}

void OptimizerOptions::serialize(serialize::OutputArchive& archive) const {
  clone()->visit([&](const char* name, double value) {
    archive.write(name, IValue(value));
    return value;
  });
}

void OptimizerOptions::serialize(serialize::InputArchive& archive) {
  visit([&](const char* name, double) {
    IValue value;
    archive.read(name, value);
    return value.toDouble();
  });
}

void Optimizer::save(serialize::OutputArchive& archive) const { archive << *this; }

void Optimizer::load(serialize::InputArchive& archive) { archive >> *this; }

}  // namespace taeda::inline v0_2::optim
