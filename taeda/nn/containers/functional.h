// A function as a module.
#pragma once

#include <functional>
#include <utility>

#include "taeda/nn/cloneable.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

/// Calls a function of a tensor, for the places that take modules:
///
///     Sequential net(Linear(3, 4), Functional(relu), Functional(leaky_relu, 0.2));
///
/// Further arguments are bound when it is made. Throws Error for an empty function.
class FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function) : function_(std::move(function)) {
    TAEDA_CHECK(function_, "Functional: expected a function, got an empty one");
  }
  template <class F, class... Args>
  requires(sizeof...(Args) > 0) explicit FunctionalImpl(F function, Args... args)
      : function_([function = std::move(function), ... args = std::move(args)](const Tensor& x) {
          return Tensor(std::invoke(function, x, args...));
        }) {}

  void reset() override {}
  Tensor forward(const Tensor& input) { return function_(input); }
  /// A function is in no file.
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
TAEDA_MODULE(Functional);

}  // namespace taeda::nn
