#include "taeda/onnx/export.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "taeda/base/error.h"
#include "taeda/device/generator.h"
#include "taeda/io/atomic_file.h"
#include "taeda/onnx/file.h"
#include "taeda/onnx/import.h"
#include "taeda/onnx/lower.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::onnx {

namespace {

constexpr int64_t kFirstOpset = 17, kLastOpset = 21;

/// The version of the format that a version of the operators came with.
int64_t ir_version_of(int64_t opset) { return opset <= 18 ? 8 : opset <= 20 ? 9 : 10; }

/// A module in eval mode, until it is in the modes that it had.
class InEval {
 public:
  explicit InEval(nn::Module& module) {
    module.apply([&](nn::Module& m) { modes_.emplace_back(&m, m.is_training()); });
    module.eval();
  }
  ~InEval() {
    // Parents come first: train() sets those below, too.
    for (const auto& [module, training] : modes_)
      if (module->is_training() != training) module->train(training);
  }
  InEval(const InEval&) = delete;
  InEval& operator=(const InEval&) = delete;

 private:
  std::vector<std::pair<nn::Module*, bool>> modes_;
};

Names default_names(const std::string& kind, size_t n) {
  if (n == 1) return {kind};
  Names out;
  for (size_t i = 0; i < n; ++i) out.push_back(kind + "_" + std::to_string(i));
  return out;
}

void check_names(const Names& names, size_t n, const char* kind) {
  TAEDA_CHECK_VALUE(names.size() == n, "there are ", n, " ", kind, "s, and ", names.size(),
                    " names for them");
  std::set<std::string> seen;
  for (const std::string& name : names)
    TAEDA_CHECK_VALUE(!name.empty() && seen.insert(name).second, "'", name,
                      "' cannot be the name of ", "an ", kind,
                      ": names are different and not empty");
}

/// Whether an output is called so; outputs that the options do not name are "output", or "output_0"
/// and on.
bool names_output(const ExportOptions& options, const std::string& name) {
  const std::vector<std::string>& given = options.output_names;
  if (!given.empty()) return std::find(given.begin(), given.end(), name) != given.end();
  return name == "output" || (name.starts_with("output_") && name.size() > 7 &&
                              name.find_first_not_of("0123456789", 7) == std::string::npos);
}

/// The axes of the options, in the order of the inputs. Names of outputs may be there, as in
/// PyTorch; their axes follow from the inputs'.
std::vector<Axis> open_axes(const ExportOptions& options, const Names& names,
                            const std::vector<Tensor>& examples) {
  std::vector<Axis> out;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto it = options.dynamic_axes.find(names[i]);
    if (it == options.dynamic_axes.end()) continue;
    for (const auto& entry : it->second) {
      const int64_t dim = entry.first;
      const std::string& name = entry.second;  // which a closure below takes
      const int64_t d = wrap_dim(dim, examples[i].dim()), size = examples[i].size(d);
      TAEDA_CHECK_VALUE(!name.empty() && size > 0, "dynamic_axes: dimension ", dim, " of '",
                        names[i], "' needs a name and an example that is not empty");
      auto axis =
          std::find_if(out.begin(), out.end(), [&](const Axis& a) { return a.name == name; });
      if (axis == out.end()) axis = out.insert(out.end(), Axis{name, {}, size});
      TAEDA_CHECK_VALUE(axis->size == size, "dynamic_axes: '", name, "' is ", axis->size, " and ",
                        size, " in the examples");
      axis->places.emplace_back(i, d);
    }
  }
  for (const auto& [name, axes] : options.dynamic_axes)
    TAEDA_CHECK_VALUE(
        std::find(names.begin(), names.end(), name) != names.end() || names_output(options, name),
        "dynamic_axes names '", name, "', which is no input or output");
  return out;
}

/// The examples with one axis larger: its entries come again from the first on, so that indices
/// stay indices.
std::vector<Tensor> enlarged(std::vector<Tensor> examples, const Axis& axis, int64_t by) {
  for (const auto& [input, dim] : axis.places) {
    const Tensor& old = examples[input];
    const Tensor rows = arange(old.size(dim) + by, TensorOptions(kLong)).remainder(old.size(dim));
    examples[input] = old.index_select(dim, rows.to(old.device()));
  }
  return examples;
}

/// All inputs that forward is traced with.
std::vector<std::vector<Tensor>> all_examples(const std::vector<Tensor>& examples,
                                              const std::vector<Axis>& axes) {
  std::vector<std::vector<Tensor>> out{examples};
  for (const Axis& axis : axes)
    for (const int64_t step : Traces::kSteps) out.push_back(enlarged(examples, axis, step));
  return out;
}

Trace trace_once(nn::Module& module, const Forward& forward, const Names& names,
                 const std::vector<Tensor>& examples, std::vector<Tensor>* results) {
  std::vector<Tensor> inputs;
  for (const Tensor& example : examples) inputs.push_back(example.detach().clone());
  Tracer tracer;
  for (size_t i = 0; i < inputs.size(); ++i) tracer.add_input(names[i], inputs[i]);
  for (const auto& item : module.named_parameters()) tracer.add_parameter(item.key(), item.value());
  for (const auto& item : module.named_buffers()) tracer.add_parameter(item.key(), item.value());
  const auto random = default_generator(Device(kCPU)).get_state();
  *results = forward(inputs);
  Trace out = tracer.finish(*results);
  // Dropout is refused by its name.
  const bool drops = std::any_of(out.calls.begin(), out.calls.end(), [](const TracedCall& call) {
    return call.name.ends_with("dropout");
  });
  TAEDA_CHECK_NOT_IMPLEMENTED(
      drops || random == default_generator(Device(kCPU)).get_state(),
      "forward draws random numbers, which an exported model would not; make "
      "them an input of it");
  return out;
}

/// The same with one axis larger than in the example: where forward fails then, it is the axis that
/// cannot stay open.
Trace trace_enlarged(nn::Module& module, const Forward& forward, const Names& names,
                     const std::vector<Tensor>& examples, std::vector<Tensor>* results,
                     const Axis& axis) {
  try {
    return trace_once(module, forward, names, examples, results);
  } catch (const std::exception& e) {
    const auto* own = dynamic_cast<const Error*>(&e);
    const auto& [input, dim] = axis.places.front();
    refuse_axis(axis, examples[input].size(dim),
                std::string("forward fails (") + (own ? own->message() : e.what()) + ")");
  }
}

/// `forward` between what the options compute before and behind it.
Forward surrounded(const Forward& forward, const ExportOptions& options) {
  if (!options.preprocess && !options.postprocess) return forward;
  return [&forward, &options](const std::vector<Tensor>& inputs) {
    const std::vector<Tensor> outputs =
        forward(options.preprocess ? options.preprocess(inputs) : inputs);
    return options.postprocess ? options.postprocess(outputs) : outputs;
  };
}

/// Gives inputs and outputs what the options say of them.
void describe(Graph& graph, const std::map<std::string, std::string>& descriptions) {
  for (const auto& [name, text] : descriptions) {
    ValueInfo* found = nullptr;
    for (std::vector<ValueInfo>* list : {&graph.inputs, &graph.outputs})
      for (ValueInfo& info : *list)
        if (info.name == name) found = &info;
    TAEDA_CHECK_VALUE(found, "descriptions names '", name, "', which is no input or output");
    found->text = text;
  }
}

/// What a module was found to compute.
struct Exported {
  Graph graph;
  std::vector<std::vector<Tensor>> inputs, outputs;
};

Exported export_graph(nn::Module& module, const Forward& forward,
                      const std::vector<Tensor>& examples, const ExportOptions& options) {
  TAEDA_CHECK_VALUE(options.opset_version >= kFirstOpset && options.opset_version <= kLastOpset,
                    "opset_version must be from ", kFirstOpset, " to ", kLastOpset, ", got ",
                    options.opset_version);
  for (const Tensor& example : examples)
    TAEDA_CHECK_VALUE(example.defined(), "an example input is undefined");
  const Names input_names =
      options.input_names.empty() ? default_names("input", examples.size()) : options.input_names;
  check_names(input_names, examples.size(), "input");
  const std::vector<Axis> axes = open_axes(options, input_names, examples);
  const NoGradGuard no_grad;
  const AutocastMode::Pause no_autocast;
  const InEval eval(module);
  Exported out;
  out.inputs = all_examples(examples, axes);
  std::vector<Trace> traces;
  const Forward whole = surrounded(forward, options);
  for (const std::vector<Tensor>& inputs : out.inputs) {
    std::vector<Tensor>* results = &out.outputs.emplace_back();
    const size_t t = traces.size();
    traces.push_back(t == 0 ? trace_once(module, whole, input_names, inputs, results)
                            : trace_enlarged(module, whole, input_names, inputs, results,
                                             axes[(t - 1) / std::size(Traces::kSteps)]));
  }
  const Names output_names = options.output_names.empty()
                                 ? default_names("output", out.outputs[0].size())
                                 : options.output_names;
  check_names(output_names, out.outputs[0].size(), "output");
  const Traces all(std::move(traces), axes);
  out.graph = Lowering(all, options.opset_version).run(input_names, output_names);
  out.graph.ir_version = ir_version_of(options.opset_version);
  out.graph.name = module.name();
  out.graph.producer = "taeda";
  out.graph.metadata = options.metadata;
  describe(out.graph, options.descriptions);
  check_graph(out.graph);
  return out;
}

/// Whether numbers are the same but for the order of sums: up to a thousandth of the largest for
/// 32 bits and more, and a thirtieth for 16.
bool are_close(const Tensor& expected, const Tensor& found) {
  if (expected.sizes() != found.sizes() || expected.dtype() != found.dtype()) return false;
  if (expected.numel() == 0) return true;
  if (!is_floating_point(expected.dtype())) return expected.cpu().equal(found.cpu());
  constexpr double kHalf = 0.03, kFull = 1e-3;
  const double tolerance = is_reduced_floating(expected.dtype()) ? kHalf : kFull;
  const Tensor a = expected.cpu().to(kDouble).nan_to_num(),
               b = found.cpu().to(kDouble).nan_to_num();
  const double largest = std::max(1., a.abs().max().item<double>());
  return a.sub(b).abs().max().item<double>() <= tolerance * largest;
}

void verify(const Exported& exported) {
  Graph on_host = exported.graph;
  for (auto& [name, tensor] : on_host.initializers) tensor = tensor.detach().cpu();
  ImportedModel model(std::move(on_host));
  for (size_t t = 0; t < exported.inputs.size(); ++t) {
    std::vector<Tensor> inputs;
    for (const Tensor& input : exported.inputs[t]) inputs.push_back(input.cpu());
    const std::vector<Tensor> found = model->run(inputs);
    for (size_t i = 0; i < found.size(); ++i)
      TAEDA_CHECK(are_close(exported.outputs[t][i], found[i]),
                  "the exported model computes another '", exported.graph.outputs[i].name,
                  "' than the module", t == 0 ? "" : " for other sizes than the example's",
                  "; nothing was written. Its forward does something that cannot be followed, "
                  "such as reading tensors' memory");
  }
}

}  // namespace

void detail::throw_wrong_inputs(const nn::Module& module, size_t given) {
  throw TypeError(taeda::detail::concat("the forward of ", module.name(), " does not take ", given,
                                        " tensor(s), or returns something else than tensors; use "
                                        "onnx::export_forward with a function "
                                        "that calls it"));
}

Graph to_graph(nn::Module& module, const Forward& forward, const std::vector<Tensor>& examples,
               const ExportOptions& options) {
  Exported out = export_graph(module, forward, examples, options);
  if (options.verify) verify(out);
  return std::move(out.graph);
}

void export_forward(nn::Module& module, const Forward& forward, const std::vector<Tensor>& examples,
                    const std::string& path, const ExportOptions& options) {
  const Exported out = export_graph(module, forward, examples, options);
  if (options.verify) verify(out);
  io::write_file(path, write_graph(out.graph));
}

}  // namespace taeda::inline v0_2::onnx
