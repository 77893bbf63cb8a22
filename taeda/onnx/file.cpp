#include "taeda/onnx/file.h"

#include <limits>
#include <unordered_map>

#include "taeda/base/error.h"

#if defined(TAEDA_HAS_ONNX)
#include "onnx_messages.pb.h"
#include "taeda/onnx/tensor_data.h"
#endif

namespace taeda::inline v0_2::onnx {

#if defined(TAEDA_HAS_ONNX)

namespace {

namespace pb = ::taeda_onnx;

/// Kinds of attributes, as the files number them.
enum AttributeType : int32_t {
  kFloatType = 1,
  kIntType = 2,
  kStringType = 3,
  kTensorType = 4,
  kGraphType = 5,
  kFloatsType = 6,
  kIntsType = 7,
  kStringsType = 8,
};

// ---- writing ----

void write_attribute(const std::string& name, const Attribute& value, pb::Attribute& out) {
  out.set_name(name);
  const auto type = [&](AttributeType t) { out.set_type(t); };
  if (const auto* i = std::get_if<int64_t>(&value)) {
    type(kIntType);
    out.set_i(*i);
  } else if (const auto* f = std::get_if<double>(&value)) {
    type(kFloatType);
    out.set_f(static_cast<float>(*f));
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    type(kStringType);
    out.set_s(*s);
  } else if (const auto* t = std::get_if<Tensor>(&value)) {
    type(kTensorType);
    write_tensor(*t, *out.mutable_t());
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    type(kIntsType);
    for (const int64_t n : *ints) out.add_ints(n);
  } else if (const auto* floats = std::get_if<std::vector<double>>(&value)) {
    type(kFloatsType);
    for (const double n : *floats) out.add_floats(static_cast<float>(n));
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
    type(kStringsType);
    for (const std::string& text : *strings) out.add_strings(text);
  } else {
    throw Error("the attribute '" + name + "' is " + std::get<Unsupported>(value).what +
                ", which cannot be written");
  }
}

void write_info(const ValueInfo& info, pb::ValueInfo& out) {
  out.set_name(info.name);
  if (!info.text.empty()) out.set_doc_string(info.text);
  pb::Type::Tensor& type = *out.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_dtype(info.dtype, "'" + info.name + "'"));
  if (!info.has_shape) return;
  pb::Shape& shape = *type.mutable_shape();
  for (const Dimension& d : info.sizes) {
    pb::Shape::Dimension& dim = *shape.add_dim();
    if (d.size >= 0)
      dim.set_dim_value(d.size);
    else if (!d.name.empty())
      dim.set_dim_param(d.name);
  }
}

void write_node(const Node& node, pb::Node& out) {
  for (const std::string& input : node.inputs) out.add_input(input);
  for (const std::string& output : node.outputs) out.add_output(output);
  out.set_name(node.name);
  out.set_op_type(node.op);
  if (!node.domain.empty()) out.set_domain(node.domain);
  if (!node.place.empty()) out.set_doc_string(node.place);
  for (const auto& [name, value] : node.attributes)
    write_attribute(name, value, *out.add_attribute());
}

// ---- reading ----

Attribute read_attribute(const pb::Attribute& in, const std::string& folder, io::Budget& budget) {
  if (!in.ref_attr_name().empty()) return Unsupported{"an attribute of a function"};
  int32_t type = in.type();
  // Old files have no type: the field that is there tells.
  if (type == 0)
    type = in.has_f()              ? kFloatType
           : in.has_i()            ? kIntType
           : in.has_s()            ? kStringType
           : in.has_t()            ? kTensorType
           : in.has_g()            ? kGraphType
           : in.floats_size() > 0  ? kFloatsType
           : in.strings_size() > 0 ? kStringsType
                                   : kIntsType;
  switch (type) {
    case kFloatType: return static_cast<double>(in.f());
    case kIntType: return in.i();
    case kStringType: return in.s();
    case kTensorType: return read_tensor(in.t(), folder, budget);
    case kFloatsType: return std::vector<double>(in.floats().begin(), in.floats().end());
    case kIntsType: return std::vector<int64_t>(in.ints().begin(), in.ints().end());
    case kStringsType: return std::vector<std::string>(in.strings().begin(), in.strings().end());
    case kGraphType: return Unsupported{"a graph"};
    default: return Unsupported{"of the kind " + std::to_string(type)};
  }
}

ValueInfo read_info(const pb::ValueInfo& in, const char* kind) {
  ValueInfo out;
  out.name = in.name();
  out.text = in.doc_string();
  TAEDA_CHECK(in.type().has_tensor_type(), kind, " '", in.name(), "' is no tensor");
  const pb::Type::Tensor& type = in.type().tensor_type();
  out.dtype = dtype_of_onnx(type.elem_type(), std::string(kind) + " '" + in.name() + "'");
  out.has_shape = type.has_shape();
  for (const pb::Shape::Dimension& d : type.shape().dim())
    out.sizes.push_back({d.has_dim_value() ? d.dim_value() : -1, d.dim_param()});
  return out;
}

Node read_node(const pb::Node& in, const std::string& folder, io::Budget& budget) {
  Node out;
  out.op = in.op_type();
  out.name = in.name();
  if (in.domain() != "ai.onnx") out.domain = in.domain();
  out.place = in.doc_string();
  out.inputs.assign(in.input().begin(), in.input().end());
  out.outputs.assign(in.output().begin(), in.output().end());
  TAEDA_CHECK(!out.op.empty(), "an operator has no type");
  for (const pb::Attribute& attribute : in.attribute()) {
    try {
      const auto [at, fresh] =
          out.attributes.try_emplace(attribute.name(), read_attribute(attribute, folder, budget));
      TAEDA_CHECK(fresh, "the attribute '", attribute.name(), "' stands twice");
    } catch (Error& error) {
      error.add_context("in operator " + out.title());
      throw;
    }
  }
  return out;
}

}  // namespace

bool is_supported() { return true; }

std::string write_graph(const Graph& graph) {
  pb::Model model;
  model.set_ir_version(graph.ir_version);
  model.set_producer_name(graph.producer);
  model.set_producer_version(graph.producer_version);
  model.add_opset_import()->set_version(graph.opset);
  for (const auto& [domain, version] : graph.domains) {
    pb::OperatorSet& set = *model.add_opset_import();
    set.set_domain(domain);
    set.set_version(version);
  }
  for (const auto& [key, value] : graph.metadata) {
    pb::Entry& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  pb::Graph& out = *model.mutable_graph();
  out.set_name(graph.name);
  for (const Node& node : graph.nodes) write_node(node, *out.add_node());
  for (const auto& [name, tensor] : graph.initializers) {
    pb::TensorData& data = *out.add_initializer();
    data.set_name(name);
    write_tensor(tensor, data);
  }
  for (const ValueInfo& info : graph.inputs) write_info(info, *out.add_input());
  for (const ValueInfo& info : graph.outputs) write_info(info, *out.add_output());
  const size_t bytes = model.ByteSizeLong();
  TAEDA_CHECK(bytes <= static_cast<size_t>(std::numeric_limits<int32_t>::max()), "the model takes ",
              bytes,
              " bytes, and an ONNX file holds at most 2 GiB; export it in parts, or in 16-bit "
              "floats");
  std::string text;
  TAEDA_CHECK(model.SerializeToString(&text), "the model could not be written");
  return text;
}

Graph read_graph(std::string_view bytes, const std::string& folder) {
  TAEDA_CHECK(bytes.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max()),
              "an ONNX file of more than 2 GiB cannot be read");
  pb::Model model;
  TAEDA_CHECK(
      model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && model.has_graph(),
      "this is no ONNX file, or it is damaged");
  io::Budget budget(bytes.size());
  TAEDA_CHECK_NOT_IMPLEMENTED(model.functions_size() == 0,
                              "the model has functions of its own, which Taeda does not run; "
                              "export it with its functions inlined");
  Graph out;
  out.ir_version = model.ir_version();
  out.producer = model.producer_name();
  out.producer_version = model.producer_version();
  out.opset = 0;
  for (const pb::OperatorSet& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx")
      out.opset = set.version();
    else
      out.domains[set.domain()] = set.version();
  }
  for (const pb::Entry& entry : model.metadata_props()) out.metadata[entry.key()] = entry.value();
  const pb::Graph& graph = model.graph();
  out.name = graph.name();
  TAEDA_CHECK_NOT_IMPLEMENTED(graph.sparse_initializer_size() == 0,
                              "the model has sparse tensors, which Taeda does not read");
  std::unordered_map<std::string, size_t> initialized;
  for (const pb::TensorData& data : graph.initializer()) {
    initialized.emplace(data.name(), out.initializers.size());
    out.initializers.emplace_back(data.name(), read_tensor(data, folder, budget));
  }
  for (const pb::Node& node : graph.node()) out.nodes.push_back(read_node(node, folder, budget));
  // Files of before IR version 4 list what has a value among the inputs, too.
  for (const pb::ValueInfo& info : graph.input())
    if (!initialized.contains(info.name())) out.inputs.push_back(read_info(info, "input"));
  for (const pb::ValueInfo& info : graph.output()) out.outputs.push_back(read_info(info, "output"));
  return out;
}

#else

namespace {
[[noreturn]] void refuse() {
  throw NotImplementedError(
      "ONNX files can be neither read nor written: this build has no Protocol Buffers (Debian "
      "packages libprotobuf-dev, protobuf-compiler)");
}
}  // namespace

bool is_supported() { return false; }
std::string write_graph(const Graph&) { refuse(); }
Graph read_graph(std::string_view, const std::string&) { refuse(); }

#endif

}  // namespace taeda::inline v0_2::onnx
