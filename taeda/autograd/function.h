// User-defined operations with their own derivative.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "taeda/autograd/history.h"
#include "taeda/base/error.h"
#include "taeda/tensor/ivalue.h"

namespace taeda::inline v0_2::autograd {

/// What forward and backward of a function take and give; an undefined tensor is no gradient.
using variable_list = std::vector<Tensor>;
using tensor_list = std::vector<Tensor>;

/// What a user's `forward` leaves for its `backward`.
class AutogradContext {
 public:
  /// Tensors to keep; inputs and outputs of the function may be among them.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// The kept tensors. Throws Error if one was changed in place since, or after they were freed.
  variable_list get_saved_variables() const;
  /// Outputs that carry no gradient.
  void mark_non_differentiable(const variable_list& outputs) {
    for (const Tensor& t : outputs) non_differentiable_.push_back(t.unsafe_impl());
  }
  /// Inputs that forward changed in place and returns. It counts as a change of each, by whatever
  /// means forward made it.
  void mark_dirty(const variable_list& inputs) {
    for (const Tensor& t : inputs) {
      dirty_.push_back(t.unsafe_impl());
      bump_version(t);
    }
  }
  /// With false, `backward` sees undefined tensors instead of zeros for outputs nobody used.
  void set_materialize_grads(bool on) { materialize_ = on; }
  bool needs_input_grad(size_t i) const { return i >= needs_.size() || needs_[i]; }
  /// Whether one of the inputs in any of the ranges [first, second) does.
  bool needs_input_grad(std::initializer_list<std::pair<size_t, size_t>> ranges) const;

  /// Anything else to remember; objects of classes of one's own in `IValue::capsule`.
  std::map<std::string, IValue> saved_data;

 private:
  template <class T>
  friend struct Function;
  friend class FunctionNode;
  variable_list to_save_;
  std::vector<TensorImpl*> non_differentiable_, dirty_;
  std::vector<Saved> saved_;
  std::vector<bool> needs_;
  bool materialize_ = true;
  bool released_ = false;
};

/// The backward of a Function, as its node calls it.
using FunctionBackward = variable_list (*)(AutogradContext*, variable_list);

/// The node of a user-defined function.
class FunctionNode final : public Node {
 public:
  FunctionNode(std::string name, FunctionBackward backward)
      : name_(std::move(name)), backward_(backward) {}
  const char* name() const override { return name_.c_str(); }
  TensorVec apply(TensorVec grads, Needs needs) override;
  void release_saved() override;
  std::vector<SavedTensor> saved_tensors() const override;
  /// Connects outputs and saved tensors once forward is done; `is_tensor[i]` for every argument.
  void finish(const variable_list& inputs, const std::vector<bool>& is_tensor,
              variable_list& outputs);

  AutogradContext context;

 private:
  std::string name_;
  FunctionBackward backward_;
  std::vector<bool> is_tensor_;
};

namespace detail {
std::string demangled(const char* mangled);

template <class A>
concept TensorArgument = std::is_convertible_v<const A&, const Tensor&>;
/// Something to iterate over whose elements are not of its own type, as those of a path are.
template <class A>
concept ListArgument = requires(const A& a) {
  a.begin() != a.end();
  requires !std::is_same_v<std::decay_t<decltype(*a.begin())>, A>;
};
template <class A>
concept TupleArgument = requires {
  std::tuple_size<A>::value;
};
template <size_t I, class A>
const auto& element_of(const A& a) {
  if constexpr (requires { a.template get<I>(); })
    return a.template get<I>();
  else
    return std::get<I>(a);
}

/// Whether tensors can be in an argument: as itself or in lists, optionals, pairs and tuples, at
/// any depth.
template <class A>
constexpr bool holds_tensors() {
  if constexpr (TensorArgument<A>)
    return true;
  else if constexpr (ListArgument<A>)
    return holds_tensors<std::decay_t<decltype(*std::declval<const A&>().begin())>>();
  else if constexpr (TupleArgument<A>)
    return []<size_t... I>(std::index_sequence<I...>) {
      return (holds_tensors<std::decay_t<std::tuple_element_t<I, A>>>() || ...);
    }
  (std::make_index_sequence<std::tuple_size_v<A>>());
  else if constexpr (requires(const A& a) {
                       a.has_value(), *a;
                     }) return holds_tensors<std::decay_t<decltype(*std::declval<const A&>())>>();
  else return false;
}

/// Calls `f` for each tensor in an argument, in order.
template <class A, class F>
void for_each_tensor(const A& a, const F& f) {
  if constexpr (TensorArgument<A>) {
    f(a);
  } else if constexpr (!holds_tensors<A>()) {
  } else if constexpr (ListArgument<A>) {
    for (const auto& element : a) for_each_tensor(element, f);
  } else if constexpr (TupleArgument<A>) {
    [&]<size_t... I>(std::index_sequence<I...>) { (for_each_tensor(element_of<I>(a), f), ...); }
    (std::make_index_sequence<std::tuple_size_v<A>>());
  } else {
    if (a.has_value()) for_each_tensor(*a, f);
  }
}
}  // namespace detail

/// Derive as `struct MyOp : Function<MyOp>` with
///   static Tensor (or variable_list) forward(AutogradContext* ctx, args...);
///   static variable_list backward(AutogradContext* ctx, variable_list grad_outputs);
/// and call `MyOp::apply(args...)`. `backward` returns one gradient per argument of forward
/// (undefined for those that are no tensors); an argument that tensors are in - a list, a list of
/// lists, an optional, a tuple - counts as those tensors, one after the other.
template <class T>
struct Function {
  /// Runs `forward` without recording and, if an argument wants a gradient, records `backward`.
  template <class X = T, class... Args>
  static auto apply(Args&&... args) {
    NodePtr holder(
        new FunctionNode(detail::demangled(typeid(X).name()) + "Backward", &X::backward));
    auto& node = static_cast<FunctionNode&>(*holder);
    variable_list inputs;
    std::vector<bool> is_tensor;
    (collect(args, inputs, is_tensor), ...);
    const bool wanted = any_wants_grad(inputs);
    using Result = decltype(X::forward(&node.context, std::forward<Args>(args)...));
    Result result = [&] {
      NoGradGuard guard;
      return X::forward(&node.context, std::forward<Args>(args)...);
    }();
    variable_list outputs;
    if constexpr (std::is_same_v<Result, Tensor>)
      outputs.push_back(result);
    else
      outputs = result;
    if (wanted) node.finish(inputs, is_tensor, outputs);
    if constexpr (std::is_same_v<Result, Tensor>)
      return outputs[0];
    else
      return outputs;
  }

 private:
  template <class A>
  static void collect(const A& arg, variable_list& inputs, std::vector<bool>& is_tensor) {
    if constexpr (detail::holds_tensors<A>())
      detail::for_each_tensor(arg, [&](const Tensor& t) {
        inputs.push_back(t);
        is_tensor.push_back(true);
      });
    else
      is_tensor.push_back(false);
  }
};

}  // namespace taeda::inline v0_2::autograd
