// From operations of Taeda to ONNX's operators. Not part of the public interface.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "taeda/onnx/graph.h"
#include "taeda/onnx/sizes.h"

namespace taeda::inline v0_2::onnx {

class Call;

/// How one operation is written.
struct Rule {
  const char* operation;
  void (*write)(Call& call);
};
/// The tables, one for each family (rules_*.cpp).
std::span<const Rule> pointwise_rules();
std::span<const Rule> arithmetic_rules();
std::span<const Rule> shape_rules();
std::span<const Rule> part_rules();
std::span<const Rule> create_rules();
std::span<const Rule> reduce_rules();
std::span<const Rule> layer_rules();
std::span<const Rule> pool_rules();
std::span<const Rule> matrix_rules();
std::span<const Rule> recurrent_rules();
/// Names of all operations that can be exported, in alphabetical order.
std::vector<std::string> exportable_operations();

using Names = std::vector<std::string>;
using Attributes = std::map<std::string, Attribute>;

/// Writes the calls of a trace as a graph.
class Lowering {
 public:
  Lowering(const Traces& traces, int64_t opset);

  /// `input_names` and `output_names` as the file shall have them. Throws NotImplementedError,
  /// naming operation and module, for what has no rule.
  Graph run(const Names& input_names, const Names& output_names);

  const Traces& traces() const { return traces_; }
  int64_t opset() const { return graph_.opset; }
  const TracedValue& value(ValueId id) const {
    return traces_.first().values[static_cast<size_t>(id)];
  }
  /// Name of a value, which is written now if it is a constant.
  std::string name_of(ValueId id);
  void set_name(ValueId id, std::string name) { names_[id] = std::move(name); }
  /// Whether a value is known now.
  bool is_folded(ValueId id) const { return folded_.contains(id); }

  /// A new operator; names of what it gives.
  Names emit(const std::string& op, Names inputs, size_t outputs, Attributes attributes = {});
  std::string emit(const std::string& op, Names inputs, Attributes attributes = {}) {
    return emit(op, std::move(inputs), 1, std::move(attributes))[0];
  }
  std::string constant(const Tensor& tensor);
  std::string ints(std::vector<int64_t> values);
  /// An int64 vector of sizes, computed if they are not all known.
  std::string size_list(const std::vector<Size>& sizes);
  /// One of them, as a 0-dim tensor.
  std::string size_number(const Size& size);

 private:
  void write_call(size_t index);
  bool fold(size_t index);
  std::string fresh(const std::string& wanted);
  std::string one_size(const Size& size);
  std::string axis_size(size_t axis);
  void finish_outputs(const Names& output_names);
  void drop_unused();
  ValueInfo info(const std::string& name, ValueId id) const;

  const Traces& traces_;
  Graph graph_;
  std::string place_;
  std::unordered_map<ValueId, std::string> names_;
  std::unordered_set<ValueId> folded_;
  std::unordered_map<std::string, int> used_;
  std::unordered_map<size_t, std::string> axis_sizes_;
  std::unordered_map<std::string, std::string> int_lists_;
  Names input_names_;
};

/// A call whose rule is at work.
class Call {
 public:
  Call(Lowering& lowering, size_t index);

  const TracedCall& traced() const { return call_; }
  const std::string& name() const { return call_.name; }
  size_t count() const { return call_.arguments.size(); }
  int64_t opset() const { return lowering_.opset(); }

  // Arguments by their place in the operation's declaration.

  template <class T>
  bool is(size_t i) const {
    return i < count() && std::holds_alternative<T>(call_.arguments[i]);
  }
  bool has(size_t i) const { return i < count() && !is<std::monostate>(i) && !is_none(i); }
  bool is_tensor(size_t i) const { return is<ValueId>(i) && !is_none(i); }
  ValueId id(size_t i) const { return std::get<ValueId>(call_.arguments[i]); }
  const std::vector<ValueId>& ids(size_t i) const {
    return std::get<std::vector<ValueId>>(call_.arguments[i]);
  }
  const TracedValue& value(size_t i) const { return lowering_.value(id(i)); }
  /// The name of a tensor argument; empty if it is not there.
  std::string in(size_t i) const { return has(i) ? lowering_.name_of(id(i)) : std::string(); }
  /// A whole number that must not depend on an axis; `fallback` for one that is not there.
  int64_t integer(size_t i, int64_t fallback = 0) const;
  std::vector<int64_t> integers(size_t i) const;
  /// The same, where one number stands for `n`.
  std::vector<int64_t> spread(size_t i, size_t n, int64_t fallback = 1) const;
  double real(size_t i, double fallback = 0) const;
  bool flag(size_t i, bool fallback = false) const;
  std::string text(size_t i, std::string fallback = "") const;
  const Scalar* scalar(size_t i) const {
    return i < count() ? std::get_if<Scalar>(&call_.arguments[i]) : nullptr;
  }
  Size size(size_t i) const { return lowering_.traces().argument(index_, i); }
  std::vector<Size> sizes(size_t i) const { return lowering_.traces().arguments(index_, i); }
  /// The dimension in an argument, counted from 0.
  int64_t dim(size_t i, int64_t of_rank, int64_t fallback = 0) const;

  // Tensors.

  int64_t rank(size_t i) const { return static_cast<int64_t>(value(i).sizes.size()); }
  std::vector<Size> sizes_of(ValueId id) const { return lowering_.traces().sizes(id); }
  std::vector<Size> sizes_of_argument(size_t i) const { return sizes_of(id(i)); }
  /// The size of a dimension of an argument, which must be fixed.
  int64_t fixed_size(size_t i, int64_t dim) const;
  ValueId result(size_t k = 0) const { return call_.results[k]; }
  const TracedValue& result_value(size_t k = 0) const { return lowering_.value(result(k)); }
  ScalarType dtype() const { return result_value().dtype; }
  /// Argument `i`, a tensor or a number, as a tensor of `dtype`.
  std::string operand(size_t i, ScalarType dtype) const;
  /// The dtype that arguments compute in together.
  ScalarType common_dtype(std::initializer_list<size_t> arguments) const;

  // Writing.

  std::string emit(const std::string& op, Names inputs, Attributes attributes = {}) {
    return lowering_.emit(op, std::move(inputs), std::move(attributes));
  }
  Names emit_many(const std::string& op, Names inputs, size_t outputs, Attributes attributes = {}) {
    return lowering_.emit(op, std::move(inputs), outputs, std::move(attributes));
  }
  std::string cast(const std::string& name, ScalarType from, ScalarType to);
  /// A 0-dim tensor.
  std::string number(double value, ScalarType dtype) const;
  std::string constant(const Tensor& tensor) const { return lowering_.constant(tensor); }
  std::string ints(std::vector<int64_t> values) const { return lowering_.ints(std::move(values)); }
  Lowering& lowering() { return lowering_; }
  /// `name`, a tensor of the sizes `from`, with the sizes `to`.
  std::string reshape(const std::string& name, const std::vector<Size>& from,
                      const std::vector<Size>& to);
  std::string transpose(const std::string& name, std::vector<int64_t> order);
  std::string unsqueeze(const std::string& name, std::vector<int64_t> axes);
  std::string squeeze(const std::string& name, std::vector<int64_t> axes);
  /// Entries [start, end) along `axis`; of a size that may depend on an axis of the model.
  std::string slice(const std::string& name, int64_t axis, const Size& start, const Size& end,
                    int64_t step = 1);
  /// A reduction, whose axes are an attribute in older operator sets (none: all axes).
  std::string reduce(const std::string& op, const std::string& name, std::vector<int64_t> axes,
                     bool keepdim);
  /// `name` is result `k`.
  void give(const std::string& name, size_t k = 0) { lowering_.set_name(result(k), name); }

  /// Throws NotImplementedError: the call cannot be exported because `why`.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  bool is_none(size_t i) const { return is<ValueId>(i) && id(i) == kNone; }

  Lowering& lowering_;
  size_t index_;
  const TracedCall& call_;
};

/// A constant size.
inline Size fixed(int64_t value) {
  Size out;
  out.value = value;
  return out;
}

}  // namespace taeda::inline v0_2::onnx
