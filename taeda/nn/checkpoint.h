// Activation checkpointing, as torch.utils.checkpoint with use_reentrant=False: activations are not
// kept for backward but computed again when it needs them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/visit_tensors.h"
#include "taeda/tensor/autocast_mode.h"

namespace taeda::inline v0_2::utils::checkpoint {

/// What a forward run looks at besides its arguments, and a second run must find unchanged: the
/// state of autocast and, with `random`, of the generators of the CPU and of all devices of the
/// types that `inputs` are on.
class ForwardState {
 public:
  /// The state as it is now. Casts of weights are not remembered under it: the cast of one run must
  /// not appear in the graph of another.
  explicit ForwardState(const std::vector<Tensor>& inputs, bool random = true);

  /// Puts the state of random numbers and of autocast back for a scope; at its end the state before
  /// it holds again, also where the scope throws.
  class Scope {
   public:
    explicit Scope(const ForwardState& state);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    AutocastMode::State autocast_;
    std::vector<std::pair<Device, std::vector<uint8_t>>> random_;
  };

 private:
  AutocastMode::State autocast_;
  std::vector<std::pair<Device, std::vector<uint8_t>>> random_;
};

/// Whether this thread runs a forward a second time, false by default. Batch norm does not count
/// such a run in its running statistics.
bool is_recomputing();

/// Says that a scope of this thread is a second run of forward; scopes may be nested, and the
/// default is none.
class RecomputingGuard {
 public:
  RecomputingGuard();
  ~RecomputingGuard();
  RecomputingGuard(const RecomputingGuard&) = delete;
  RecomputingGuard& operator=(const RecomputingGuard&) = delete;

 private:
  bool previous_;
};

/// What of the state of random numbers and autocast a second forward gets back; by default all of
/// it.
struct CheckpointOptions {
  /// Whether random layers draw the same numbers in both runs, true by default; saving and setting
  /// generators takes time.
  bool preserve_rng_state = true;
};

namespace detail {

/// A function of tensors, whatever else it is given and gives.
using Run = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

std::vector<Tensor> run(Run fn, const std::vector<Tensor>& inputs, bool preserve_rng_state);

/// Takes the tensors out of a value.
template <class T>
std::vector<Tensor> take_tensors(T& x) {
  std::vector<Tensor> out;
  nn::detail::visit_tensors(x, [&](Tensor& t) { out.push_back(std::exchange(t, Tensor())); });
  return out;
}
template <class T>
void put_tensors(T& x, const std::vector<Tensor>& tensors) {
  size_t next = 0;
  nn::detail::visit_tensors(x, [&](Tensor& t) { t = tensors[next++]; });
}

template <class F, class... Args>
decltype(auto) invoke(F& fn, const Args&... args) {
  if constexpr (std::is_same_v<F, nn::AnyModule>)
    return fn.forward(args...);
  else if constexpr (std::is_invocable_v<F&, const Args&...>)
    return fn(args...);
  else
    return nn::call(*fn, args...);
}

}  // namespace detail

/// Calls `function(args...)` without keeping what it saves for backward: backward calls it again,
/// with the same arguments, random numbers and autocast state, and goes on from there. Takes the
/// memory of one function's activations at a time instead of all, for one more forward run.
///
/// `function` is copied and lives until backward, so it must not refer to what is gone by then; it
/// may be a holder or pointer of a module, or an AnyModule. Arguments and results may be anything;
/// gradients flow through tensors and containers of them (nn/visit_tensors.h), and to
/// every tensor that `function` uses otherwise, its parameters say. Without gradient recording it
/// is just called. Calls nest; gradients of gradients and `autograd::grad` work.
///
/// The second run must do what the first did. Error is thrown by backward if it records another
/// number of operations, uses other parameters, or gives results of other shapes or types, and if
/// an argument was changed in place in between. Generators of devices are restored where an
/// argument is on a device of that type.
template <class F, class... Args>
auto checkpoint(const CheckpointOptions& options, const F& function, const Args&... args) {
  static_assert(!std::is_base_of_v<nn::Module, F>,
                "checkpoint() calls its function again in backward, so it keeps a copy: give a "
                "module's holder or shared_ptr, not the module itself");
  using Result = std::decay_t<decltype(detail::invoke(std::declval<F&>(), args...))>;
  auto arguments = std::make_shared<std::tuple<std::decay_t<Args>...>>(args...);
  const std::vector<Tensor> inputs = detail::take_tensors(*arguments);
  std::optional<Result> result;
  auto first = std::make_shared<std::optional<Result>*>(&result);
  detail::Run run = [function, arguments, first](const std::vector<Tensor>& tensors) {
    auto given = *arguments;
    detail::put_tensors(given, tensors);
    F fn = function;
    Result r =
        std::apply([&](const auto&... a) -> Result { return detail::invoke(fn, a...); }, given);
    std::vector<Tensor> out = detail::take_tensors(r);
    // A list keeps its length, so that the tensors find their places again.
    if (*first) (*first)->emplace(std::move(r));
    return out;
  };
  const std::vector<Tensor> outputs =
      detail::run(std::move(run), inputs, options.preserve_rng_state);
  *first = nullptr;
  detail::put_tensors(*result, outputs);
  return std::move(*result);
}
template <class F, class... Args>
requires(!std::is_same_v<F, CheckpointOptions>) auto checkpoint(const F& function,
                                                                const Args&... args) {
  return checkpoint(CheckpointOptions{}, function, args...);
}

/// Runs modules one after the other in `segments` parts of equal length, of which all but the last
/// (which is as long as it takes) are checkpointed.
/// Throws ValueError unless 0 < segments <= number of modules.
Tensor checkpoint_sequential(const std::vector<nn::AnyModule>& modules, int64_t segments,
                             const Tensor& input, const CheckpointOptions& options = {});
inline Tensor checkpoint_sequential(const nn::Sequential& modules, int64_t segments,
                                    const Tensor& input, const CheckpointOptions& options = {}) {
  return checkpoint_sequential({modules->begin(), modules->end()}, segments, input, options);
}

}  // namespace taeda::inline v0_2::utils::checkpoint
