#include "taeda/onnx/trace.h"

#include "taeda/base/error.h"
#include "taeda/base/tracing.h"

namespace taeda::inline v0_2::onnx {

namespace {

constexpr const char* kWhatToDo =
    "Write this part of forward with operations that docs/onnx.md lists, or leave it out of what "
    "is exported.";

}  // namespace

std::string Tracer::where() const {
  const std::string path = tracing::module_path();
  return path.empty() ? "in forward" : "in module " + path;
}

ValueId Tracer::add(TracedValue::Kind kind, std::string name, const Tensor& tensor, bool depends) {
  const auto id = static_cast<ValueId>(trace_.values.size());
  TracedValue& value = trace_.values.emplace_back();
  value.kind = kind;
  value.name = std::move(name);
  value.dtype = tensor.dtype();
  value.sizes = DimVector(tensor.sizes());
  value.depends = depends;
  bind(tensor, id);
  return id;
}

void Tracer::add_input(const std::string& name, const Tensor& tensor) {
  add(TracedValue::Kind::Input, name, tensor, true);
}

void Tracer::add_parameter(const std::string& name, const Tensor& tensor) {
  const ValueId id = add(TracedValue::Kind::Parameter, name, tensor, false);
  trace_.values[static_cast<size_t>(id)].tensor = tensor;
}

ValueId Tracer::value_of(const Tensor& tensor) {
  if (!tensor.defined()) return kNone;
  const auto it = bound_.find(tensor.unsafe_impl());
  if (it != bound_.end()) {
    TAEDA_CHECK_NOT_IMPLEMENTED(
        it->second.version == tensor.unsafe_impl()->version(), call_.name, " (", where(),
        ") takes a tensor of sizes ", tensor.sizes(),
        " that was changed in place through another tensor over the same memory, which ONNX has "
        "no words for. Use cat, where or index_put instead of writing into a view.");
    return it->second.value;
  }
  TAEDA_CHECK_NOT_IMPLEMENTED(!memory_.contains(tensor.storage().get()), call_.name, " (", where(),
                              ") takes a tensor of sizes ", tensor.sizes(),
                              " that reaches the memory of another one in a way that cannot be "
                              "followed. ",
                              kWhatToDo);
  const ValueId id = add(TracedValue::Kind::Constant, "", tensor, false);
  trace_.values[static_cast<size_t>(id)].tensor = tensor.detach().clone();
  return id;
}

std::vector<TracedIndex> Tracer::traced_indices(const std::vector<TensorIndex>& indices) {
  std::vector<TracedIndex> out;
  for (const TensorIndex& index : indices) {
    TracedIndex& traced = out.emplace_back();
    traced.kind = index.kind();
    traced.integer = index.integer();
    traced.start = index.slice().start();
    traced.stop = index.slice().stop();
    traced.step = index.slice().step();
    if (index.kind() == TensorIndex::Kind::Tensor) traced.value = value_of(index.tensor());
  }
  return out;
}

TracedArgument Tracer::traced(const ObservedValue& argument) {
  return std::visit(
      [&](const auto& value) -> TracedArgument {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          return value_of(value);
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          std::vector<ValueId> ids;
          for (const Tensor& tensor : value) ids.push_back(value_of(tensor));
          return ids;
        } else if constexpr (std::is_same_v<T, std::vector<TensorIndex>>) {
          return traced_indices(value);
        } else {
          return value;
        }
      },
      argument);
}

bool Tracer::depends(const TracedArgument& argument) const {
  const auto of = [&](ValueId id) {
    return id != kNone && trace_.values[static_cast<size_t>(id)].depends;
  };
  if (const auto* id = std::get_if<ValueId>(&argument)) return of(*id);
  if (const auto* ids = std::get_if<std::vector<ValueId>>(&argument))
    for (const ValueId id : *ids)
      if (of(id)) return true;
  if (const auto* indices = std::get_if<std::vector<TracedIndex>>(&argument))
    for (const TracedIndex& index : *indices)
      if (of(index.value)) return true;
  return false;
}

/// Whether nothing but constants had a part in it: parameters keep their names in the file, so what
/// is made of them is computed there.
bool Tracer::is_constant(const TracedCall& call) const {
  const auto of = [&](ValueId id) {
    if (id == kNone) return true;
    const TracedValue& value = trace_.values[static_cast<size_t>(id)];
    return value.kind != TracedValue::Kind::Parameter && value.tensor.defined();
  };
  for (const TracedArgument& argument : call.arguments) {
    if (const auto* id = std::get_if<ValueId>(&argument))
      if (!of(*id)) return false;
    if (const auto* ids = std::get_if<std::vector<ValueId>>(&argument))
      for (const ValueId id : *ids)
        if (!of(id)) return false;
    if (const auto* indices = std::get_if<std::vector<TracedIndex>>(&argument))
      for (const TracedIndex& index : *indices)
        if (!of(index.value)) return false;
  }
  return true;
}

void Tracer::check_kernels() const {
  TAEDA_CHECK_NOT_IMPLEMENTED(kernel_.empty(), "the operation '", kernel_, "' (", kernel_place_,
                              ") cannot be exported to ONNX. ", kWhatToDo);
}

void Tracer::begins(const char* name, std::vector<ObservedValue> arguments) {
  check_kernels();
  call_ = TracedCall();
  call_.name = name;
  call_.place = tracing::module_path();
  call_.in_place = call_.name.ends_with('_');
  if (call_.in_place) call_.name.pop_back();
  for (const ObservedValue& argument : arguments) call_.arguments.push_back(traced(argument));
  if (call_.name == "item")
    TAEDA_CHECK_NOT_IMPLEMENTED(
        !depends(call_.arguments[0]),
        "the program reads a value that depends on its inputs (item, ", where(),
        "): what it does then would be frozen in the exported model. ", kWhatToDo);
}

/// A copy is the same value, whether memory had to be copied or not: that may depend on a size.
bool Tracer::is_copy(const Tensor& result) const {
  if (call_.name != "clone" && call_.name != "contiguous" && call_.name != "detach" &&
      call_.name != "to")
    return false;
  const ValueId from = std::get<ValueId>(call_.arguments[0]);
  return trace_.values[static_cast<size_t>(from)].dtype == result.dtype();
}

void Tracer::bind(const Tensor& tensor, ValueId id) {
  const TracedValue& value = trace_.values[static_cast<size_t>(id)];
  bound_[tensor.unsafe_impl()] = {id, tensor.unsafe_impl()->version()};
  if (value.depends || value.kind == TracedValue::Kind::Parameter)
    memory_.insert(tensor.storage().get());
  kept_.push_back(tensor);
}

void Tracer::ends(const std::vector<Tensor>& results) {
  if (results.empty()) return;
  if (is_copy(results[0])) return bind(results[0], std::get<ValueId>(call_.arguments[0]));
  bool depends = false;
  for (const TracedArgument& argument : call_.arguments)
    depends = depends || this->depends(argument);
  bool fresh = false;
  for (const Tensor& result : results) {
    if (!result.defined()) {
      call_.results.push_back(kNone);
      continue;
    }
    const auto it = bound_.find(result.unsafe_impl());
    if (!call_.in_place && it != bound_.end() &&
        it->second.version == result.unsafe_impl()->version()) {
      call_.results.push_back(it->second.value);
      continue;
    }
    fresh = true;
    call_.results.push_back(add(TracedValue::Kind::Result, "", result, depends));
  }
  if (!fresh) return;  // what it was called on, as it was
  if (!depends && is_constant(call_))
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i].defined())
        trace_.values[static_cast<size_t>(call_.results[i])].tensor = results[i].detach().clone();
  trace_.calls.push_back(std::move(call_));
}

void Tracer::replaces(const std::vector<Tensor>& results, const std::vector<Tensor>& parts) {
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].defined()) bind(results[i], value_of(parts[i]));
}

void Tracer::unobserved_kernel(const char* kernel) noexcept {
  if (!kernel_.empty()) return;
  kernel_ = kernel;
  kernel_place_ = where();
}

Trace Tracer::finish(const std::vector<Tensor>& outputs) {
  check_kernels();
  call_ = TracedCall();
  call_.name = "what forward returns";
  for (const Tensor& output : outputs) {
    TAEDA_CHECK(output.defined(), "forward returns an undefined tensor, which ONNX does not have");
    trace_.outputs.push_back(value_of(output));
  }
  return std::move(trace_);
}

}  // namespace taeda::inline v0_2::onnx
