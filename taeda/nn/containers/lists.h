// Lists and dictionaries of modules and parameters. They have no forward.
#pragma once

#include "taeda/nn/any_module.h"
#include "taeda/nn/cloneable.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

namespace detail {
/// The module itself, of an entry of a dictionary its module.
template <class M>
std::shared_ptr<Module> module_pointer(const M& module) {
  if constexpr (requires { module.value(); })
    return module_pointer(module.value());
  else if constexpr (requires { module.second; })
    return module_pointer(module.second);
  else if constexpr (requires { module.ptr(); })  // a holder or an AnyModule
    return module.ptr();
  else if constexpr (std::is_base_of_v<Module, M>)
    return make_module<M>(module);
  else
    return module;
}
/// A list or a dictionary, or what the holder of one holds.
template <class Container>
const auto& contents(const Container& container) {
  if constexpr (is_holder<Container>)
    return *container;
  else
    return container;
}
}  // namespace detail

/// Modules by position, which are registered as "0", "1" and so on; it has no forward. An index
/// outside of [-size, size) is an IndexError where none is said.
class ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  ModuleListImpl() = default;
  template <class... M>
  explicit ModuleListImpl(M&&... modules) {
    (push_back(std::forward<M>(modules)), ...);
  }

  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

  void push_back(std::shared_ptr<Module> module) {
    add_child(std::to_string(size()), std::move(module));
  }
  template <class M>
  requires(!std::is_convertible_v<M, std::shared_ptr<Module>>) void push_back(M&& module) {
    push_back(detail::module_pointer(module));
  }
  template <class M>
  void append(M&& module) {
    push_back(std::forward<M>(module));
  }
  /// Appends the modules of a list or of a dictionary in its order; this list itself may be given
  /// and then doubles its size.
  template <class Container>
  void extend(const Container& container) {
    std::vector<std::shared_ptr<Module>> all;
    for (const auto& m : detail::contents(container)) all.push_back(detail::module_pointer(m));
    for (auto& m : all) push_back(std::move(m));
  }
  void insert(size_t index, std::shared_ptr<Module> module);

  size_t size() const { return children_.size(); }
  bool is_empty() const { return children_.empty(); }
  /// Throws IndexError outside [0, size).
  std::shared_ptr<Module> ptr(size_t i) const {
    TAEDA_CHECK_INDEX(i < size(), "Index out of range");
    return children_[i].value();
  }
  std::shared_ptr<Module> operator[](size_t i) const { return ptr(i); }
  /// The i-th module as M; throws TypeError if it is another class.
  template <class M>
  auto& at(size_t i) const {
    auto* m = ptr(i)->template as<M>();
    TAEDA_CHECK_TYPE(m, "Unable to cast module[", i, "] to ", detail::type_name(typeid(M)));
    return *m;
  }
  template <class M>
  auto ptr(size_t i) const {
    auto& m = at<M>(i);
    return std::shared_ptr<std::remove_reference_t<decltype(m)>>(ptr(i), &m);
  }
  auto begin() const { return modules_view().begin(); }
  auto end() const { return modules_view().end(); }

 private:
  /// Pointers in order, for iteration.
  const std::vector<std::shared_ptr<Module>>& modules_view() const;
  mutable std::vector<std::shared_ptr<Module>> view_;
};
TAEDA_MODULE(ModuleList);

/// Modules by name, in the order of insertion; it has no forward. A name must not be empty or
/// contain a dot, and one that is absent is an Error.
class ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Pairs = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;
  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const Pairs& modules) { update(modules); }
  explicit ModuleDictImpl(const OrderedDict<std::string, std::shared_ptr<Module>>& modules) {
    update(modules.pairs());
  }

  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

  template <class M>
  void insert(std::string name, const M& module) {
    add_child(std::move(name), detail::module_pointer(module));
  }
  /// Inserts pairs of names and modules in their order, or replaces modules of the same name; a
  /// name must not be empty or contain a dot.
  void update(const Pairs& modules);
  /// Inserts the modules, or holders of modules, of a dictionary, or replaces modules of the same
  /// name; a name must not be empty or contain a dot.
  template <class Container>
  void update(const Container& container) {
    Pairs modules;
    for (const auto& [name, m] : detail::contents(container))
      modules.emplace_back(name, detail::module_pointer(m));
    update(modules);
  }
  /// Removes the module of this name and returns it; throws Error where there is none.
  std::shared_ptr<Module> pop(const std::string& name);
  void clear() { children_.clear(); }

  size_t size() const { return children_.size(); }
  bool empty() const { return children_.empty(); }
  bool contains(const std::string& name) const { return children_.contains(name); }
  /// Throws Error if the name is not there.
  std::shared_ptr<Module> operator[](const std::string& name) const {
    TAEDA_CHECK(contains(name), "Key '", name, "' is not defined");
    return children_[name];
  }
  template <class M>
  auto& at(const std::string& name) const {
    auto* m = (*this)[name]->template as<M>();
    TAEDA_CHECK_TYPE(m, "Unable to cast module[", name, "] to ", detail::type_name(typeid(M)));
    return *m;
  }
  std::vector<std::string> keys() const { return children_.keys(); }
  std::vector<std::shared_ptr<Module>> values() const { return children_.values(); }
  /// Pairs of names and modules, in the order of insertion; empty for an empty dictionary.
  Pairs items() const { return children_.pairs(); }
  auto begin() const { return children_.begin(); }
  auto end() const { return children_.end(); }
};
TAEDA_MODULE(ModuleDict);

/// Parameters by position, which are registered as "0", "1" and so on; a tensor keeps its
/// requires_grad.
class ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  ParameterListImpl() = default;
  template <class... T>
  explicit ParameterListImpl(T&&... tensors) {
    (append(std::forward<T>(tensors)), ...);
  }
  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

  void append(Tensor tensor);
  void append(const OrderedDict<std::string, Tensor>::Item& item) { append(item.value()); }
  /// Appends the tensors of a list or the parameters of another container; this list itself may be
  /// given and then doubles its size.
  template <class Container>
  void extend(const Container& tensors) {
    std::vector<Tensor> all;
    for (const auto& element : detail::contents(tensors)) {
      if constexpr (std::is_convertible_v<decltype(element), Tensor>)
        all.push_back(element);
      else if constexpr (requires { element.value(); })
        all.push_back(element.value());
      else
        all.push_back(element.second);
    }
    for (Tensor& t : all) append(std::move(t));
  }
  size_t size() const { return parameters_.size(); }
  bool is_empty() const { return parameters_.empty(); }
  /// Throws IndexError outside [0, size).
  Tensor& at(size_t i) { return parameters_[i].value(); }
  const Tensor& at(size_t i) const { return parameters_[i].value(); }
  Tensor& operator[](size_t i) { return at(i); }
  const Tensor& operator[](size_t i) const { return at(i); }
  /// Iterates over pairs of names and tensors, in the order of insertion; not valid after the size
  /// changes.
  auto begin() { return parameters_.begin(); }
  auto begin() const { return parameters_.begin(); }
  auto end() { return parameters_.end(); }
  auto end() const { return parameters_.end(); }
  void pretty_print(std::ostream& out) const override;
};
TAEDA_MODULE(ParameterList);

/// Parameters by name, in the order of insertion; a tensor keeps its requires_grad.
class ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& tensors) {
    for (const auto& [name, tensor] : tensors) insert(name, tensor);
  }
  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

  Tensor& insert(std::string name, Tensor tensor);
  /// Inserts pairs of names and tensors, or replaces tensors of the same name.
  template <class Container>
  void update(const Container& tensors) {
    for (const auto& [name, tensor] : detail::contents(tensors)) put(name, tensor);
  }
  void clear() { parameters_.clear(); }
  auto begin() { return parameters_.begin(); }
  auto begin() const { return parameters_.begin(); }
  auto end() { return parameters_.end(); }
  auto end() const { return parameters_.end(); }
  /// Removes the parameter of this name and returns it; throws Error where there is none.
  Tensor pop(const std::string& name);
  bool contains(const std::string& name) const { return parameters_.contains(name); }
  size_t size() const { return parameters_.size(); }
  bool empty() const { return parameters_.empty(); }
  /// Throws Error if the name is not there.
  Tensor& operator[](const std::string& name) { return parameters_[name]; }
  const Tensor& get(const std::string& name) const { return parameters_[name]; }
  std::vector<std::string> keys() const { return parameters_.keys(); }
  std::vector<Tensor> values() const { return parameters_.values(); }
  void pretty_print(std::ostream& out) const override;

 private:
  void put(const std::string& name, const Tensor& tensor) {
    if (contains(name))
      parameters_[name] = tensor;
    else
      insert(name, tensor);
  }
};
TAEDA_MODULE(ParameterDict);

}  // namespace taeda::nn
