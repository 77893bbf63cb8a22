#include "taeda/nn/module.h"

#include <algorithm>
#include <ostream>
#include <typeinfo>

#include "taeda/base/type_name.h"
#include "taeda/nn/hooks.h"
#include "taeda/nn/libtorch_style.h"
#include "taeda/nn/settings.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/gradient_lists.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {
template class OrderedDict<std::string, Tensor>;
template class OrderedDict<std::string, std::shared_ptr<nn::Module>>;
}  // namespace taeda::inline v0_2

namespace taeda::inline v0_2::nn {

namespace {

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

/// "taeda::nn::Conv2dImpl" becomes "Conv2d".
std::string class_name(const char* mangled) {
  std::string name = taeda::detail::short_type_name(mangled);
  name.resize(std::min(name.size(), name.find('<')));
  if (name.size() > 4 && name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

/// Calls `f(path, module)` for the tree, parents first; a shared module comes once for each place.
template <class M, class F>
void walk(M& module, const std::string& path, const F& f) {
  f(path, module);
  for (const auto& [name, child] : module.named_children()) walk<M>(*child, join(path, name), f);
}

/// The defined tensors among `own(module)`, each once; with `recurse` those of the whole tree.
template <class F>
OrderedDict<std::string, Tensor> tensors_of(const Module& module, const char* what, bool recurse,
                                            const F& own) {
  OrderedDict<std::string, Tensor> out(what);
  std::unordered_set<const TensorImpl*> seen;
  const auto add = [&](const std::string& path, const Module& m) {
    for (const auto& [name, tensor] : own(m))
      if (tensor.defined() && seen.insert(tensor.unsafe_impl()).second)
        out.insert(join(path, name), tensor);
  };
  if (recurse)
    walk(module, "", add);
  else
    add("", module);
  return out;
}

std::string indent(const std::string& text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

}  // namespace

Module::Module() = default;
Module::Module(std::string name) : name_(std::move(name)) {}
Module::Module(const Module&) = default;
Module& Module::operator=(const Module&) = default;
Module::~Module() = default;

std::string Module::name() const {
  if (name_) return *name_;
  return dialect_ == Dialect::Libtorch ? detail::libtorch_class_name(*this)
                                       : class_name(typeid(*this).name());
}

void Module::set_dialect(Dialect dialect) {
  if (dialect_ != dialect) dialect_ = dialect;
  for (const auto& [name, child] : children_) child->set_dialect(dialect);
}

void Module::copy_mode_to(Module& copy) const {
  copy.train(training_);
  copy.set_dialect(dialect_);
}

std::string detail::short_name(const Module& module) {
  std::string name = module.name();
  if (module.dialect() == Dialect::Python || name != libtorch_class_name(module)) return name;
  return class_name(typeid(module).name());
}

void Module::check_name(const char* kind, const std::string& name) const {
  TAEDA_CHECK(!name.empty(), kind, " name must not be empty");
  TAEDA_CHECK(name.find('.') == std::string::npos, kind, " name must not contain a dot (got '",
              name, "')");
  const auto taken = [&](const auto& dict) {
    TAEDA_CHECK(!dict.contains(name), dict.description(), " '", name, "' already defined");
  };
  taken(parameters_);
  taken(buffers_);
  taken(children_);
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  if (tensor.defined()) {
    TAEDA_CHECK(tensor.is_leaf(), "Cannot assign non-leaf Tensor to parameter '", name,
                "'. Model parameters must be created explicitly. To express '", name,
                "' as a function of another Tensor, compute the value in the forward() method.");
    tensor.requires_grad_(requires_grad);
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor, bool persistent) {
  check_name("Buffer", name);
  if (!persistent) transient_buffers_.insert(name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

/// Throws if `module` cannot become a part of this one.
void Module::check_child(const std::string& name, const Module* module) const {
  TAEDA_CHECK(module, "Submodule '", name, "' is empty: register a module, not nullptr");
  TAEDA_CHECK(!module->has_below(*this), "Submodule '", name, "' of ", detail::short_name(*this),
              module == this ? " is that module itself" : " contains that module",
              ": a module cannot be a part of itself");
}

bool Module::has_below(const Module& wanted) const {
  if (this == &wanted) return true;
  for (const auto& [name, child] : children_)
    if (child->has_below(wanted)) return true;
  return false;
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  check_child(name, module.get());
  module->key_ = name;
  if (module->dialect_ == Dialect::Libtorch) dialect_ = Dialect::Libtorch;
  children_.insert(std::move(name), std::move(module));
}

void Module::replace_child(const std::string& name, std::shared_ptr<Module> module) {
  check_child(name, module.get());
  std::shared_ptr<Module>& place = children_[name];
  module->key_ = name;
  place = std::move(module);
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  return tensors_of(
      *this, "Parameter", recurse, [](const Module& m) -> auto& { return m.parameters_; });
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  return tensors_of(
      *this, "Buffer", recurse, [](const Module& m) -> auto& { return m.buffers_; });
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}
std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

std::shared_ptr<Module> Module::shared_self() const {
  auto self = std::const_pointer_cast<Module>(weak_from_this().lock());
  TAEDA_CHECK(self,
              "It looks like you attempted to retrieve your top-level module as a shared_ptr, but "
              "it is not stored "
              "in a shared_ptr. Use std::make_shared<",
              detail::short_name(*this),
              "> instead of creating your module on the stack, or "
              "alternatively do not try to access your top-level module at all by passing "
              "include_self=false");
  return self;
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> out("Submodule");
  std::unordered_set<const Module*> seen{this};
  if (include_self) out.insert(prefix, shared_self());
  const std::function<void(const Module&, const std::string&)> add = [&](const Module& m,
                                                                         const std::string& path) {
    for (const auto& [name, child] : m.children_) {
      if (!seen.insert(child.get()).second) continue;
      out.insert(join(path, name), child);
      add(*child, join(path, name));
    }
  };
  add(*this, prefix);
  return out;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules("", include_self).values();
}

void Module::for_all(const NamedModuleFunction& f, const std::string& prefix) {
  walk(*this, prefix, f);
}

void Module::convert(const std::function<Tensor(const Tensor&)>& f, bool recurse) {
  NoGradGuard no_grad;
  const auto convert_one = [&](const Tensor& t) {
    if (!t.defined()) return;
    const Tensor converted = f(t);
    if (!converted.is_same(t)) t.set_data(converted);
    if (const Tensor grad = t.grad(); grad.defined()) t.mutable_grad() = f(grad);
  };
  const auto convert_own = [&](const std::string&, Module& m) {
    for (const auto& [name, tensor] : m.parameters_) convert_one(tensor);
    for (const auto& [name, tensor] : m.buffers_) convert_one(tensor);
  };
  if (recurse)
    walk(*this, "", convert_own);
  else
    convert_own("", *this);
}

namespace {
void check_has_data(const Tensor& t, Device to) {
  if (t.is_meta() && !to.is_meta())
    throw NotImplementedError(
        "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
        "torch.nn.Module.to() when moving module from meta to a different device.");
}

void check_parameter_dtype(ScalarType dtype) {
  TAEDA_CHECK_TYPE(is_differentiable(dtype),
                   "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                   "dtype=torch.",
                   dtype_name(dtype));
}
}  // namespace

void Module::to(Device device, ScalarType dtype, bool non_blocking) {
  check_parameter_dtype(dtype);
  for (const auto& [name, child] : children_) child->to(device, dtype, non_blocking);
  const auto converted = [&](const Tensor& t) {
    check_has_data(t, device);
    return t.to(device, is_differentiable(t.dtype()) ? dtype : t.dtype(), non_blocking);
  };
  convert(converted, false);
}

void Module::to(Device device, bool non_blocking) {
  for (const auto& [name, child] : children_) child->to(device, non_blocking);
  const auto converted = [&](const Tensor& t) {
    check_has_data(t, device);
    return t.to(device, non_blocking);
  };
  convert(converted, false);
}

Module& Module::to_empty(Device device, bool recurse) {
  convert([&](const Tensor& t) { return empty_like(t, TensorOptions().device(device)); }, recurse);
  return *this;
}

void Module::to(ScalarType dtype, bool non_blocking) {
  check_parameter_dtype(dtype);
  for (const auto& [name, child] : children_) child->to(dtype, non_blocking);
  const auto converted = [&](const Tensor& t) {
    return is_differentiable(t.dtype()) ? t.to(dtype, non_blocking) : t;
  };
  convert(converted, false);
}

void Module::train(bool on) {
  training_ = on;
  for (const auto& [name, child] : children_) child->train(on);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& p : parameters()) taeda::detail::clear_gradient(p, set_to_none);
}

Module& Module::requires_grad_(bool on) {
  for (const Tensor& p : parameters()) p.requires_grad_(on);
  return *this;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  throw NotImplementedError(
      taeda::detail::concat("clone() has not been implemented for ", detail::short_name(*this),
                            ". Subclass "
                            "taeda::nn::Cloneable<",
                            detail::short_name(*this),
                            "> instead of taeda::nn::Module to inherit the ability to clone."));
}

void Module::clone_from(const Module&, const std::optional<Device>&) { (void)clone(); }

void Module::pretty_print(std::ostream& out) const {
  if (dialect_ == Dialect::Libtorch) return detail::print_libtorch_line(out, *this);
  out << name();
  if (children_.empty()) out << '(' << extra_repr() << ')';
}

std::string Module::extra_repr() const {
  Settings shown(Dialect::Python);
  settings(shown);
  return shown.text();
}

std::string Module::repr() const {
  std::ostringstream out;
  if (dialect_ == Dialect::Libtorch) {
    detail::print_libtorch_tree(out, *this);
    return std::move(out).str();
  }
  pretty_print(out);
  if (children_.empty()) return std::move(out).str();
  out << "(\n";
  if (const std::string extra = extra_repr(); !extra.empty()) out << "  " << indent(extra) << '\n';
  for (const auto& [name, child] : children_)
    out << "  (" << name << "): " << indent(child->repr()) << '\n';
  out << ')';
  return std::move(out).str();
}

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << module.repr(); }

}  // namespace taeda::inline v0_2::nn
