// Calling several modules at the same time.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "taeda/nn/hooks.h"
#include "taeda/parallel/workers.h"

namespace taeda::inline v0_2::nn::parallel {

namespace detail {

template <class T>
constexpr bool is_tuple = false;
template <class... T>
constexpr bool is_tuple<std::tuple<T...>> = true;

/// Calls a module with one argument, or with those of a tuple.
template <class M, class Input>
auto call_with(M& module, const Input& input) {
  if constexpr (is_tuple<Input>)
    return std::apply([&](const auto&... args) { return call(module, args...); }, input);
  else
    return call(module, input);
}

/// Where a replica runs: on the device of its first tensor. CPU without any.
Device device_of(const Module& module);

}  // namespace detail

/// Calls modules[i] with inputs[i] (a std::tuple for several arguments) on devices[i], all at the
/// same time; by default on the device of the module's parameters. Modules are holders or pointers.
/// An exception is thrown on as `run_on_devices` says. Throws Error where the numbers of modules,
/// inputs and devices differ.
template <class ModulePointer, class Input>
auto parallel_apply(std::vector<ModulePointer> modules, const std::vector<Input>& inputs,
                    std::optional<std::vector<Device>> devices = {}) {
  using M = std::remove_cvref_t<decltype(*std::declval<ModulePointer&>())>;
  using Result = decltype(detail::call_with(std::declval<M&>(), inputs[0]));
  TAEDA_CHECK(modules.size() == inputs.size(), "The number of modules ", modules.size(),
              " is not equal to the number of inputs ", inputs.size());
  if (!devices) {
    devices.emplace();
    for (const ModulePointer& m : modules) devices->push_back(detail::device_of(*m));
  }
  TAEDA_CHECK(modules.size() == devices->size(), "The number of modules ", modules.size(),
              " is not equal to the number of devices ", devices->size());
  std::vector<std::optional<Result>> results(modules.size());
  run_on_devices(*devices,
                 [&](size_t i) { results[i].emplace(detail::call_with(*modules[i], inputs[i])); });
  std::vector<Result> out;
  for (std::optional<Result>& r : results) out.push_back(std::move(*r));
  return out;
}

}  // namespace taeda::nn::parallel
