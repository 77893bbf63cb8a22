// `taeda inspect` of an ONNX model.
#include <algorithm>
#include <cstdio>
#include <map>

#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "taeda/onnx/onnx.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"

namespace taeda::tool {

namespace {

/// How often each operator stands in a model, and whether Taeda runs it.
struct OperatorCount {
  int64_t count = 0;
  bool runs = false;
};

std::map<std::string, OperatorCount> count_operators(const onnx::Graph& graph) {
  const std::vector<std::string> known = onnx::importable_operators();
  std::map<std::string, OperatorCount> out;
  for (const onnx::Node& node : graph.nodes) {
    OperatorCount& c = out[node.domain.empty() ? node.op : node.domain + "." + node.op];
    ++c.count;
    c.runs = node.domain.empty() && std::binary_search(known.begin(), known.end(), node.op);
  }
  return out;
}

Json info_json(const std::vector<onnx::ValueInfo>& list) {
  Json out = Json::array();
  for (const onnx::ValueInfo& info : list) {
    Json sizes = Json::array();
    for (const onnx::Dimension& d : info.sizes)
      sizes.push_back(d.size >= 0 ? Json(d.size) : d.name.empty() ? Json() : Json(d.name));
    out.push_back({{"name", info.name},
                   {"dtype", dtype_name(info.dtype)},
                   {"shape", info.has_shape ? sizes : Json()},
                   {"description", info.text}});
  }
  return out;
}

}  // namespace

int inspect_onnx(const std::string& path, bool json) {
  const onnx::Graph graph = user_input([&] { return onnx::read(path, {.external_data = true}); });
  const std::map<std::string, OperatorCount> operators = count_operators(graph);
  int64_t elements = 0, bytes = 0;
  for (const auto& [name, tensor] : graph.initializers) {
    elements += tensor.numel();
    bytes += tensor.nbytes();
  }
  if (json) {
    Json counts = Json::object();
    for (const auto& [name, c] : operators) counts.set(name, c.count);
    print_json({{"file", path},
                {"format", "onnx"},
                {"opset", graph.opset},
                {"ir_version", graph.ir_version},
                {"producer", graph.producer},
                {"inputs", info_json(graph.inputs)},
                {"outputs", info_json(graph.outputs)},
                {"operators", counts},
                {"tensors", graph.initializers.size()},
                {"parameters", elements},
                {"bytes", bytes},
                {"metadata", graph.metadata}});
    return 0;
  }
  logging::Table values({"", "name", "type"});
  for (const onnx::ValueInfo& info : graph.inputs) values.row({"input", info.name, info.type()});
  for (const onnx::ValueInfo& info : graph.outputs) values.row({"output", info.name, info.type()});
  logging::Table table({"operator", "count", "taeda runs it"});
  for (const auto& [name, c] : operators)
    table.row({name, std::to_string(c.count), c.runs ? "yes" : "no"});
  if (!values.empty()) std::printf("%s", values.str().c_str());
  for (const auto* list : {&graph.inputs, &graph.outputs})
    for (const onnx::ValueInfo& info : *list)
      if (!info.text.empty())
        std::printf("%s", paragraph("  " + info.name + ": " + info.text).c_str());
  if (!table.empty()) std::printf("%s", table.str().c_str());
  std::printf("%s", paragraph(taeda::detail::concat(
                                  "onnx: opset ", graph.opset, ", ",
                                  count_text(graph.nodes.size(), "operator"), ", ",
                                  count_text(graph.initializers.size(), "tensor"), " of ",
                                  logging::with_commas(elements), " numbers, ",
                                  bytes_text(static_cast<double>(bytes)),
                                  graph.producer.empty() ? "" : ", written by ", graph.producer))
                        .c_str());
  for (const auto& [key, value] : graph.metadata)
    std::printf("  %s: %s\n", key.c_str(), value.c_str());
  return 0;
}

}  // namespace taeda::tool
