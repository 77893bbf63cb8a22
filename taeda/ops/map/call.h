// A call of an operation with mapped operands (Note [Mapped tensors] in tensor/mapped.h), without
// its types. Not part of the public interface.
#pragma once

#include <deque>
#include <string_view>
#include <type_traits>

#include "taeda/device/generator.h"
#include "taeda/ops/spectral/fft.h"
#include "taeda/tensor/indexing.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2 {

/// An argument of a call, where a rule may change it.
struct MapArgument {
  enum class Kind : uint8_t {
    Other,
    Tensor,
    MaybeTensor,
    Tensors,
    Int,
    MaybeInt,
    Ints,
    MaybeInts,
    Indices,
    Double,
    Bool,
    MaybeDtype,
    Reduction,
    Text,
    Scalar,
    Braces
  };
  Kind kind;
  void* value;

  template <class T>
  static constexpr Kind kind_of() {
    using K = Kind;
    if constexpr (std::is_same_v<T, taeda::Tensor>)
      return K::Tensor;
    else if constexpr (std::is_same_v<T, std::optional<taeda::Tensor>>)
      return K::MaybeTensor;
    else if constexpr (std::is_same_v<T, TensorList>)
      return K::Tensors;
    else if constexpr (std::is_same_v<T, int64_t>)
      return K::Int;
    else if constexpr (std::is_same_v<T, OptionalDim>)
      return K::MaybeInt;
    else if constexpr (std::is_same_v<T, IntArrayRef>)
      return K::Ints;
    else if constexpr (std::is_same_v<T, OptionalIntArrayRef>)
      return K::MaybeInts;
    else if constexpr (std::is_same_v<T, ArrayRef<TensorIndex>>)
      return K::Indices;
    else if constexpr (std::is_same_v<T, double>)
      return K::Double;
    else if constexpr (std::is_same_v<T, bool>)
      return K::Bool;
    else if constexpr (std::is_same_v<T, OptionalDtype>)
      return K::MaybeDtype;
    else if constexpr (std::is_same_v<T, ReductionArg>)
      return K::Reduction;
    else if constexpr (std::is_same_v<T, std::string_view>)
      return K::Text;
    else if constexpr (std::is_same_v<T, taeda::Scalar>)
      return K::Scalar;
    else if constexpr (std::is_same_v<T, std::initializer_list<TensorIndex>>)
      return K::Braces;
    else
      return K::Other;
  }
  template <class T>
  static MapArgument of(T& value) {
    return {kind_of<T>(), &value};
  }
  template <class T>
  T& as() const {
    return *static_cast<T*>(value);
  }
};

/// A tensor among the arguments of a call.
struct MapOperand {
  Tensor* tensor;       ///< where the operation reads it
  bool mapped;          ///< whether its first dimension is the samples
  int64_t dims;         ///< those of a sample
  size_t argument = 0;  ///< of which it is, or is one of several
};

class MapCall {
 public:
  /// Calls an operation with arguments, the whole of it or its body alone.
  using Run = std::vector<Tensor> (*)(const void* operation, ArrayRef<MapArgument> arguments,
                                      bool by_parts);

  MapCall(const char* name, ArrayRef<MapArgument> arguments, bool in_place, Run run,
          const void* operation)
      : arguments(arguments), in_place(in_place), name_(name), run_(run), operation_(operation) {}
  MapCall(const MapCall&) = delete;
  MapCall& operator=(const MapCall&) = delete;

  /// Calls the operation by a rule, if it has mapped operands or draws numbers; `results` are its
  /// results then. `false` where there is nothing to do.
  bool answer();

  /// "softmax", "cumsum_", "linalg_det".
  std::string_view name() const { return name_; }
  /// The operation itself, with the arguments as they are now.
  std::vector<Tensor> run() { return run_(operation_, arguments, false); }
  /// `run`, where one result is expected.
  Tensor run_one() { return run()[0]; }
  /// The body of an operation that is made of others, in the map, which has rules for these.
  /// Throws UnmappedError where it is not made of them alone.
  std::vector<Tensor> run_by_parts();

  // For rules: the arguments, by their places, of which the innermost level is taken.
  size_t size() const { return arguments.size(); }
  MapArgument::Kind kind(size_t i) const {
    return i < size() ? arguments[i].kind : MapArgument::Kind::Other;
  }
  bool is(size_t i, MapArgument::Kind k) const { return i < size() && arguments[i].kind == k; }
  template <class T>
  T& at(size_t i) const {
    return arguments[i].as<T>();
  }
  /// The operand that argument `i` is, or nullptr for one that is absent or none.
  MapOperand* operand(size_t i);
  bool is_mapped(size_t i) {
    const MapOperand* o = operand(i);
    return o && o->mapped;
  }
  Tensor& tensor(size_t i) { return *operand(i)->tensor; }
  /// The samples of an operand that is not mapped are all the same.
  void expand(MapOperand& o) const;
  void expand_all();
  /// A sample of a mapped operand has at least `dims` dimensions, new ones in front.
  static void align(MapOperand& o, int64_t dims);
  void align_all(int64_t dims);
  int64_t most_dims() const;
  /// The one result: `self` has it in the form in place.
  void give(const Tensor& result);
  IntArrayRef keep(DimVector list) { return lists_.emplace_back(std::move(list)); }
  ArrayRef<TensorIndex> keep(std::vector<TensorIndex> list) {
    return index_lists_.emplace_back(std::move(list));
  }

  ArrayRef<MapArgument> arguments;
  bool in_place;
  int8_t depth = 0;  ///< of the maps that the call is in
  int level = 0;
  int64_t samples = 0;
  std::vector<MapOperand> operands;
  std::vector<Tensor> results;

 private:
  uint64_t collect();
  void take_level();
  void refuse_unmapped_self() const;
  void give_level();

  const char* name_;
  Run run_;
  const void* operation_;
  std::deque<DimVector> lists_;
  std::deque<std::vector<Tensor>> tensor_lists_;
  std::deque<std::vector<TensorIndex>> index_lists_;
};

/// How an operation is called for all samples: its results have the samples as first dimension.
/// `false`: not with these arguments.
using MapRule = bool (*)(MapCall& call);
/// The rule of an operation, or nullptr.
MapRule find_map_rule(std::string_view name);
/// Sample by sample; with `same_draws` each draws the same random numbers.
void loop_over_samples(MapCall& call, bool same_draws = false);
/// Whether the call draws random numbers.
bool draws_numbers(const MapCall& call);
/// A call that does, by the randomness of its level, which it may have operands of. `false` if its
/// results are the same for all samples.
bool answer_random(MapCall& call, bool has_mapped);

/// Random operations may draw the same numbers again and again: after each `again`.
class DrawsAgain {
 public:
  DrawsAgain(bool on, const std::vector<Tensor>& operands);
  void again() const;

 private:
  std::vector<std::pair<Generator, std::vector<uint8_t>>> states_;
};

}  // namespace taeda::inline v0_2
