// Calls at other processes. What Python sends is a pickle, with its tensors and references beside
// it, so that those travel, and are differentiated through, as the library's own.
#include <memory>

#include "distributed.h"
#include "taeda/base/error.h"
#include "taeda/rpc/contexts.h"
#include "taeda/rpc/dist_autograd.h"
#include "taeda/rpc/pool.h"
#include "taeda/rpc/rpc.h"
#include "taeda/rpc/rref.h"
#include "waiting.h"

namespace taeda::python {

namespace {

namespace rpc = distributed::rpc;
namespace dist_autograd = distributed::dist_autograd;

/// An object of Python. Other workers get what its pickle makes there.
struct Object {
  std::shared_ptr<Kept> kept;
};
using ObjectRef = rpc::RRef<Object>;
using ObjectRefPtr = std::shared_ptr<ObjectRef>;

/// Calls `name` of taeda.distributed.rpc._pickles. With the GIL held.
template <class... A>
py::object call_pickles(const char* name, const A&... arguments) {
  return py::module_::import("taeda.distributed.rpc._pickles").attr(name)(arguments...);
}

/// Runs `f` with the GIL; what Python raises travels as PythonError.
template <class F>
auto in_python(F&& f) {
  const HoldGil gil;
  try {
    return f();
  } catch (py::error_already_set& e) {
    e.restore();
    throw PythonError();
  }
}

}  // namespace

}  // namespace taeda::python

namespace taeda::inline v0_2::distributed::rpc {

template <>
struct Codec<python::Object> {
  static std::string name() { return "object"; }

  static void write(Writer& out, const python::Object& value) {
    std::string text;
    std::vector<Tensor> tensors;
    std::vector<python::ObjectRefPtr> references;
    python::in_python([&] {
      const auto given = python::py::reinterpret_borrow<python::py::object>(value.kept->get());
      std::tie(text, tensors, references) =
          python::call_pickles("dumps", given)
              .cast<std::tuple<std::string, std::vector<Tensor>,
                               std::vector<python::ObjectRefPtr>>>();
    });
    out.text(text);
    out.integer(static_cast<int64_t>(tensors.size()));
    for (const Tensor& t : tensors) out.tensor(t);
    out.integer(static_cast<int64_t>(references.size()));
    for (const auto& reference : references) References::share(reference->handle_ptr(), out);
  }

  static python::Object read(Reader& in) {
    const std::string text = in.text();
    std::vector<Tensor> tensors;
    for (size_t n = in.count(); n > 0; --n) tensors.push_back(in.tensor());
    std::vector<python::ObjectRefPtr> references;
    for (size_t n = in.count(); n > 0; --n)
      references.emplace_back(new python::ObjectRef(References::receive(in, name())),
                              python::DeleteWithoutGil());
    return python::in_python([&] {
      const python::py::object made =
          python::call_pickles("loads", python::py::bytes(text), tensors, references);
      return python::Object{std::make_shared<python::Kept>(made.ptr())};
    });
  }
};

}  // namespace taeda::inline v0_2::distributed::rpc

namespace taeda::python {

namespace {

constexpr const char* kCall = "python.call";

Object keep(const py::object& object) { return {std::make_shared<Kept>(object.ptr())}; }

/// What other workers call: a call of Python's, which says what it raised in its result.
Object run_call(const Object& call) {
  return in_python([&] {
    const py::object result =
        call_pickles("run", py::reinterpret_borrow<py::object>(call.kept->get()));
    return keep(result);
  });
}

/// Calls done(value, error) when a future has its result.
template <class F>
void tell_when_done(rpc::detail::FutureState& state, const py::object& done, F value_of) {
  auto kept = std::make_shared<Kept>(done.ptr());
  const ReleaseGil released;
  state.on_done([kept, state = &state, value_of] {
    Object value;
    std::exception_ptr error;
    try {
      value = value_of(state->value());
    } catch (...) {
      error = std::current_exception();
    }
    const HoldGil gil;
    const py::object failed = exception_object(error);
    PyObject* const given = value.kept ? value.kept->get() : Py_None;
    const Ref out(PyObject_CallFunctionObjArgs(kept->get(), given, failed.ptr(), nullptr));
    if (!out) PyErr_WriteUnraisable(kept->get());
  });
}

rpc::WorkerRef to_worker(const py::object& to) {
  if (py::isinstance<py::str>(to)) return to.cast<std::string>();
  if (py::isinstance<rpc::WorkerInfo>(to)) return to.cast<const rpc::WorkerInfo&>();
  if (py::isinstance<py::int_>(to)) return to.cast<int64_t>();
  raise(PyExc_ValueError, std::string("Cannot get RPC worker from ") + Py_TYPE(to.ptr())->tp_name);
}

/// Sends call(); `done(value, error)` is called with its result.
void call_async(const py::object& to, const py::object& call, double timeout,
                const py::object& done) {
  using Arguments = std::tuple<Object>;
  const rpc::WorkerRef worker = to_worker(to);
  const Arguments arguments(keep(call));
  rpc::Agent::FuturePtr state;
  {
    const ReleaseGil released;
    state = rpc::detail::call_function(
        worker, {kCall, rpc::detail::arguments_of<Object>(), rpc::type_name<Object>()},
        [&](rpc::Writer& out) { rpc::Codec<Arguments>::write(out, arguments); },
        [](rpc::Reader& in) { return std::make_shared<Object>(rpc::Codec<Object>::read(in)); },
        timeout);
  }
  tell_when_done(*state, done, [](const rpc::detail::FutureState::Made& made) {
    return *static_cast<const Object*>(made.get());
  });
}

ObjectRefPtr share(ObjectRef reference) {
  return ObjectRefPtr(new ObjectRef(std::move(reference)), DeleteWithoutGil());
}

ObjectRefPtr create(const py::object& to, const py::object& call, double timeout) {
  const rpc::WorkerRef worker = to_worker(to);
  const std::tuple<Object> arguments(keep(call));
  const ReleaseGil released;
  return share(rpc::remote<Object>(worker, std::string(kCall), arguments, timeout, {}));
}

/// The value, from its owner.
void fetch(const ObjectRef& reference, double timeout, const py::object& done) {
  const rpc::RRefHandlePtr& handle = reference.handle_ptr();
  if (handle->is_owner()) {
    const auto state = handle->agent->references().value(handle->info.id);
    tell_when_done(*state, done, [state](const rpc::detail::FutureState::Made& made) {
      return *static_cast<Object*>(static_cast<const rpc::Value*>(made.get())->as(typeid(Object)));
    });
    return;
  }
  rpc::Agent::FuturePtr state;
  {
    const ReleaseGil released;
    state = handle->fetch(
        [](rpc::Reader& in) { return std::make_shared<Object>(rpc::Codec<Object>::read(in)); },
        timeout);
  }
  tell_when_done(*state, done, [handle](const rpc::detail::FutureState::Made& made) {
    handle->confirmed = true;
    return *static_cast<const Object*>(made.get());
  });
}

void add_references(py::module_& m) {
  py::class_<ObjectRef, ObjectRefPtr>(m, "Reference", "A value that stays at a worker.")
      .def_static("own",
                  [](const py::object& value) {
                    Object kept = keep(value);
                    const ReleaseGil released;
                    return share(ObjectRef(std::move(kept), ObjectRef::Site{}));
                  })
      .def_static("create", &create)
      .def("is_owner", &ObjectRef::is_owner)
      .def("owner", &ObjectRef::owner)
      .def("confirmed_by_owner", &ObjectRef::confirmed_by_owner)
      .def("describe", [](const ObjectRef& r) { return r.handle_ptr()->describe(); })
      .def("fetch", &fetch)
      .def("id", [](const ObjectRef& r) {
        const rpc::GlobalId id = r.handle_ptr()->info.id;
        return py::make_tuple(id.worker, id.number);
      });
}

rpc::RpcBackendOptions make_options(size_t threads, double timeout, const std::string& init_method,
                                    const std::map<std::string, py::dict>& device_maps) {
  rpc::RpcBackendOptions out;
  out.num_worker_threads = threads;
  out.rpc_timeout = timeout;
  out.init_method = init_method;
  for (const auto& [worker, map] : device_maps) {
    rpc::DeviceMap devices;
    for (const auto& [from, to] : map) devices.emplace(from.cast<Device>(), to.cast<Device>());
    out.set_device_map(worker, devices);
  }
  return out;
}

void add_workers(py::module_& m) {
  py::class_<rpc::WorkerInfo>(m, "WorkerInfo", "The name and number of a worker.")
      .def_readonly("name", &rpc::WorkerInfo::name)
      .def_readonly("id", &rpc::WorkerInfo::id)
      .def("__eq__", [](const rpc::WorkerInfo& a, const rpc::WorkerInfo& b) { return a == b; })
      .def("__hash__", [](const rpc::WorkerInfo& a) { return std::hash<std::string>()(a.name); })
      .def("__repr__", [](const rpc::WorkerInfo& a) { return rpc::to_string(a); })
      .def(py::pickle([](const rpc::WorkerInfo& a) { return py::make_tuple(a.name, a.id); },
                      [](const py::tuple& t) {
                        return rpc::WorkerInfo{t[0].cast<std::string>(), t[1].cast<int64_t>()};
                      }));
  m.def("init", [](const std::string& name, int64_t rank, int64_t world_size, size_t threads,
                   double timeout, const std::string& init_method,
                   const std::map<std::string, py::dict>& device_maps) {
    const auto options = make_options(threads, timeout, init_method, device_maps);
    if (!rpc::detail::find_function(kCall))
      rpc::register_function(kCall, std::function<Object(Object)>(&run_call));
    interruptibly([=] { rpc::init_rpc(name, rank, world_size, options); });
  });
  m.def("shutdown", [](bool graceful, double timeout) {
    const auto limit = std::chrono::milliseconds(static_cast<int64_t>(timeout * 1000));
    interruptibly([=] { rpc::shutdown(graceful, limit); });
  });
  m.def("is_initialized", &rpc::is_initialized);
  m.def("get_worker_info", [](const py::object& of) {
    return of.is_none() ? rpc::get_worker_info() : rpc::get_worker_info(to_worker(of));
  });
  m.def("get_worker_infos", &rpc::get_worker_infos);
  m.def("call_async", &call_async);
}

/// Gives a thread's place in the pool to another call, for the time of a `with`.
class Elsewhere {
 public:
  void enter() { waiting_ = std::make_unique<rpc::Pool::Waiting>(); }
  void exit() { waiting_.reset(); }

 private:
  std::unique_ptr<rpc::Pool::Waiting> waiting_;
};

void add_contexts(py::module_& m) {
  py::class_<Elsewhere>(m, "Elsewhere")
      .def(py::init<>())
      .def("__enter__", &Elsewhere::enter, py::call_guard<py::gil_scoped_release>())
      .def("__exit__", [](Elsewhere& e, const py::args&) { e.exit(); });
  py::class_<dist_autograd::context, std::unique_ptr<dist_autograd::context, DeleteWithoutGil>>(
      m, "Context")
      .def(py::init<>())
      .def("id", &dist_autograd::context::id);
  m.def("current_context", &rpc::Contexts::current);
  m.def("backward", [](int64_t context, const std::vector<Tensor>& roots, bool retain_graph) {
    const ReleaseGil released;
    dist_autograd::backward(context, roots, retain_graph);
  });
  m.def("get_gradients", [](int64_t context) {
    const dist_autograd::Gradients all = dist_autograd::get_gradients(context);
    return std::vector<std::pair<Tensor, Tensor>>(all.begin(), all.end());
  });
}

}  // namespace

void add_rpc(py::module_& m) {
  py::module_ inner = m.def_submodule("_rpc", "Calls at other processes.");
  add_workers(inner);
  add_references(inner);
  add_contexts(inner);
}

}  // namespace taeda::python
