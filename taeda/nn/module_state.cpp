// State dicts of modules.
#include <ostream>

#include "taeda/base/nearest.h"
#include "taeda/io/keyed_archive.h"
#include "taeda/nn/module.h"

#include <atomic>
#include <iostream>

#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn {

void Module::collect_state(OrderedDict<std::string, Tensor>& out, const std::string& prefix) const {
  for (const auto& [name, tensor] : parameters_)
    if (tensor.defined()) out.insert(prefix + name, tensor.detach());
  for (const auto& [name, tensor] : buffers_)
    if (tensor.defined() && !transient_buffers_.contains(name))
      out.insert(prefix + name, tensor.detach());
  for (const auto& [name, child] : children_) child->collect_state(out, prefix + name + ".");
}

OrderedDict<std::string, Tensor> Module::state_dict(const std::string& prefix) const {
  OrderedDict<std::string, Tensor> out;
  collect_state(out, prefix);
  return out;
}

namespace {

std::string quoted_list(const std::vector<std::string>& keys) {
  std::string out;
  for (const std::string& key : keys) out += (out.empty() ? "\"" : ", \"") + key + "\"";
  return out;
}

std::string mismatch(const std::string& key, const Tensor& given, const Tensor& own) {
  return taeda::detail::concat(
      "size mismatch for ", key, ": copying a param with shape torch.Size(", given.sizes(),
      ") from checkpoint, the shape in current model is torch.Size(", own.sizes(), ").");
}

/// Says once in a program that values are lost.
void warn_of_meta(const std::string& key) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    std::cerr << "Warning: for " << key
              << ": copying from a non-meta parameter in the checkpoint to a meta parameter in the "
                 "current model, which is a no-op. (Did you mean to pass `assign=true`?)\n";
}

/// Gives the module's tensors the memory of those in `state`; `own` are the keys that it may have.
void assign_state(Module& m, const std::string& prefix, const OrderedDict<std::string, Tensor>& own,
                  const OrderedDict<std::string, Tensor>& state) {
  const auto assign = [&](const OrderedDict<std::string, Tensor>& tensors) {
    for (const auto& [name, tensor] : tensors) {
      const Tensor* given = own.contains(prefix + name) ? state.find(prefix + name) : nullptr;
      if (!given) continue;
      tensor.set_data(given->detach());
      tensor.mutable_grad().reset();  // it belongs to the values that were there
    }
  };
  assign(m.named_parameters(false));
  assign(m.named_buffers(false));
  for (const auto& [name, child] : m.named_children())
    assign_state(*child, prefix + name + ".", own, state);
}

/// What keeps the tensors of `state` from becoming the module's own.
void check_assignable(const Module& m, const OrderedDict<std::string, Tensor>& state,
                      std::vector<std::string>& errors) {
  for (const auto& [key, tensor] : m.named_parameters())
    if (const Tensor* given = state.find(key);
        given && tensor.requires_grad() && !is_differentiable(given->dtype()))
      errors.push_back(taeda::detail::concat(
          "While assigning ", key, ": only Tensors of floating point and complex dtype can ",
          "require gradients, got ", to_string(given->dtype())));
}

}  // namespace

IncompatibleKeys Module::load_state_dict(const OrderedDict<std::string, Tensor>& state, bool strict,
                                         bool assign) {
  const OrderedDict<std::string, Tensor> own = state_dict();
  IncompatibleKeys keys;
  std::vector<std::string> errors;
  for (const auto& [key, tensor] : own) {
    const Tensor* given = state.find(key);
    if (!given)
      keys.missing.push_back(key);
    else if (!(given->sizes() == tensor.sizes()))
      errors.push_back(mismatch(key, *given, tensor));
  }
  if (assign) check_assignable(*this, state, errors);
  for (const auto& [key, tensor] : state)
    if (!own.contains(key)) keys.unexpected.push_back(key);
  if (strict && !keys.unexpected.empty())
    errors.insert(errors.begin(),
                  "Unexpected key(s) in state_dict: " + quoted_list(keys.unexpected) + ". ");
  if (strict && !keys.missing.empty())
    errors.insert(errors.begin(),
                  "Missing key(s) in state_dict: " + quoted_list(keys.missing) + ". ");
  if (!errors.empty()) {
    std::string message = "Error(s) in loading state_dict for " + name() + ":";
    for (const std::string& e : errors) message += "\n\t" + e;
    throw Error(std::move(message));
  }
  NoGradGuard no_grad;
  if (assign) {
    assign_state(*this, "", own, state);
    return keys;
  }
  for (const auto& [key, tensor] : own)
    if (const Tensor* given = state.find(key)) {
      if (tensor.is_meta() && !given->is_meta()) warn_of_meta(key);
      tensor.copy_(*given);
    }
  return keys;
}

std::string IncompatibleKeys::str() const {
  std::string out;
  const auto add = [&out](const char* what, const std::vector<std::string>& names,
                          const char* other, const std::vector<std::string>& others) {
    for (const std::string& name : names) {
      out += (out.empty() ? "" : "\n") + std::string(what) + " " + name;
      const std::string near = nearest_name(name, others);
      if (!near.empty()) out += " (" + near + " " + other + ")";
    }
  };
  add("missing", missing, "was unexpected", unexpected);
  add("unexpected", unexpected, "is missing", missing);
  return out;
}

std::ostream& operator<<(std::ostream& out, const IncompatibleKeys& keys) {
  return out << keys.str();
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& [path, tensor] : state_dict()) archive.write(path, tensor);
}

void Module::load(serialize::InputArchive& archive) {
  OrderedDict<std::string, Tensor> state;
  for (const auto& [path, own] : state_dict()) {
    Tensor tensor;
    if (archive.try_read(path, tensor)) state.insert(path, tensor);
  }
  load_state_dict(state);
}

}  // namespace taeda::nn
