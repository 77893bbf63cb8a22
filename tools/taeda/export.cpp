// `taeda export`: a network as an ONNX model.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "taeda/io/checkpoint.h"
#include "taeda/log/table.h"
#include "taeda/models/resnet.h"
#include "taeda/onnx/onnx.h"
#include "taeda/ops/create.h"
#include "tools/taeda/command.h"
#include "tools/taeda/tensor_file.h"
#include "tools/taeda/train/networks.h"

namespace taeda::tool {

namespace {

struct ExportChoices {
  std::string what, out, weights;
  int64_t opset = 17, classes = 0;
};

/// A network, an input for it, and which of the input's axes stay open.
struct Exportable {
  nn::AnyModule network;
  Tensor example;
  std::string input;
  std::map<int64_t, std::string> axes;
};

constexpr int64_t kImageNetClasses = 1000, kSmallClasses = 10;
constexpr const char* kExportModels =
    "cnn, lenet, mlp, resnet18, resnet50, resnet101, resnet152, vgg, mobilenet_v2";

Exportable of_pictures(nn::AnyModule network, const PictureShape& s) {
  return {
      std::move(network), zeros({2, s.channels, s.height, s.width}), "pictures", {{0, "batch"}}};
}

Exportable named_network(const ExportChoices& o) {
  const auto is = [&](const char* name) { return o.what == name; };
  const bool small = is("cnn") || is("lenet") || is("mlp");
  const PictureShape shape = small ? PictureShape{1, 28, 28} : PictureShape{3, 224, 224};
  const int64_t classes = o.classes > 0 ? o.classes : small ? kSmallClasses : kImageNetClasses;
  if (is("resnet50")) return of_pictures(models::resnet50(classes), shape);
  if (is("resnet101")) return of_pictures(models::resnet101(classes), shape);
  if (is("resnet152")) return of_pictures(models::resnet152(classes), shape);
  check_picture_model(o.what, shape);
  return of_pictures(make_picture_model(o.what, shape, classes), shape);
}

/// The sizes of the network's tensor whose name ends so.
IntArrayRef sizes_of(const io::NamedTensors& tensors, const std::string& ending) {
  for (const auto& [name, tensor] : tensors)
    if (name.starts_with("model.") && name.ends_with(ending) && tensor.dim() > 0)
      return tensor.sizes();
  throw UsageError("the checkpoint has no tensor model." + ending +
                   ": it is of no network that "
                   "taeda train makes");
}

/// The name of a network's last bias, which has an element for each class.
std::string last_bias(const std::string& model) {
  return model == "lenet"          ? "fc3.bias"
         : model == "resnet18"     ? "fc.bias"
         : model == "vgg"          ? "classifier.6.bias"
         : model == "mobilenet_v2" ? "classifier.1.bias"
                                   : "out.bias";
}

/// The network that a run trained, as its settings and the sizes of its tensors say.
Exportable trained_network(const io::Checkpoint& c, const io::NamedTensors& tensors) {
  const std::string task = c.text("run.task"), model = c.text("run.--model");
  const auto number = [&](const char* name) {
    return user_input([&] { return static_cast<int64_t>(std::stoll(c.text(name))); });
  };
  if (task == "csv") {
    const IntArrayRef first = sizes_of(tensors, "fc1.weight");
    const int64_t out = sizes_of(tensors, "out.bias")[0];
    return {make_mlp(first[1], first[0], out), zeros({2, first[1]}), "rows", {{0, "batch"}}};
  }
  if (task == "text") {
    const int64_t words = sizes_of(tensors, model == "gpt" ? "wte.weight" : "encoder.weight")[0];
    const TextShape shape{words, number("run.--context"), number("run.--layers"),
                          number("run.--width")};
    const int64_t length = std::min<int64_t>(shape.context, 4);
    return {make_text_model(model, shape),
            zeros({2, length}, kLong),
            "tokens",
            {{0, "batch"}, {1, "time"}}};
  }
  const int64_t classes = sizes_of(tensors, last_bias(model))[0];
  PictureShape shape{1, 28, 28};
  if (task == "cifar10") shape = {3, 32, 32};
  if (task == "folder") shape = {3, number("run.--image-size"), number("run.--image-size")};
  return of_pictures(make_picture_model(model, shape, classes), shape);
}

Exportable from_checkpoint(const std::string& path) {
  return user_input([&] {
    const TensorFile file = read_tensors(path);
    const io::Checkpoint c = io::Checkpoint::load(path);
    Exportable out = trained_network(c, file.tensors);
    c.get("model", *out.network);
    return out;
  });
}

Exportable choose_network(const ExportChoices& o) {
  namespace fs = std::filesystem;
  const fs::path path =
      fs::is_directory(o.what) ? fs::path(o.what) / "checkpoint.safetensors" : fs::path(o.what);
  if (fs::exists(path)) {
    if (!o.weights.empty()) throw UsageError("--weights is for a network's name, not for a run");
    return from_checkpoint(path.string());
  }
  if (o.what.find('/') != std::string::npos || path != fs::path(o.what))
    throw UsageError("there is no checkpoint " + path.string());
  Exportable out = named_network(o);
  if (o.weights.empty()) return out;
  user_input([&] {
    OrderedDict<std::string, Tensor> state;
    for (const auto& [name, tensor] : read_tensors(o.weights).tensors) state.insert(name, tensor);
    out.network->load_state_dict(state);
  });
  return out;
}

int run_export(const ExportChoices& o) {
  Exportable e = choose_network(o);
  const onnx::Forward forward = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{e.network.forward(inputs[0])};
  };
  const onnx::ExportOptions options{.input_names = {e.input},
                                    .output_names = {"scores"},
                                    .dynamic_axes = {{e.input, e.axes}},
                                    .opset_version = o.opset};
  user_input([&] { onnx::export_forward(*e.network, forward, {e.example}, o.out, options); });
  const onnx::Graph graph = onnx::read(o.out);
  std::printf("%s: %s %s to %s %s, %zu operators, %s\n", o.out.c_str(),
              graph.inputs[0].name.c_str(), graph.inputs[0].type().c_str(),
              graph.outputs[0].name.c_str(), graph.outputs[0].type().c_str(), graph.nodes.size(),
              bytes_text(static_cast<double>(std::filesystem::file_size(o.out))).c_str());
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  CLI::App* c = add_command(
      app, "export", "Write a network as an ONNX model",
      {"taeda export out -o model.onnx", "taeda export out/checkpoint.safetensors -o model.onnx",
       "taeda export resnet18 --weights resnet18.pt -o resnet18.onnx"});
  auto o = std::make_shared<ExportChoices>();
  c->add_option(
       "what", o->what,
       std::string("A folder or checkpoint of taeda train, or a network: ") + kExportModels)
      ->required();
  c->add_option("-o,--out", o->out, "The file to write")->required();
  add_option(*c, "--weights", o->weights, "For a network's name: a file of its tensors");
  add_option(*c, "--classes", o->classes, "For a network's name: how many; 0: as usual");
  add_option(*c, "--opset", o->opset, "Version of ONNX's operators, 17 to 21");
  c->callback([&action, o] { action = [o] { return run_export(*o); }; });
}

}  // namespace taeda::tool
