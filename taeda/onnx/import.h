// ONNX models as modules: `auto net = onnx::load("net.onnx"); net(x)`. docs/onnx.md is the guide.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "taeda/nn/cloneable.h"
#include "taeda/nn/holder.h"
#include "taeda/onnx/graph.h"

namespace taeda::inline v0_2::onnx {

struct Run;
class BranchImpl;

/// The tensors of a module that follows the names in a file: its own, and modules with those whose
/// names go on behind a dot.
/// Sizes and dtypes are the file's.
struct NamedTensors {
  enum class Kind : uint8_t { Parameter, Statistic, Constant };
  struct Item {
    std::string key;
    Tensor tensor;
    Kind kind;
    int place;  ///< in the list of a graph's values
  };

  /// Adds a tensor under the name that the file has for it, changed where a module has no such.
  void add(const std::string& name, const Tensor& tensor, Kind kind, int place);
  /// Registers all as copies, which are held from then on.
  void register_with(nn::Module& owner);
  /// Puts each tensor at its place.
  void collect(std::vector<Tensor>& values) const;
  bool has(const std::string& key) const;
  bool try_add(const std::string& name, const Tensor& tensor, Kind kind, int place);

  std::vector<Item> items;
  std::vector<std::pair<std::string, std::shared_ptr<BranchImpl>>> branches;
};

/// A graph that runs. Floating-point initializers are parameters under their names, whose dots lead
/// through modules ("layer1.0.weight"); the statistics of batch norms are buffers; other constants
/// are buffers that no state dict has. Where all that a graph does is differentiable, so is this.
class ImportedModelImpl : public nn::Cloneable<ImportedModelImpl> {
 public:
  /// Throws NotImplementedError, naming the operator, for one that Taeda does not run; Error for a
  /// graph that is none.
  explicit ImportedModelImpl(Graph graph);
  void reset() override;

  /// The outputs for these inputs, in the file's order. Throws Error for inputs of other dtypes or
  /// sizes than the file says, naming the input, and for what an operator refuses, naming it.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  /// The same of a model with one input and one output.
  Tensor forward(const Tensor& input);
  std::vector<Tensor> forward(const std::vector<Tensor>& inputs) { return run(inputs); }

  const Graph& graph() const { return graph_; }
  void pretty_print(std::ostream& out) const override;

 private:
  struct Step {
    size_t node;
    void (*function)(Run&);
    std::vector<int> inputs, outputs;  ///< places in a list of values; -1: not there
    std::vector<int> last;             ///< values that nothing needs afterwards
  };

  void add_initializers();
  void add_steps();
  int place(const std::string& name) const;
  void check_inputs(const std::vector<Tensor>& inputs) const;
  void run_step(const Step& step, std::vector<Tensor>& values) const;

  Graph graph_;
  std::unordered_map<std::string, int> places_;
  NamedTensors tensors_;
  std::vector<Step> steps_;
};
/// A model of a file as a module: `model(x)` of one input and one output, `model->run({a, b})`.
TAEDA_MODULE(ImportedModel);

/// How a model is read.
struct LoadOptions {
  /// Reads tensors that lie in other files of the model's folder (what PyTorch writes beside large
  /// models). Without, such a model is an Error: a file that anybody may have made opens no other.
  bool external_data = false;
};

/// The model in a file. Memory grows with the file's size. Throws Error, naming the path and the
/// operator, for what is no model or cannot be run.
ImportedModel load(const std::string& path, const LoadOptions& options = {});

/// The graph in a file without running it, for looking at it.
Graph read(const std::string& path, const LoadOptions& options = {});

/// Names of all operators that can be run, in alphabetical order.
std::vector<std::string> importable_operators();

}  // namespace taeda::inline v0_2::onnx
