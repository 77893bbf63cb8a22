// From ONNX's operators to operations of Taeda. Not part of the public interface.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "taeda/onnx/graph.h"

namespace taeda::inline v0_2::onnx {

/// An operator at work.
struct Run {
  const Node& node;
  int64_t opset;
  std::vector<Tensor> inputs, outputs;

  size_t count() const { return inputs.size(); }
  bool has(size_t i) const { return i < inputs.size() && inputs[i].defined(); }
  /// Throws Error if it is not there.
  const Tensor& in(size_t i) const;
  /// An input, or undefined.
  Tensor maybe(size_t i) const { return has(i) ? inputs[i] : Tensor(); }
  void give(const Tensor& out, size_t k = 0) {
    if (k < outputs.size()) outputs[k] = out;
  }
  /// Whether result `k` is used.
  bool wants(size_t k) const { return k < node.outputs.size() && !node.outputs[k].empty(); }

  // Attributes. Those of another kind are an Error.

  bool told(const char* name) const { return node.attributes.contains(name); }
  int64_t integer(const char* name, int64_t fallback) const;
  double real(const char* name, double fallback) const;
  std::string text(const char* name, const char* fallback) const;
  std::vector<int64_t> integers(const char* name) const;
  std::vector<double> reals(const char* name) const;
  std::vector<std::string> texts(const char* name) const;
  Tensor tensor(const char* name) const;

  /// The whole numbers in an input of at most 64 elements (axes, sizes, pads).
  std::vector<int64_t> numbers(size_t i) const;
  /// The same from an input where newer operator sets have it, else from an attribute.
  std::vector<int64_t> numbers(size_t i, const char* attribute) const;
  /// Throws NotImplementedError with what is not supported.
  [[noreturn]] void refuse(const std::string& what) const;
};

struct Operator {
  const char* name;
  void (*run)(Run& run);
};
/// The tables, one for each family (run_*.cpp).
std::span<const Operator> pointwise_operators();
std::span<const Operator> binary_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> reduce_operators();
std::span<const Operator> layer_operators();
std::span<const Operator> recurrent_operators();

/// What runs an operator of ONNX's own domain, or nullptr.
void (*find_operator(const std::string& name))(Run&);

/// The dtype of ONNX's number for one.
ScalarType dtype_of_number(int64_t number);

}  // namespace taeda::inline v0_2::onnx
