// `taeda export`: a network as an ONNX model.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "taeda/models/resnet.h"
#include "taeda/onnx/onnx.h"
#include "taeda/ops/create/create.h"
#include "tools/taeda/command.h"
#include "tools/taeda/tensor_file.h"
#include "tools/taeda/train/networks.h"
#include "tools/taeda/use/trained.h"

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
  if ((", " + std::string(kExportModels) + ", ").find(", " + o.what + ", ") == std::string::npos)
    throw UsageError("there is no run '" + o.what + "', nor a network of that name; networks are " +
                     kExportModels);
  check_picture_model(o.what, shape);
  return of_pictures(make_picture_model(o.what, shape, classes), shape);
}

/// The network of a run, by what its checkpoint says of it.
Exportable from_run(const std::string& run) {
  const Trained trained = open_trained({.run = run}, Device(kCPU));
  const About& about = trained.about;
  if (about.task == "text")
    return {trained.network,
            zeros({2, std::min<int64_t>(about.context, 4)}, kLong),
            "tokens",
            {{0, "batch"}, {1, "time"}}};
  if (about.task == "csv")
    return {trained.network,
            zeros({2, static_cast<int64_t>(about.features.size())}),
            "rows",
            {{0, "batch"}}};
  return of_pictures(trained.network, about.shape);
}

Exportable choose_network(const ExportChoices& o) {
  if (std::filesystem::exists(o.what) || o.what.find('/') != std::string::npos) {
    if (!o.weights.empty()) throw UsageError("--weights is for a network's name, not for a run");
    return from_run(o.what);
  }
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
  if (!o.out.ends_with(".onnx"))
    throw UsageError("cannot write " + o.out + ": give it the ending .onnx");
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
  const auto &in = graph.inputs[0], &out = graph.outputs[0];
  std::printf("%s",
              paragraph(taeda::detail::concat(
                            o.out, ": ", in.name, " ", in.type(), " to ", out.name, " ", out.type(),
                            ", ", count_text(graph.nodes.size(), "operator"), ", ",
                            bytes_text(static_cast<double>(std::filesystem::file_size(o.out)))))
                  .c_str());
  return 0;
}

}  // namespace

void add_export(const Command& app) {
  const Command c = app.add_command(
      "export", "Write a network as an ONNX model",
      {"taeda export out -o model.onnx", "taeda export out/checkpoint.safetensors -o model.onnx",
       "taeda export resnet18 --weights resnet18.pt -o resnet18.onnx"});
  auto o = std::make_shared<ExportChoices>();
  c.add_plain("what", o->what,
              std::string("A folder or checkpoint of taeda train, or a network: ") + kExportModels)
      .required();
  c.add_plain("-o,--out", o->out, "The file to write").required();
  c.add_option("--weights", o->weights, "For a network's name: a file of its tensors");
  c.add_option("--classes", o->classes, "For a network's name: how many; 0: as usual");
  c.add_option("--opset", o->opset, "Version of ONNX's operators, 17 to 21");
  c.on_call([o] { return run_export(*o); });
}

}  // namespace taeda::tool
