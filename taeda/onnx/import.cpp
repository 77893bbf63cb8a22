#include "taeda/onnx/import.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <unordered_set>

#include "taeda/base/error.h"
#include "taeda/io/file_bytes.h"
#include "taeda/onnx/file.h"
#include "taeda/onnx/run.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

constexpr size_t kFirstStatistic = 3;

/// Names of the initializers that are statistics of batch norms.
std::unordered_set<std::string> statistics_of(const Graph& graph) {
  std::unordered_set<std::string> out;
  for (const Node& node : graph.nodes)
    if (node.op == "BatchNormalization" && node.inputs.size() > kFirstStatistic)
      out.insert(node.inputs.begin() + kFirstStatistic, node.inputs.end());
  return out;
}

}  // namespace

ImportedModelImpl::ImportedModelImpl(Graph graph) : graph_(std::move(graph)) {
  check_graph(graph_);
  const auto add = [&](const std::string& name) {
    if (!name.empty()) places_.emplace(name, static_cast<int>(places_.size()));
  };
  for (const auto& [name, tensor] : graph_.initializers) add(name);  // their places are the first
  for (const ValueInfo& input : graph_.inputs) add(input.name);
  for (const Node& node : graph_.nodes)
    for (const std::string& output : node.outputs) add(output);
  add_initializers();
  add_steps();
  ImportedModelImpl::reset();
}

void ImportedModelImpl::add_initializers() {
  const std::unordered_set<std::string> statistics = statistics_of(graph_);
  for (size_t i = 0; i < graph_.initializers.size(); ++i) {
    const auto& [name, tensor] = graph_.initializers[i];
    using Kind = NamedTensors::Kind;
    // Numbers that an exporter wrote down were not learned.
    const bool is_constant = !tensor.is_floating_point() || tensor.dim() == 0 ||
                             (graph_.producer == "taeda" && name.starts_with("constant"));
    tensors_.add(name, tensor,
                 is_constant                 ? Kind::Constant
                 : statistics.contains(name) ? Kind::Statistic
                                             : Kind::Parameter,
                 static_cast<int>(i));
  }
}

void ImportedModelImpl::reset() {
  tensors_.register_with(*this);
  // The graph shows what the module has, and keeps nothing else.
  std::vector<Tensor> values(graph_.initializers.size());
  tensors_.collect(values);
  for (size_t i = 0; i < values.size(); ++i) graph_.initializers[i].second = values[i];
}

int ImportedModelImpl::place(const std::string& name) const {
  return name.empty() ? -1 : places_.at(name);
}

void ImportedModelImpl::add_steps() {
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    const auto function = node.domain.empty() ? find_operator(node.op) : nullptr;
    TAEDA_CHECK_NOT_IMPLEMENTED(
        function, "Taeda does not run the operator ", node.title(),
        node.place.empty() ? std::string() : " (" + node.place + ")",
        "; docs/onnx.md lists those that it runs. Export the model with other operators or a lower "
        "opset version");
    for (const auto& [name, value] : node.attributes)
      if (const auto* bad = std::get_if<Unsupported>(&value))
        throw NotImplementedError(taeda::detail::concat("the attribute '", name, "' of ",
                                                        node.title(), " is ", bad->what,
                                                        ", which Taeda does not run"));
    Step& step = steps_.emplace_back();
    step.node = n;
    step.function = function;
    for (const std::string& input : node.inputs) step.inputs.push_back(place(input));
    for (const std::string& output : node.outputs) step.outputs.push_back(place(output));
  }
  std::unordered_set<int> needed;
  for (const ValueInfo& output : graph_.outputs) needed.insert(place(output.name));
  for (size_t i = 0; i < graph_.initializers.size(); ++i) needed.insert(static_cast<int>(i));
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    for (const int input : step->inputs)
      if (input >= 0 && needed.insert(input).second) step->last.push_back(input);
    for (const int output : step->outputs)
      if (output >= 0 && needed.insert(output).second) step->last.push_back(output);
  }
}

void ImportedModelImpl::check_inputs(const std::vector<Tensor>& inputs) const {
  TAEDA_CHECK(inputs.size() == graph_.inputs.size(), "the model takes ", graph_.inputs.size(),
              " input(s), got ", inputs.size());
  std::unordered_map<std::string, int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& info = graph_.inputs[i];
    const Tensor& given = inputs[i];
    TAEDA_CHECK(given.defined(), "the input '", info.name, "' is undefined");
    bool fits = given.dtype() == info.dtype;
    if (fits && info.has_shape) {
      fits = given.dim() == static_cast<int64_t>(info.sizes.size());
      for (size_t d = 0; fits && d < info.sizes.size(); ++d) {
        const Dimension& dimension = info.sizes[d];
        const int64_t size = given.size(static_cast<int64_t>(d));
        if (dimension.size >= 0)
          fits = size == dimension.size;
        else if (!dimension.name.empty())
          fits = sizes.try_emplace(dimension.name, size).first->second == size;
      }
    }
    TAEDA_CHECK(fits, "the input '", info.name, "' must be ", info.type(), ", got ",
                dtype_name(given.dtype()), " ", given.sizes());
  }
}

void ImportedModelImpl::run_step(const Step& step, std::vector<Tensor>& values) const {
  const Node& node = graph_.nodes[step.node];
  Run run{node, graph_.opset, {}, {}};
  for (const int input : step.inputs)
    run.inputs.push_back(input < 0 ? Tensor() : values[static_cast<size_t>(input)]);
  run.outputs.resize(step.outputs.size());
  for (const int done : step.last) values[static_cast<size_t>(done)].reset();
  try {
    step.function(run);
  } catch (Error& error) {
    error.add_context("in operator " + node.title() +
                      (node.place.empty() ? "" : " (" + node.place + ")"));
    throw;
  }
  for (size_t k = 0; k < step.outputs.size(); ++k) {
    if (step.outputs[k] < 0) continue;
    TAEDA_CHECK_NOT_IMPLEMENTED(run.outputs[k].defined(), "the output #", k, " of ", node.title(),
                                " is used, which Taeda does not compute");
    values[static_cast<size_t>(step.outputs[k])] = std::move(run.outputs[k]);
  }
}

std::vector<Tensor> ImportedModelImpl::run(const std::vector<Tensor>& inputs) {
  check_inputs(inputs);
  std::vector<Tensor> values(places_.size());
  tensors_.collect(values);
  for (size_t i = 0; i < inputs.size(); ++i)
    values[static_cast<size_t>(place(graph_.inputs[i].name))] = inputs[i];
  for (const Step& step : steps_) {
    run_step(step, values);
    // What an operator gives and nobody takes is in its own list.
    for (const int done : step.last)
      if (std::find(step.outputs.begin(), step.outputs.end(), done) != step.outputs.end())
        values[static_cast<size_t>(done)].reset();
  }
  std::vector<Tensor> out;
  for (const ValueInfo& output : graph_.outputs)
    out.push_back(values[static_cast<size_t>(place(output.name))]);
  return out;
}

Tensor ImportedModelImpl::forward(const Tensor& input) {
  TAEDA_CHECK(graph_.outputs.size() == 1, "the model has ", graph_.outputs.size(),
              " outputs; call it with a list of its inputs, which gives a list");
  return run({input})[0];
}

void ImportedModelImpl::pretty_print(std::ostream& out) const {
  out << "ImportedModel(" << graph_.name << ", opset " << graph_.opset << ", "
      << graph_.nodes.size() << " operators)";
}

Graph read(const std::string& path, const LoadOptions& options) {
  const std::string bytes = io::read_file(path);
  try {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return read_graph(bytes, !options.external_data ? "" : folder.empty() ? "." : folder.string());
  } catch (Error& error) {
    error.add_context("in " + path);
    throw;
  }
}

ImportedModel load(const std::string& path, const LoadOptions& options) {
  Graph graph = read(path, options);
  try {
    return ImportedModel(std::move(graph));
  } catch (Error& error) {
    error.add_context("in " + path);
    throw;
  }
}

}  // namespace taeda::inline v0_2::onnx
