#include <pybind11/chrono.h>

#include "distributed.h"
#include "taeda/base/error.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/environment.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/distributed/group/flight_recorder.h"
#include "waiting.h"

namespace taeda::python {

namespace {

namespace dist = distributed;
using dist::ProcessGroup;
using dist::ProcessGroupPtr;
using dist::ReduceOp;
using dist::Work;
using dist::WorkPtr;
using std::chrono::milliseconds;

void add_reductions(py::module_& m) {
  py::class_<ReduceOp> op(m, "ReduceOp", "What a reduction does with the elements of the ranks.");
  for (int kind = ReduceOp::SUM; kind <= ReduceOp::BXOR; ++kind) {
    const auto k = static_cast<ReduceOp::Kind>(kind);
    op.attr(dist::to_string(k)) = ReduceOp(k);
  }
  op.def("__eq__", [](const ReduceOp& a,
                      const ReduceOp& b) { return a.kind == b.kind && a.factor == b.factor; })
      .def("__hash__", [](const ReduceOp& a) { return static_cast<int>(a.kind); })
      .def("__repr__",
           [](const ReduceOp& a) {
             return std::string("<RedOpType.") + dist::to_string(a.kind) + ": " +
                    std::to_string(a.kind) + ">";
           })
      .def_property_readonly("op", [](const ReduceOp& a) { return dist::to_string(a.kind); })
      .def("__reduce__", [](const py::object& self) {
        const auto& a = self.cast<const ReduceOp&>();
        return py::make_tuple(py::type::of(self),
                              py::make_tuple(dist::to_string(a.kind), a.factor));
      });
  op.def(py::init([](const std::string& name, double factor) {
           for (int kind = ReduceOp::SUM; kind <= ReduceOp::PREMUL_SUM; ++kind) {
             ReduceOp out(static_cast<ReduceOp::Kind>(kind));
             out.factor = factor;
             if (name == dist::to_string(out.kind)) return out;
           }
           raise(PyExc_ValueError, "ReduceOp: there is no '" + name + "'");
         }),
         py::arg("op"), py::arg("factor") = 1.0);
  m.def("_make_nccl_premul_sum", [](double factor) { return ReduceOp::premul_sum(factor); });
}

/// Calls `callback()` when the work is completed, on the thread that completes it.
void call_on_completion(Work& work, const py::object& callback) {
  auto kept = std::make_shared<Kept>(callback.ptr());
  const ReleaseGil released;
  work.on_completion([kept](Work&) {
    const HoldGil gil;
    const Ref done(PyObject_CallNoArgs(kept->get()));
    if (!done) PyErr_WriteUnraisable(kept->get());
  });
}

void add_work(py::module_& m) {
  py::class_<Work, WorkPtr>(m, "WorkBase", "An operation under way.")
      .def(
          "_wait",
          [](Work& work, std::optional<milliseconds> timeout) {
            const ReleaseGil released;
            work.wait(timeout);
          },
          py::arg("timeout") = std::nullopt)
      .def("is_completed", &Work::is_completed, "Whether it has ended, be it with an error.")
      .def("is_success", &Work::is_success, "Whether it has ended without an error.")
      .def(
          "exception", [](const Work& w) { return exception_object(w.exception()); },
          "The error that it ended with, or None.")
      .def("_source_rank", &Work::source_rank)
      .def("result", &Work::result, "The tensors that it gives values to.")
      .def("_on_completion", &call_on_completion)
      .def("__repr__", [](const Work& w) { return "<Work: " + w.what().to_string() + ">"; });
}

void add_group_class(py::module_& m) {
  py::class_<ProcessGroup, ProcessGroupPtr>(m, "ProcessGroup", "Processes that exchange tensors.")
      .def("rank", &ProcessGroup::rank, "This process's rank in the group; -1 outside of it.")
      .def("size", &ProcessGroup::size, "How many processes there are.")
      .def("name", &ProcessGroup::backend, "The backend's name.")
      .def_property_readonly("group_name", &ProcessGroup::name)
      .def_property_readonly("timeout", &ProcessGroup::timeout)
      .def("set_timeout", &ProcessGroup::set_timeout, py::arg("timeout"),
           "How long operations that are called from now on may take, a timedelta.")
      .def_property_readonly("_ranks", &ProcessGroup::ranks)
      .def_property_readonly("failure", &ProcessGroup::failure)
      .def("__repr__", [](const ProcessGroup& g) {
        return "<torch.distributed.ProcessGroup '" + g.name() + "', rank " +
               std::to_string(g.rank()) + " of " + std::to_string(g.size()) + ">";
      });
}

void add_world(py::module_& m) {
  m.def("init_process_group", [](const std::string& backend, const std::string& init_method,
                                 std::optional<milliseconds> timeout, int world_size, int rank,
                                 dist::StorePtr store, const std::string& group_name) {
    const dist::InitOptions options{.init_method = init_method,
                                    .timeout = timeout,
                                    .world_size = world_size,
                                    .rank = rank,
                                    .store = std::move(store),
                                    .group_name = group_name};
    interruptibly([=] { dist::init_process_group(backend, options); });
  });
  m.def("destroy_process_group", [](const ProcessGroupPtr& group) {
    interruptibly([=] { dist::destroy_process_group(group); });
  });
  m.def("new_group", [](const std::vector<int>& ranks, std::optional<milliseconds> timeout,
                        const std::string& backend) {
    return interruptibly([=] { return dist::new_group(ranks, timeout, backend); });
  });
  m.def("default_group", &dist::default_group);
  m.def("is_available", &dist::is_available);
  m.def("has_engine", &dist::has_engine);
  m.def("is_initialized", &dist::is_initialized);
  m.def("get_rank", &dist::get_rank);
  m.def("get_world_size", &dist::get_world_size);
  m.def("get_backend", &dist::get_backend);
  m.def("get_group_rank", &dist::get_group_rank);
  m.def("get_global_rank", &dist::get_global_rank);
  m.def("get_process_group_ranks", &dist::get_process_group_ranks);
  m.def("get_node_local_rank", &dist::get_node_local_rank);
  m.def("flight_record", &dist::flight_record);
}

}  // namespace

py::object exception_object(const std::exception_ptr& error) {
  if (!error) return py::none();
  try {
    std::rethrow_exception(error);
  } catch (...) {
    set_error();
  }
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return py::reinterpret_steal<py::object>(value);
}

void add_groups(py::module_& m) {
  add_reductions(m);
  add_work(m);
  add_group_class(m);
  add_world(m);
}

void add_distributed(PyObject* module) {
  py::module_ m = as_module(module).def_submodule("_distributed", "Several processes.");
  add_stores(m);
  add_groups(m);
  add_collectives(m);
  add_data_parallel(m);
#if defined(TAEDA_HAS_RPC)
  add_rpc(m);
#endif
  add_launch(m);
  distributed::watch_waits(&check_signals);
}

}  // namespace taeda::python
