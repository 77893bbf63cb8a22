// What a module's forward does: the operations that it calls, in order, on which values. Not part
// of the public interface.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2::onnx {

/// A value by its number in a trace; kNone for a tensor that is not there.
using ValueId = int;
constexpr ValueId kNone = -1;

/// What stands between the brackets of an index, with values in place of tensors.
struct TracedIndex {
  TensorIndex::Kind kind;
  int64_t integer = 0;
  OptionalDim start, stop;
  int64_t step = 1;
  ValueId value = kNone;
};

/// An argument of a call: what an observer is told, with values in place of tensors.
using TracedArgument = std::variant<std::monostate, bool, int64_t, double, Scalar, std::string,
                                    ScalarType, std::vector<int64_t>, std::vector<double>, ValueId,
                                    std::vector<ValueId>, std::vector<TracedIndex>>;

struct TracedValue {
  enum class Kind : uint8_t { Input, Parameter, Constant, Result };
  Kind kind;
  std::string name;  ///< of an input or a parameter
  ScalarType dtype;
  DimVector sizes;
  /// Whether the program's inputs had a part in it.
  bool depends = false;
  /// The tensor itself of a parameter; of a constant, and of a result that only constants had a
  /// part in, a copy.
  Tensor tensor;
};

struct TracedCall {
  std::string name;   ///< of the operation; a form in place has no underscore here
  std::string place;  ///< path of the module that called it
  std::vector<TracedArgument> arguments;
  std::vector<ValueId> results;
  bool in_place = false;
};

struct Trace {
  std::vector<TracedValue> values;
  std::vector<TracedCall> calls;
  std::vector<ValueId> outputs;
};

/// Follows the operations of this thread from its construction on.
class Tracer : public OperationObserver {
 public:
  /// `names` are those of inputs and of what the module has.
  void add_input(const std::string& name, const Tensor& tensor);
  void add_parameter(const std::string& name, const Tensor& tensor);
  /// Ends the trace. Throws NotImplementedError if something happened that nobody can follow.
  Trace finish(const std::vector<Tensor>& outputs);

  void begins(const char* name, std::vector<ObservedValue> arguments) override;
  void ends(const std::vector<Tensor>& results) override;
  /// ONNX has words for fewer operations than there are.
  bool prefers_parts(const char*) override { return true; }
  void replaces(const std::vector<Tensor>& results, const std::vector<Tensor>& parts) override;
  void unobserved_kernel(const char* kernel) noexcept override;

 private:
  struct Bound {
    ValueId value;
    int64_t version;
  };

  ValueId add(TracedValue::Kind kind, std::string name, const Tensor& tensor, bool depends);
  /// From now on `tensor` is this value, until it is changed in place.
  void bind(const Tensor& tensor, ValueId id);
  bool is_copy(const Tensor& result) const;
  ValueId value_of(const Tensor& tensor);
  TracedArgument traced(const ObservedValue& argument);
  std::vector<TracedIndex> traced_indices(const std::vector<TensorIndex>& indices);
  bool depends(const TracedArgument& argument) const;
  bool is_constant(const TracedCall& call) const;
  void check_kernels() const;
  std::string where() const;

  Trace trace_;
  TracedCall call_;
  std::unordered_map<const TensorImpl*, Bound> bound_;
  /// Memory that values lie in which depend on inputs, or that parameters lie in.
  std::unordered_set<const void*> memory_;
  /// All that was bound: an address must not come back for another tensor.
  std::vector<Tensor> kept_;
  std::string kernel_, kernel_place_;  ///< the first kernel that ran for no observed operation
};

}  // namespace taeda::inline v0_2::onnx
