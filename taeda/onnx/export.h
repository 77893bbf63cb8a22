// Modules written as ONNX models: `onnx::export_model(net, {torch::randn({1, 3, 224, 224})},
// "net.onnx")`. docs/onnx.md is the guide.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "taeda/nn/holder.h"
#include "taeda/onnx/graph.h"

namespace taeda::inline v0_2::onnx {

/// A function from tensors to tensors, like a module's forward.
using Forward = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// How a model is exported.
struct ExportOptions {
  /// Names of inputs and outputs; by default "input" ("input_0", "input_1", ... of several) and
  /// "output".
  std::vector<std::string> input_names = {}, output_names = {};
  /// Sizes that may differ from the example's: by input's name, dimension and a name for the size.
  /// The same name stands for one size. {{"input", {{0, "batch"}}}}
  std::map<std::string, std::map<int64_t, std::string>> dynamic_axes = {};
  /// The version of ONNX's operators, 17 to 21.
  int64_t opset_version = 17;
  /// Whatever shall stand in the file, by key.
  std::map<std::string, std::string> metadata = {};
  /// Runs the graph on the example and on the other sizes that were traced, and throws Error where
  /// it computes something else than the module. Nothing is written then.
  bool verify = true;
  /// What is computed before the module and behind it, as a part of the graph: examples are then
  /// what `preprocess` takes, and outputs what `postprocess` gives. Empty: nothing. So a file takes
  /// bytes of pictures and gives probabilities, whatever the network was trained on.
  Forward preprocess = {}, postprocess = {};
  /// What inputs and outputs are, by their names: units, columns, classes. Stands beside them in
  /// the file. Throws ValueError for a name that is neither.
  std::map<std::string, std::string> descriptions = {};
};

/// The graph of `forward`, which may use the parameters and buffers of `module`. It runs in eval
/// mode and without gradients, once with the examples and twice for each dynamic axis; the module
/// is as before afterwards. Parameters and buffers become initializers under their names. Throws
/// NotImplementedError, naming operation and module, for what ONNX has no operator for, for values
/// that the program reads, and for sizes that dynamic axes would freeze; ValueError for options
/// that do not fit.
Graph to_graph(nn::Module& module, const Forward& forward, const std::vector<Tensor>& examples,
               const ExportOptions& options = {});
/// The same, written to a file that replaces another one whole or not at all.
void export_forward(nn::Module& module, const Forward& forward, const std::vector<Tensor>& examples,
                    const std::string& path, const ExportOptions& options = {});

namespace detail {
/// The tensors in what forward returns, from left to right.
inline void collect_outputs(std::vector<Tensor>& out, const Tensor& tensor) {
  out.push_back(tensor);
}
template <class T>
void collect_outputs(std::vector<Tensor>& out, const std::vector<T>& list);
template <class T>
void collect_outputs(std::vector<Tensor>& out, const std::optional<T>& value);
template <class... Ts>
void collect_outputs(std::vector<Tensor>& out, const std::tuple<Ts...>& tuple) {
  std::apply([&](const auto&... parts) { (collect_outputs(out, parts), ...); }, tuple);
}
template <class A, class B>
void collect_outputs(std::vector<Tensor>& out, const std::pair<A, B>& pair) {
  collect_outputs(out, pair.first);
  collect_outputs(out, pair.second);
}
template <class T>
void collect_outputs(std::vector<Tensor>& out, const std::vector<T>& list) {
  for (const T& part : list) collect_outputs(out, part);
}
template <class T>
void collect_outputs(std::vector<Tensor>& out, const std::optional<T>& value) {
  if (value) collect_outputs(out, *value);
}

[[noreturn]] void throw_wrong_inputs(const nn::Module& module, size_t given);

/// Most tensors that forward may take.
constexpr size_t kMostInputs = 8;

/// Calls forward with as many tensors as there are.
template <class M, size_t... I>
bool call_with(M& module, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs,
               std::index_sequence<I...>) {
  if (inputs.size() != sizeof...(I)) return false;
  if constexpr (requires { collect_outputs(outputs, module.forward(inputs[I]...)); }) {
    collect_outputs(outputs, nn::call(module, inputs[I]...));
    return true;
  }
  return false;
}

template <class M>
Forward forward_of(M& module) {
  return [&module](const std::vector<Tensor>& inputs) {
    std::vector<Tensor> outputs;
    const bool called = [&]<size_t... N>(std::index_sequence<N...>) {
      return (call_with(module, inputs, outputs, std::make_index_sequence<N + 1>()) || ...);
    }
    (std::make_index_sequence<kMostInputs>());
    if (!called) throw_wrong_inputs(module, inputs.size());
    return outputs;
  };
}
}  // namespace detail

/// Writes `module` as an ONNX model. Its forward takes `examples`, at most eight tensors, and
/// returns tensors, or tuples and lists of them; other forwards go through `export_forward`. See
/// `to_graph` for what is done and what throws.
template <class M>
requires std::is_base_of_v<nn::Module, M>
void export_model(M& module, const std::vector<Tensor>& examples, const std::string& path,
                  const ExportOptions& options = {}) {
  export_forward(module, detail::forward_of(module), examples, path, options);
}
template <class Contained>
void export_model(nn::ModuleHolder<Contained>& holder, const std::vector<Tensor>& examples,
                  const std::string& path, const ExportOptions& options = {}) {
  export_model(*holder, examples, path, options);
}

/// The same of a forward that takes one tensor: `export_model(net, x, "net.onnx")`.
template <class Model, std::same_as<Tensor> Example>
void export_model(Model& module, const Example& example, const std::string& path,
                  const ExportOptions& options = {}) {
  export_model(module, std::vector<Tensor>{example}, path, options);
}

/// Names of all operations that can be exported, in alphabetical order.
std::vector<std::string> exportable_operations();

}  // namespace taeda::inline v0_2::onnx
