// The step of maps in the door of an operation: Note [Mapped tensors] in tensor/mapped.h. Not part
// of the public interface.
#pragma once

#include <array>
#include <tuple>

#include "taeda/ops/map/call.h"
#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2 {

struct OperationTraits;

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
    Frame frame{operation, Held(arguments...)};
    const auto boxes = std::apply(
        [](auto&... a) { return std::array<MapArgument, sizeof...(a)>{MapArgument::of(a)...}; },
        frame.held);
    MapCall call(name, boxes, in_place, run, &frame);
    if (!call.answer()) return operation.after(operation.traits, operation.body, arguments...);
    if constexpr (gives_tensors)
      return from_list(call.results);
    else if constexpr (in_place)
      return const_cast<Tensor&>(std::get<0>(std::tie(arguments...)));
    else
      TAEDA_INTERNAL_ASSERT(false);  // its rule refuses
  }

 private:
  using Held = std::tuple<std::decay_t<Parameters>...>;
  struct Frame {
    const Operation& operation;
    Held held;
  };
  static constexpr bool in_place = std::is_reference_v<Result>;
  static constexpr bool gives_tensors =
      !in_place && !std::is_same_v<Result, bool> && !std::is_same_v<Result, Scalar>;

  /// The operation with the arguments that a rule made, or its body alone.
  static std::vector<Tensor> run(void* frame, bool by_parts) {
    auto& [operation, held] = *static_cast<Frame*>(frame);
    return std::apply(
        [&](auto&... a) -> std::vector<Tensor> {
          const Way way = by_parts ? operation.after : operation.pass;
          if constexpr (gives_tensors)
            return detail::results_of(way(operation.traits, operation.body, a...));
          else
            return way(operation.traits, operation.body, a...), std::vector<Tensor>();
        },
        held);
  }

  static Result from_list(std::vector<Tensor>& list) {
    if constexpr (std::is_same_v<Result, Tensor>)
      return std::move(list.at(0));
    else if constexpr (std::is_same_v<Result, std::vector<Tensor>>)
      return std::move(list);
    else
      return [&]<size_t... I>(std::index_sequence<I...>) {
        return Result(std::move(list.at(I))...);
      }
    (std::make_index_sequence<std::tuple_size_v<Result>>());
  }
};

}  // namespace taeda::inline v0_2
