// Modules one after the other.
#pragma once

#include "taeda/nn/any_module.h"
#include "taeda/nn/cloneable.h"

namespace taeda::inline v0_2::nn {

/// A module with a name, as Sequential takes it in braces: {{"conv1", Conv2d(1, 6, 5)}, ...}. The
/// name must not be empty or contain a dot.
class NamedAnyModule {
 public:
  NamedAnyModule(std::string name, AnyModule module)
      : name_(std::move(name)), module_(std::move(module)) {}
  template <class M>
  NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(std::forward<M>(module)) {}
  const std::string& name() const { return name_; }
  const AnyModule& module() const { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

/// Modules of which each one's output is the next one's input; the first takes any arguments, and
/// an empty Sequential called is an Error. In braces, `Sequential{Linear(2, 3), ReLU()}`, modules
/// are constructed from left to right; in parentheses C++ leaves the order, and so which random
/// numbers each gets, to the compiler.
class SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  SequentialImpl() = default;
  SequentialImpl(std::initializer_list<NamedAnyModule> named) {
    for (const NamedAnyModule& n : named) push_back(n.name(), n.module());
  }
  explicit SequentialImpl(const OrderedDict<std::string, AnyModule>& named) {
    for (const auto& [name, module] : named) push_back(name, module);
  }
  template <class... M>
  requires(std::disjunction_v<
           std::is_constructible<AnyModule, M>,
           std::is_invocable<M, const Tensor&>>&&...) explicit SequentialImpl(M&&... modules) {
    static_assert((std::is_constructible_v<AnyModule, M> && ...),
                  "a Sequential is made of modules: nn::Functional(f) makes one of a function f");
    (push_back(std::forward<M>(modules)), ...);
  }
  void reset() override {}  ///< a container registers nothing of its own
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override {
    auto copy = make_module<SequentialImpl>();
    for (size_t i = 0; i < modules_.size(); ++i)
      copy->push_back(children_[i].key(), modules_[i].clone(device));
    copy_mode_to(*copy);
    return copy;
  }

  /// Throws Error for an empty container, TypeError where types do not fit.
  template <class Result = Tensor, class... Inputs>
  Result forward(Inputs&&... inputs) {
    TAEDA_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
    AnyValue value = modules_[0].any_forward(std::forward<Inputs>(inputs)...);
    for (size_t i = 1; i < modules_.size(); ++i) value = modules_[i].call_values(&value, 1);
    if (const Result* result = value.template try_get<Result>()) return *result;
    throw TypeError(taeda::detail::concat(
        "The type of the return value is ", detail::type_name(value.type_info()),
        ", but you asked for type ", detail::type_name(typeid(Result))));
  }

  void push_back(AnyModule module) {
    push_back(std::to_string(modules_.size()), std::move(module));
  }
  template <class M>
  requires(!std::is_same_v<std::decay_t<M>, AnyModule> &&
           std::is_constructible_v<AnyModule, M>) void push_back(M&& module) {
    push_back(AnyModule(std::forward<M>(module)));
  }
  template <class M>
  void push_back(std::string name, M&& module) {
    AnyModule any(std::forward<M>(module));
    add_child(std::move(name), any.ptr());
    modules_.push_back(std::move(any));
  }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  size_t size() const { return modules_.size(); }
  bool is_empty() const { return modules_.empty(); }
  /// Throws IndexError outside [0, size).
  std::shared_ptr<Module> ptr(size_t i) const {
    check_index(i);
    return modules_[i].ptr();
  }
  std::shared_ptr<Module> operator[](size_t i) const { return ptr(i); }
  template <class M>
  auto ptr(size_t i) const {
    check_index(i);
    return modules_[i].template ptr<M>();
  }
  /// The i-th module as M; throws TypeError if it is another class.
  template <class M>
  auto& at(size_t i) const {
    check_index(i);
    return modules_[i].template as<M>();
  }
  auto begin() { return modules_.begin(); }
  auto end() { return modules_.end(); }
  auto begin() const { return modules_.begin(); }
  auto end() const { return modules_.end(); }

 private:
  void check_index(size_t i) const { TAEDA_CHECK_INDEX(i < size(), "Index out of range"); }
  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using Impl = SequentialImpl;
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> named)
      : ModuleHolder(make_module<SequentialImpl>(named)) {}
};

}  // namespace taeda::inline v0_2::nn
