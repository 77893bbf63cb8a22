// `taeda export`: a network as an ONNX model.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "taeda/models/resnet.h"
#include "taeda/onnx/onnx.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tools/taeda/command.h"
#include "tools/taeda/tensor_file.h"
#include "tools/taeda/train/inputs.h"
#include "tools/taeda/train/networks.h"
#include "tools/taeda/use/meaning.h"
#include "tools/taeda/use/trained.h"

namespace taeda::tool {

namespace {

struct ExportChoices {
  std::string what, out, weights;
  int64_t opset = 17, classes = 0;
  bool network_only = false;
};

/// A network, an input for it, and which of the input's axes stay open.
struct Exportable {
  nn::AnyModule network;
  Tensor example;
  std::map<int64_t, std::string> axes;
  Meaning meaning;
  onnx::Forward preprocess = {}, postprocess = {};
};

constexpr int64_t kImageNetClasses = 1000, kSmallClasses = 10;
constexpr const char* kExportModels =
    "cnn, lenet, mlp, resnet18, resnet50, resnet101, resnet152, vgg, mobilenet_v2";

Exportable of_pictures(nn::AnyModule network, const PictureShape& s) {
  return {std::move(network),
          zeros({2, s.channels, s.height, s.width}),
          {{0, "batch"}},
          {.input = "pictures", .output = "scores"}};
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

/// Two rows or pictures like those that the network was trained on.
Tensor example_of(const About& about, bool whole) {
  const PictureShape& s = about.shape;
  const int64_t columns = whole ? static_cast<int64_t>(about.columns.size()) : about.inputs();
  if (about.task != "csv") {
    const int64_t sizes[] = {2, s.channels, s.height, s.width};
    if (!whole) return zeros(sizes);
    return arange(2 * s.channels * s.height * s.width).remainder(256).to(kByte).view(sizes);
  }
  if (!whole) return zeros({2, columns});
  const Tensor mean = tensor(about.mean, kFloat);
  return stack({mean, mean + tensor(about.stddev, kFloat)});
}

/// The network of a run, by what its checkpoint says of it.
Exportable from_run(const Trained& trained, bool whole) {
  const About& about = trained.about;
  const Meaning meaning = meaning_of(about, whole);
  if (about.task == "text")
    return {trained.network,
            zeros({2, std::min<int64_t>(about.context, 4)}, kLong),
            {{0, "batch"}, {1, "time"}},
            meaning};
  Exportable out{trained.network, example_of(about, whole), {{0, "batch"}}, meaning};
  if (!whole) return out;
  out.preprocess = [about](const std::vector<Tensor>& raw) {
    return std::vector<Tensor>{network_input(raw[0], about)};
  };
  out.postprocess = [about](const std::vector<Tensor>& output) {
    return std::vector<Tensor>{network_answer(output[0], about)};
  };
  return out;
}

bool is_run(const ExportChoices& o) {
  return std::filesystem::exists(o.what) || o.what.find('/') != std::string::npos;
}

Exportable choose_network(const ExportChoices& o) {
  if (is_run(o)) {
    if (!o.weights.empty()) throw UsageError("--weights is for a network's name, not for a run");
    return from_run(open_trained({.run = o.what}, Device(kCPU)), !o.network_only);
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

/// Weights under their names in the network, and what they are of: `taeda predict` takes the file.
int write_weights(const ExportChoices& o) {
  if (!is_run(o))
    throw UsageError("cannot write " + o.out + ": of a network's name there are .onnx files alone");
  const Trained trained = open_trained({.run = o.what}, Device(kCPU));
  io::Archive archive;
  for (const auto& item : trained.network.ptr()->state_dict())
    archive.add(item.key(), item.value());
  archive.metadata = meaning_of(trained.about, /*whole=*/false).metadata;
  archive.add_number("best", static_cast<double>(trained.epoch));
  user_input([&] { io::save_archive(archive, o.out); });
  std::printf("%s: %s, %s\n", o.out.c_str(), count_text(archive.tensors.size(), "tensor").c_str(),
              bytes_text(static_cast<double>(std::filesystem::file_size(o.out))).c_str());
  return 0;
}

int run_export(const ExportChoices& o) {
  const std::string ending = std::filesystem::path(o.out).extension().string();
  if (ending == ".pt" || ending == ".safetensors") return write_weights(o);
  if (ending != ".onnx")
    throw UsageError("cannot write " + o.out + ": give it the ending .onnx, .safetensors or .pt");
  Exportable e = choose_network(o);
  const onnx::Forward forward = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{e.network.forward(inputs[0])};
  };
  const Meaning& m = e.meaning;
  onnx::ExportOptions options{.input_names = {m.input},
                              .output_names = {m.output},
                              .dynamic_axes = {{m.input, e.axes}},
                              .opset_version = o.opset,
                              .metadata = m.metadata,
                              .preprocess = e.preprocess,
                              .postprocess = e.postprocess};
  if (!m.input_text.empty())
    options.descriptions = {{m.input, m.input_text}, {m.output, m.output_text}};
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
      "export", "Write a network as ONNX, or its weights",
      {"taeda export out -o model.onnx", "taeda export out -o model.safetensors",
       "taeda export resnet18 --weights resnet18.pt -o resnet18.onnx"});
  auto o = std::make_shared<ExportChoices>();
  c.add_plain("what", o->what,
              std::string("A folder or checkpoint of taeda train, or a network: ") + kExportModels)
      .required();
  c.add_plain("-o,--out", o->out, "The file to write: .onnx, .safetensors or .pt").required();
  c.add_option("--weights", o->weights, "For a network's name: a file of its tensors");
  c.add_option("--classes", o->classes, "For a network's name: how many; 0: as usual");
  c.add_flag("--network-only", o->network_only,
             "Of a run: the network without what predict computes before and behind it");
  c.add_option("--opset", o->opset, "Version of ONNX's operators, 17 to 21");
  c.on_call([o] { return run_export(*o); });
}

}  // namespace taeda::tool
