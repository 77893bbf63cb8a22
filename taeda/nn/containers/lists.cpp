#include "taeda/nn/containers/lists.h"

#include <ostream>

#include "taeda/nn/libtorch_style.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn {

namespace {

/// Copies of tensors keep what a parameter is: a leaf with the same requires_grad.
Tensor copy_parameter(const Tensor& tensor, const std::optional<Device>& device) {
  NoGradGuard no_grad;
  Tensor copy =
      device ? tensor.detach().to(*device, false, /*copy=*/true) : tensor.detach().clone();
  return copy.requires_grad_(tensor.requires_grad());
}

/// As Python prints parameter containers: "ParameterList(\n    (0): Parameter containing:
/// [...]\n)".
void print_parameters(std::ostream& out, const std::string& name,
                      const OrderedDict<std::string, Tensor>& parameters) {
  out << name << '(';
  for (const auto& [key, tensor] : parameters) {
    std::string sizes;
    for (int64_t s : tensor.sizes()) sizes += (sizes.empty() ? "" : "x") + std::to_string(s);
    out << "\n    (" << key << "): Parameter containing: [torch." << to_string(tensor.dtype())
        << "Tensor of size " << sizes;
    if (!tensor.is_cpu()) out << " (" << tensor.device() << ')';
    out << ']';
  }
  if (!parameters.empty()) out << '\n';
  out << ')';
}

}  // namespace

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& [name, child] : children_) copy->push_back(child->clone(device));
  copy_mode_to(*copy);
  return copy;
}

void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  TAEDA_CHECK_INDEX(index <= size(), "Index out of range");
  std::vector<std::shared_ptr<Module>> modules = children_.values();
  modules.insert(modules.begin() + static_cast<ptrdiff_t>(index), std::move(module));
  children_.clear();
  for (auto& m : modules) push_back(std::move(m));
}

const std::vector<std::shared_ptr<Module>>& ModuleListImpl::modules_view() const {
  if (view_.size() != children_.size() ||
      !std::equal(view_.begin(), view_.end(), children_.begin(),
                  [](const auto& a, const auto& b) { return a == b.value(); }))
    view_ = children_.values();
  return view_;
}

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  for (const auto& [name, child] : children_) copy->add_child(name, child->clone(device));
  copy_mode_to(*copy);
  return copy;
}

void ModuleDictImpl::update(const Pairs& modules) {
  for (const auto& [name, module] : modules) {
    if (children_.contains(name))
      replace_child(name, module);
    else
      add_child(name, module);
  }
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& name) {
  std::shared_ptr<Module> module = (*this)[name];
  children_.erase(name);
  return module;
}

std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>();
  for (const auto& [name, tensor] : parameters_) copy->append(copy_parameter(tensor, device));
  copy_mode_to(*copy);
  return copy;
}

void ParameterListImpl::append(Tensor tensor) {
  const bool requires_grad = tensor.requires_grad();
  register_parameter(std::to_string(size()), std::move(tensor), requires_grad);
}

void ParameterListImpl::pretty_print(std::ostream& out) const {
  if (dialect() == Dialect::Libtorch) return detail::print_libtorch_line(out, *this);
  print_parameters(out, name(), parameters_);
}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>();
  for (const auto& [name, tensor] : parameters_) copy->insert(name, copy_parameter(tensor, device));
  copy_mode_to(*copy);
  return copy;
}

Tensor& ParameterDictImpl::insert(std::string name, Tensor tensor) {
  const bool requires_grad = tensor.requires_grad();
  return register_parameter(std::move(name), std::move(tensor), requires_grad);
}

Tensor ParameterDictImpl::pop(const std::string& name) {
  Tensor tensor = parameters_[name];
  parameters_.erase(name);
  return tensor;
}

void ParameterDictImpl::pretty_print(std::ostream& out) const {
  if (dialect() == Dialect::Libtorch) return detail::print_libtorch_line(out, *this);
  print_parameters(out, name(), parameters_);
}

}  // namespace taeda::nn
