#include "autograd_function.h"

#include <memory>
#include <new>

#include "taeda/autograd/function.h"
#include "taeda/autograd/meta.h"
#include "taeda/nn/forward_state.h"
#include "taeda/tensor/grad_mode.h"
#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

namespace {

using autograd::AutogradContext;
using autograd::FunctionNode;
using autograd::variable_list;

constexpr const char* kPython = "python";

// What ctx is in C++: the way from Python's object to what its node saved.
struct ContextObject {
  PyObject_HEAD FunctionNode* node;  ///< while it lives
};
PyTypeObject* context_type;

/// What the node keeps: ctx, which must not look for the node when that has gone.
struct KeptContext {
  explicit KeptContext(PyObject* ctx) : kept(ctx) {}
  ~KeptContext() {
    if (!Py_IsInitialized()) return;
    HoldGil gil;
    reinterpret_cast<ContextObject*>(kept.get())->node = nullptr;
  }
  Kept kept;
};

PyObject* context_of(AutogradContext* context) {
  const auto& any = context->saved_data.at(kPython).toCapsule();
  return std::any_cast<const std::shared_ptr<KeptContext>&>(any)->kept.get();
}

[[noreturn]] void fail(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw PythonError();
}

variable_list to_gradients(PyObject* returned, size_t expected, const std::string& name) {
  Ref tuple = PyTuple_Check(returned) ? Ref::borrow(returned) : Ref(PyTuple_Pack(1, returned));
  if (!tuple) throw PythonError();
  const auto given = static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()));
  variable_list out(expected);
  for (size_t i = 0; i < given; ++i) {
    PyObject* item = PyTuple_GET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i));
    // What is too much may be None, as what is missing may be.
    if (i >= expected && item != Py_None)
      fail(PyExc_RuntimeError,
           "function " + name + " returned an incorrect number of gradients (expected " +
               std::to_string(expected) + ", got " + std::to_string(given) + ")");
    if (item == Py_None) continue;
    if (!is_tensor(item))
      fail(PyExc_RuntimeError,
           "expected Variable or None (got " + std::string(Py_TYPE(item)->tp_name) + ")");
    out[i] = tensor_of(item);
  }
  if (given < expected)
    fail(PyExc_RuntimeError, "function " + name +
                                 " returned an incorrect number of gradients (expected " +
                                 std::to_string(expected) + ", got " + std::to_string(given) + ")");
  return out;
}

variable_list run_backward(AutogradContext* context, variable_list grads) {
  HoldGil gil;
  PyObject* ctx = context_of(context);
  Ref backward(PyObject_GetAttrString(ctx, "_backward"));
  if (!backward) throw PythonError();
  Ref arguments(PyTuple_New(static_cast<Py_ssize_t>(grads.size()) + 1));
  if (!arguments) throw PythonError();
  Py_INCREF(ctx);
  PyTuple_SET_ITEM(arguments.get(), 0, ctx);
  for (size_t i = 0; i < grads.size(); ++i)
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i) + 1, wrap(std::move(grads[i])));
  Ref out(PyObject_CallObject(backward.get(), arguments.get()));
  if (!out) throw PythonError();
  Ref needs(PyObject_GetAttrString(ctx, "needs_input_grad"));
  if (!needs) throw PythonError();
  return to_gradients(
      out.get(), static_cast<size_t>(PyTuple_GET_SIZE(needs.get())),
      std::string(autograd::current_node() ? autograd::current_node()->name() : "backward"));
}

/// What ctx says of a value that is no tensor, which an attribute may not have.
[[noreturn]] void refuse_item(const std::string& attribute, Py_ssize_t i, PyObject* item) {
  const std::string kind = Py_TYPE(item)->tp_name;
  if (attribute == "non_differentiable")
    raise(PyExc_RuntimeError,
          "mark_non_differentiable only accepts variable arguments, but got " + kind);
  const std::string which = ", but argument " + std::to_string(i) + " is of type " + kind;
  if (attribute == "dirty_tensors")
    raise(PyExc_RuntimeError, "mark_dirty can only accept variables" + which);
  raise(PyExc_TypeError, "save_for_backward can only save variables" + which);
}

/// The tensors of an attribute of ctx: a tuple, or None.
variable_list listed(PyObject* ctx, const char* attribute) {
  variable_list out;
  Ref all(checked(PyObject_GetAttrString(ctx, attribute)));
  if (all.get() == Py_None) return out;
  Ref tuple(checked(PySequence_Tuple(all.get())));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(tuple.get(), i);
    if (item != Py_None && !is_tensor(item)) refuse_item(attribute, i, item);
    out.push_back(to_tensor(item));
  }
  return out;
}

void record(FunctionNode& node, PyObject* ctx, const variable_list& inputs,
            const std::vector<bool>& is_tensor_at, variable_list& outputs) {
  node.context.save_for_backward(listed(ctx, "to_save"));
  node.context.mark_dirty(listed(ctx, "dirty_tensors"));
  node.context.mark_non_differentiable(listed(ctx, "non_differentiable"));
  Ref materialize(checked(PyObject_GetAttrString(ctx, "materialize_grads")));
  node.context.set_materialize_grads(to_bool(materialize.get()));
  node.context.saved_data.insert_or_assign(kPython,
                                           IValue::capsule(std::make_shared<KeptContext>(ctx)));
  reinterpret_cast<ContextObject*>(ctx)->node = &node;
  // The node has them now. An output kept here as well would keep its own history.
  for (const char* attribute : {"to_save", "dirty_tensors", "non_differentiable"})
    checked(PyObject_SetAttrString(ctx, attribute, Py_None));
  node.finish(inputs, is_tensor_at, outputs);
}

/// Which of a function's results are tensors, and those.
struct Results {
  Ref tuple;
  bool single = false;
  variable_list tensors;
  std::vector<Py_ssize_t> places;
};

Results results_of(PyObject* returned) {
  Results out;
  out.single = !PyTuple_Check(returned);
  out.tuple = out.single ? Ref(checked(PyTuple_Pack(1, returned))) : Ref::borrow(returned);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(out.tuple.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(out.tuple.get(), i);
    if (!is_tensor(item)) continue;
    out.tensors.push_back(tensor_of(item));
    out.places.push_back(i);
  }
  return out;
}

PyObject* as_python(Results results) {
  const Py_ssize_t n = PyTuple_GET_SIZE(results.tuple.get());
  Ref out(checked(PyTuple_New(n)));
  for (Py_ssize_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(out.get(), i, Ref::borrow(PyTuple_GET_ITEM(results.tuple.get(), i)).release());
  for (size_t k = 0; k < results.places.size(); ++k) {
    PyObject* tensor = checked(wrap(results.tensors[k]));
    Py_DECREF(PyTuple_GET_ITEM(out.get(), results.places[k]));
    PyTuple_SET_ITEM(out.get(), results.places[k], tensor);
  }
  if (!results.single) return out.release();
  return Ref::borrow(PyTuple_GET_ITEM(out.get(), 0)).release();
}

// _apply_function(name, ctx, forward, args): forward(*args) without recording, and its node.
PyObject* apply_function(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 4 || !PyTuple_Check(args[3]))
      raise(PyExc_TypeError, "_apply_function takes name, ctx, forward and args");
    PyObject *ctx = args[1], *given = args[3];
    variable_list inputs;
    std::vector<bool> is_tensor_at;
    const Py_ssize_t n = PyTuple_GET_SIZE(given);
    Ref needs(checked(PyTuple_New(n)));
    bool wanted = false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* item = PyTuple_GET_ITEM(given, i);
      const bool tensor = is_tensor(item);
      is_tensor_at.push_back(tensor);
      if (tensor) inputs.push_back(tensor_of(item));
      const bool need = tensor && tensor_of(item).requires_grad();
      wanted |= need;
      PyTuple_SET_ITEM(needs.get(), i, PyBool_FromLong(need));
    }
    wanted = wanted && GradMode::is_enabled();
    checked(PyObject_SetAttrString(ctx, "needs_input_grad", needs.get()));
    const autograd::NodePtr node(new FunctionNode(std::string(to_text(args[0])), run_backward));
    Results results;
    {
      const NoGradGuard guard;
      Ref returned(checked(PyObject_CallObject(args[2], given)));
      results = results_of(returned.get());
    }
    if (wanted)
      record(static_cast<FunctionNode&>(*node), ctx, inputs, is_tensor_at, results.tensors);
    else
      static_cast<FunctionNode&>(*node).context.mark_dirty(listed(ctx, "dirty_tensors"));
    return as_python(std::move(results));
  });
}

PyObject* saved_tensors(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    if (const FunctionNode* node = reinterpret_cast<ContextObject*>(self)->node) {
      return from_tensors([&] {
        const ReleaseGil released(utils::checkpoint::in_use());
        std::vector<Tensor> values;
        for (autograd::SavedTensor& saved : node->saved_tensors())
          values.push_back(std::move(saved.value));
        return values;
      }());
    }
    // Nothing was recorded, or forward still runs: what it gave to be saved.
    Ref kept(checked(PyObject_GetAttrString(self, "to_save")));
    return kept.get() == Py_None ? PyTuple_New(0) : PySequence_Tuple(kept.get());
  });
}

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyGetSetDef attributes[] = {
    {"saved_tensors", saved_tensors, nullptr, "What save_for_backward was given.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef functions[] = {
    {"_apply_function", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(apply_function)),
     METH_FASTCALL, "name, ctx, forward, args"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* context_that_ends_with(const Tensor& t) {
  const autograd::AutogradMeta* meta = autograd::find_meta(t);
  if (!meta || !meta->grad_fn || meta->grad_fn->use_count() != 1) return nullptr;
  return context_of_node(*meta->grad_fn);
}

PyObject* context_of_node(autograd::Node& node) {
  auto* function = dynamic_cast<FunctionNode*>(&node);
  if (!function || !function->context.saved_data.count(kPython)) return nullptr;
  return context_of(&function->context);
}

void add_autograd_function(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"torch._C._FunctionContext", sizeof(ContextObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  context_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(
      PyModule_AddObjectRef(module, "_FunctionContext", reinterpret_cast<PyObject*>(context_type)));
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace taeda::python
