#include "taeda/onnx/lower.h"

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2::onnx {

namespace {

/// Constants of one repeated number are written as that number and their sizes from this many
/// elements on.
constexpr int64_t kManyElements = 1024;

const std::unordered_map<std::string_view, const Rule*>& all_rules() {
  static const auto* rules = [] {
    auto* out = new std::unordered_map<std::string_view, const Rule*>;
    for (const auto table :
         {pointwise_rules(), arithmetic_rules(), shape_rules(), part_rules(), create_rules(),
          reduce_rules(), layer_rules(), pool_rules(), matrix_rules(), recurrent_rules()})
      for (const Rule& rule : table) out->emplace(rule.operation, &rule);
    return out;
  }();
  return *rules;
}

template <class Map>
bool all_folded(const Map& folded, const TracedArgument& argument,
                const std::vector<TracedValue>& values) {
  const auto known = [&](ValueId id) {
    return id == kNone || folded.contains(id) ||
           values[static_cast<size_t>(id)].kind == TracedValue::Kind::Constant;
  };
  if (const auto* id = std::get_if<ValueId>(&argument)) return known(*id);
  if (const auto* ids = std::get_if<std::vector<ValueId>>(&argument))
    return std::all_of(ids->begin(), ids->end(), known);
  if (const auto* indices = std::get_if<std::vector<TracedIndex>>(&argument))
    return std::all_of(indices->begin(), indices->end(),
                       [&](const TracedIndex& index) { return known(index.value); });
  return true;
}

/// Whether all elements are the same bytes.
bool is_uniform(const Tensor& host) {
  const auto* bytes = static_cast<const char*>(host.data_ptr());
  const int64_t each = host.element_size();
  return std::equal(bytes + each, bytes + host.nbytes(), bytes);
}

}  // namespace

std::vector<std::string> exportable_operations() {
  std::vector<std::string> out;
  for (const auto& [name, rule] : all_rules()) out.emplace_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

Lowering::Lowering(const Traces& traces, int64_t opset) : traces_(traces) { graph_.opset = opset; }

std::string Lowering::fresh(const std::string& wanted) {
  const int n = used_[wanted]++;
  if (n == 0) return wanted;
  // The number may make a name that is taken, too.
  return fresh(wanted + "_" + std::to_string(n));
}

Names Lowering::emit(const std::string& op, Names inputs, size_t outputs, Attributes attributes) {
  Node node;
  node.op = op;
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.place = place_;
  node.name = fresh(place_.empty() ? op : place_ + "." + op);
  Names names;
  for (size_t i = 0; i < outputs; ++i)
    names.push_back(i == 0 ? node.name : fresh(node.name + "." + std::to_string(i)));
  node.outputs = names;
  graph_.nodes.push_back(std::move(node));
  return names;
}

std::string Lowering::constant(const Tensor& tensor) {
  const Tensor host = tensor.detach().cpu().contiguous();
  if (host.numel() >= kManyElements && is_uniform(host)) {
    const std::string sizes = ints(host.sizes().vec());
    return emit("ConstantOfShape", {sizes}, {{"value", host.flatten().narrow(0, 0, 1).clone()}});
  }
  const std::string name = fresh("constant");
  graph_.initializers.emplace_back(name, host);
  return name;
}

std::string Lowering::ints(std::vector<int64_t> values) {
  std::string key;
  for (const int64_t v : values) key += std::to_string(v) + ",";
  const auto [it, added] = int_lists_.try_emplace(key);
  if (added) it->second = constant(tensor(values, kLong));
  return it->second;
}

std::string Lowering::axis_size(size_t axis) {
  const auto [it, added] = axis_sizes_.try_emplace(axis);
  if (added) {
    const auto [input, dim] = traces_.axes()[axis].places[0];
    const std::string shape = emit("Shape", {input_names_[input]});
    it->second = emit("Gather", {shape, ints({dim})}, {{"axis", int64_t{0}}});
  }
  return it->second;
}

/// A vector of one number.
std::string Lowering::one_size(const Size& size) {
  if (size.is_constant()) return ints({size.value});
  TAEDA_CHECK_NOT_IMPLEMENTED(size.factor != 0, "a size of ", size.value,
                              place_.empty() ? " in forward" : " in module ", place_,
                              " depends on '", traces_.axes()[size.axes[0]].name,
                              "' in a way that is no multiple of a product of open axes plus a "
                              "number; leave that axis out of "
                              "dynamic_axes");
  std::string out;
  for (const size_t axis : size.axes)
    out = out.empty() ? axis_size(axis) : emit("Mul", {out, axis_size(axis)});
  if (size.factor != 1) out = emit("Mul", {out, ints({size.factor})});
  if (size.offset != 0) out = emit("Add", {out, ints({size.offset})});
  return out;
}

std::string Lowering::size_list(const std::vector<Size>& sizes) {
  std::vector<int64_t> values;
  for (const Size& size : sizes) values.push_back(size.value);
  if (std::all_of(sizes.begin(), sizes.end(), [](const Size& s) { return s.is_constant(); }))
    return ints(values);
  Names parts;
  for (const Size& size : sizes) parts.push_back(one_size(size));
  return parts.size() == 1 ? parts[0] : emit("Concat", parts, {{"axis", int64_t{0}}});
}

std::string Lowering::size_number(const Size& size) {
  if (size.is_constant()) return constant(scalar_tensor(size.value, kLong));
  return emit("Squeeze", {one_size(size), ints({0})});
}

std::string Lowering::name_of(ValueId id) {
  const auto it = names_.find(id);
  if (it != names_.end()) return it->second;
  const TracedValue& v = value(id);
  TAEDA_CHECK_NOT_IMPLEMENTED(
      v.kind != TracedValue::Kind::Result || folded_.contains(id), "a result of sizes ",
      IntArrayRef(v.sizes.data(), v.sizes.size()),
      " is used that ONNX's operator does not give (the indices of a pool, for example)");
  std::string name;
  if (v.kind == TracedValue::Kind::Parameter) {
    name = fresh(v.name);
    graph_.initializers.emplace_back(name, v.tensor);
  } else {
    name = constant(v.tensor);
  }
  return names_[id] = name;
}

bool Lowering::fold(size_t index) {
  const TracedCall& call = traces_.first().calls[index];
  for (const ValueId result : call.results)
    if (result != kNone && !value(result).tensor.defined()) return false;
  for (const TracedArgument& argument : call.arguments)
    if (!all_folded(folded_, argument, traces_.first().values)) return false;
  if (!traces_.is_fixed(index)) return false;
  folded_.insert(call.results.begin(), call.results.end());
  return true;
}

void Lowering::write_call(size_t index) {
  if (fold(index)) return;
  const TracedCall& traced = traces_.first().calls[index];
  place_ = traced.place;
  Call call(*this, index);
  const auto it = all_rules().find(traced.name);
  if (it == all_rules().end()) call.refuse("ONNX has no operator for it that Taeda knows");
  it->second->write(call);
}

ValueInfo Lowering::info(const std::string& name, ValueId id) const {
  ValueInfo out;
  out.name = name;
  out.dtype = value(id).dtype;
  for (const Size& size : traces_.sizes(id)) {
    Dimension& d = out.sizes.emplace_back();
    if (size.is_constant())
      d.size = size.value;
    else
      d.name = size.factor != 0 ? traces_.text(size) : "";
  }
  return out;
}

void Lowering::finish_outputs(const Names& output_names) {
  place_.clear();
  const std::vector<ValueId>& outputs = traces_.first().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    // An input, a parameter, or a value that is returned twice gets an operator of its own.
    const std::string from = name_of(outputs[i]);
    const std::string& to = output_names[i];
    Node& node = graph_.nodes.emplace_back();
    node.op = "Identity";
    node.name = fresh("Identity");
    node.inputs = {from};
    node.outputs = {to};
    graph_.outputs.push_back(info(to, outputs[i]));
  }
}

/// Removes what no output needs, and the Identity behind an operator whose result is needed for
/// nothing else.
void Lowering::drop_unused() {
  std::unordered_map<std::string, int> uses;
  for (const ValueInfo& output : graph_.outputs) ++uses[output.name];
  std::vector<Node> kept;
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [&](const std::string& name) { return uses.contains(name); });
    if (!used) continue;
    for (const std::string& input : node->inputs) ++uses[input];
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  std::unordered_map<std::string, std::string> renamed;
  std::unordered_set<std::string> made;
  for (const Node& node : kept) made.insert(node.outputs.begin(), node.outputs.end());
  for (const Node& node : kept)
    if (node.op == "Identity" && uses[node.inputs[0]] == 1 && made.contains(node.inputs[0]))
      renamed.emplace(node.inputs[0], node.outputs[0]);
  graph_.nodes.clear();
  for (Node& node : kept) {
    if (node.op == "Identity" && renamed.contains(node.inputs[0])) continue;
    for (std::string& output : node.outputs)
      if (const auto it = renamed.find(output); it != renamed.end()) output = it->second;
    graph_.nodes.push_back(std::move(node));
  }
  std::erase_if(graph_.initializers, [&](const auto& item) { return !uses.contains(item.first); });
}

Graph Lowering::run(const Names& input_names, const Names& output_names) {
  const Trace& trace = traces_.first();
  input_names_ = input_names;
  for (size_t i = 0; i < input_names.size(); ++i) {
    const auto id = static_cast<ValueId>(i);  // inputs come first
    names_[id] = fresh(input_names[i]);
    graph_.inputs.push_back(info(input_names[i], id));
  }
  // Parameters and outputs have their names: what is made gets out of their way.
  for (size_t v = 0; v < trace.values.size(); ++v) {
    if (trace.values[v].kind != TracedValue::Kind::Parameter) continue;
    TAEDA_CHECK_VALUE(!used_.contains(trace.values[v].name), "the name '", trace.values[v].name,
                      "' is that of an input and of a parameter; choose other input_names");
    name_of(static_cast<ValueId>(v));
  }
  for (const std::string& name : output_names)
    TAEDA_CHECK_VALUE(used_[name]++ == 0, "the name '", name,
                      "' is that of an output and of an input or parameter; choose other "
                      "output_names");
  for (size_t c = 0; c < trace.calls.size(); ++c) write_call(c);
  finish_outputs(output_names);
  drop_unused();
  return std::move(graph_);
}

}  // namespace taeda::inline v0_2::onnx
