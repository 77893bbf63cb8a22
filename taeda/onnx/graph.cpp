#include "taeda/onnx/graph.h"

#include <unordered_set>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::onnx {

std::string ValueInfo::type() const {
  std::string out = dtype_name(dtype);
  if (!has_shape) return out + " of any shape";
  out += " [";
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d > 0) out += ", ";
    out += sizes[d].size >= 0      ? std::to_string(sizes[d].size)
           : sizes[d].name.empty() ? "?"
                                   : sizes[d].name;
  }
  return out + "]";
}

std::string Node::title() const {
  std::string out = domain.empty() ? op : domain + "." + op;
  if (!name.empty()) out += " '" + name + "'";
  return out;
}

void check_graph(const Graph& graph) {
  std::unordered_set<std::string> defined;
  const auto define = [&](const std::string& name, const std::string& by) {
    TAEDA_CHECK(!name.empty(), "a value that ", by, " defines has no name");
    TAEDA_CHECK(defined.insert(name).second, "the value '", name, "', which ", by,
                " defines, is defined already");
  };
  const auto check_info = [](const ValueInfo& info, const char* kind) {
    TAEDA_CHECK(info.dtype != ScalarType::Undefined, kind, " '", info.name, "' has no dtype");
    for (const Dimension& d : info.sizes)
      TAEDA_CHECK(d.size >= -1, kind, " '", info.name, "' has the size ", d.size);
  };
  for (const auto& [name, tensor] : graph.initializers) define(name, "an initializer");
  for (const ValueInfo& input : graph.inputs) {
    check_info(input, "input");
    define(input.name, "an input");
  }
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs)
      TAEDA_CHECK(input.empty() || defined.contains(input), node.title(), ": its input '", input,
                  "' is not defined before it");
    for (const std::string& output : node.outputs)
      if (!output.empty()) define(output, node.title());
  }
  std::unordered_set<std::string> outputs;
  for (const ValueInfo& output : graph.outputs) {
    check_info(output, "output");
    TAEDA_CHECK(defined.contains(output.name), "no operator gives the output '", output.name, "'");
    TAEDA_CHECK(outputs.insert(output.name).second, "the output '", output.name, "' stands twice");
  }
}

}  // namespace taeda::inline v0_2::onnx
