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

#include "taeda/base/error.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/visit_tensors.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::utils::checkpoint {

/// Whether this thread runs a forward a second time, false by default. Batch norm does not count
/// such a run in its running statistics.
bool is_recomputing();

/// How a function is run a second time.
struct CheckpointOptions {
  /// Whether random layers draw the same numbers in both runs, true by default; saving and setting
  /// generators takes time.
  bool preserve_rng_state = true;
  /// Whether the second run ends as soon as all that the first one saved is there again. It ends by
  /// an exception of no class that a program could name.
  bool early_stop = true;
  /// Whether sizes, dtypes and devices of what both runs save must be the same.
  bool determinism_check = true;
};

/// What was computed again is not what was computed first.
class CheckpointError : public Error {
  using Error::Error;
};

namespace detail {

/// A function, given the tensors of its arguments.
using Run = std::function<void(const std::vector<Tensor>& inputs)>;

/// A function's first run: operations that this thread records while it lives keep nothing of what
/// they save, but call `again` with the inputs when one of them asks for its tensors.
class FirstRun {
 public:
  FirstRun(Run again, const std::vector<Tensor>& inputs, const CheckpointOptions& options = {});
  ~FirstRun();
  FirstRun(const FirstRun&) = delete;
  FirstRun& operator=(const FirstRun&) = delete;

 private:
  struct Scope;
  std::unique_ptr<Scope> scope_;
};

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
/// may be a holder or pointer of a module, or an AnyModule. Arguments and results may be anything.
/// Without gradient recording it is just called. Calls nest; gradients of gradients and
/// `autograd::grad` work. Of functions that go on in other threads, what those save is kept.
///
/// The second run must do what the first did. CheckpointError is thrown by backward if it saves
/// fewer tensors, or tensors of other shapes or types, and Error if an argument was changed in
/// place in between. Generators of devices are restored where an argument is on one of that type.
template <class F, class... Args>
auto checkpoint(const CheckpointOptions& options, const F& function, const Args&... args) {
  static_assert(!std::is_base_of_v<nn::Module, F>,
                "checkpoint() calls its function again in backward, so it keeps a copy: give a "
                "module's holder or shared_ptr, not the module itself");
  using Result = std::decay_t<decltype(detail::invoke(std::declval<F&>(), args...))>;
  std::optional<detail::FirstRun> first;
  if (GradMode::is_enabled()) {
    auto kept = std::make_shared<std::tuple<std::decay_t<Args>...>>(args...);
    const std::vector<Tensor> inputs = detail::take_tensors(*kept);
    first.emplace(
        [function, kept](const std::vector<Tensor>& tensors) {
          auto given = *kept;
          detail::put_tensors(given, tensors);
          F fn = function;
          std::apply([&](const auto&... a) { (void)detail::invoke(fn, a...); }, given);
        },
        inputs, options);
  }
  F fn = function;
  return Result(detail::invoke(fn, args...));
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
