// The step of maps in the door of an operation: Note [Mapped tensors] in tensor/mapped.h. Not part
// of the public interface.
#pragma once

#include <tuple>
#include <utility>

#include "taeda/ops/map/call.h"
#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2 {

struct OperationTraits;

namespace detail {
/// The result of an operation from its tensors.
template <class Result>
Result result_from(std::vector<Tensor>& list) {
  if constexpr (std::is_same_v<Result, Tensor>)
    return std::move(list.at(0));
  else if constexpr (std::is_same_v<Result, std::vector<Tensor>>)
    return std::move(list);
  else
    return [&]<size_t... I>(std::index_sequence<I...>) { return Result(std::move(list.at(I))...); }
  (std::make_index_sequence<std::tuple_size_v<Result>>());
}
/// The operand that an operation in place changed.
template <class First, class... Rest>
Tensor& changed_in_place(const First& first, const Rest&...) {
  return const_cast<Tensor&>(first);
}
}  // namespace detail

/// It is compiled for every kind of call there is, so what needs no types stands in MapCall.
template <class Result, class... Parameters>
class MapStep {
 public:
  using Body = Result (*)(Parameters...);
  using Way = Result (*)(const OperationTraits&, Body, Parameters...);
  struct Operation {
    const OperationTraits& traits;
    Body body;
    Way pass;   ///< the whole door, for maps further out
    Way after;  ///< the steps behind this one
  };

  static Result take(const Operation& operation, const char* name, Parameters... arguments) {
    std::vector<Tensor> results;
    if (!answer(operation, name, results, arguments...))
      return operation.after(operation.traits, operation.body, arguments...);
    if constexpr (gives_tensors)
      return detail::result_from<Result>(results);
    else if constexpr (in_place)
      return detail::changed_in_place(arguments...);
    else
      TAEDA_INTERNAL_ASSERT(false);  // its rule refuses
  }

 private:
  static constexpr bool in_place = std::is_reference_v<Result>;
  static constexpr bool gives_tensors =
      !in_place && !std::is_same_v<Result, bool> && !std::is_same_v<Result, Scalar>;

  /// A rule may change the arguments, which are copies.
  static bool answer(const Operation& operation, const char* name, std::vector<Tensor>& results,
                     std::decay_t<Parameters>... arguments) {
    MapArgument list[] = {MapArgument::of(arguments)...};
    MapCall call(name, list, in_place, run, &operation);
    if (!call.answer()) return false;
    results = std::move(call.results);
    return true;
  }

  /// The operation with the arguments that a rule made, or its body alone.
  static std::vector<Tensor> run(const void* operation, ArrayRef<MapArgument> list, bool by_parts) {
    const auto& [traits, body, pass, after] = *static_cast<const Operation*>(operation);
    return call(by_parts ? after : pass, traits, body, list.data(),
                std::index_sequence_for<Parameters...>());
  }
  template <size_t... I>
  static std::vector<Tensor> call(Way way, const OperationTraits& traits, Body body,
                                  const MapArgument* list, std::index_sequence<I...>) {
    if constexpr (gives_tensors)
      return detail::results_of(
          way(traits, body, list[I].template as<std::decay_t<Parameters>>()...));
    else
      return way(traits, body, list[I].template as<std::decay_t<Parameters>>()...),
             std::vector<Tensor>();
  }
};

}  // namespace taeda::inline v0_2
