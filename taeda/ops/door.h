// What stands between a call of an operation and its body, for those who have something to do with
// calls: maps over samples, observers and autocast. Not part of the public interface.
#pragma once

#include "taeda/ops/autocast.h"
#include "taeda/ops/map/step.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/tensor/interceptors.h"
#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2 {

/// Note [Doors of operations]
/// Every operation is called through a function that tools/ops writes from its declaration:
///
///     Tensor log1p(const Tensor& self) {
///       static constexpr OperationTraits traits{.name = "log1p", ...};
///       if (Interceptors::any()) return Door<Tensor(const Tensor&)>::pass(traits, do_log1p, self);
///       return do_log1p(self);
///     }
///
/// So a body, `do_log1p` in a source of ops/, computes and knows nothing of who is interested, and
/// no operation can forget one of them. While nobody is, a call costs a load, a branch and a jump
/// more than its body. Who is let in, and in which order, stands in `Door::pass` and nowhere else:
/// an interceptor is a bit of `Interceptors` and a step there.
///
/// An operation whose declaration says `composite` is made of others alone. Interceptors see these
/// in its place, so it has no door, or one for autocast alone.

/// What observers are told of a convolution's padding: "same", or the sizes.
inline ObservedValue observed_value(const ConvPadding& padding) {
  if (padding.same()) return std::string("same");
  return padding.sizes().vec();
}

/// What a door knows of its operation, from its declaration.
struct OperationTraits {
  const char* name;
  bool observed = true;  ///< by itself; not a composite
  policy::Casts casts{};
};

template <class Signature>
struct Door;

template <class Result, class... Parameters>
struct Door<Result(Parameters...)> {
  using Body = Result (*)(Parameters...);

  /// The call of `body` for those who are interested.
  [[gnu::cold, gnu::noinline]] static Result pass(const OperationTraits& operation, Body body,
                                                  Parameters... arguments) {
    if (Interceptors::has(Interceptors::kMap))
      return MapStep<Result, Parameters...>::take({operation, body, pass, watched}, operation.name,
                                                  arguments...);
    return watched(operation, body, arguments...);
  }

  /// The same for an operation that has a composition, which an observer may prefer to see. What it
  /// computes is the body's in any case.
  [[gnu::cold, gnu::noinline]] static Result pass_by_parts(const OperationTraits& operation,
                                                           Body body, Body composition,
                                                           Parameters... arguments) {
    if (!is_observed() || Interceptors::has(Interceptors::kMap) ||
        !detail::observer_prefers_parts(operation.name))
      return pass(operation, body, arguments...);
    const Result parts = composition(arguments...);
    const Result result = [&] {
      const detail::InsideObserved inside;
      return cast(operation, body, arguments...);
    }();
    detail::tell_replaced(detail::results_of(result), detail::results_of(parts));
    return result;
  }

 private:
  static Result watched(const OperationTraits& operation, Body body, Parameters... arguments) {
    if (operation.observed && is_observed())
      return observe(
          operation.name, [&](const auto&... a) -> Result { return cast(operation, body, a...); },
          arguments...);
    return cast(operation, body, arguments...);
  }

  /// A dtype that was asked for stands under autocast, too.
  static bool is_cast(const OperationTraits& operation,
                      const std::decay_t<Parameters>&... arguments) {
    const auto keeps = []<class T>(const T& argument) {
      if constexpr (std::is_same_v<T, OptionalDtype>) return argument.has_value();
      return false;
    };
    return operation.casts.any() && AutocastMode::is_active() && !(keeps(arguments) || ...);
  }

  static Result cast(const OperationTraits& operation, Body body,
                     const std::decay_t<Parameters>&... arguments) {
    if (is_cast(operation, arguments...))
      return policy::casted(operation.casts, body, arguments...);
    return body(arguments...);
  }
};

}  // namespace taeda::inline v0_2
