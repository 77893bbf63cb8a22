// What DistributedDataParallel is made of: the reducer that averages gradients during backward.
#include <future>
#include <memory>

#include "distributed.h"
#include "taeda/base/error.h"
#include "taeda/distributed/ddp/module_state.h"
#include "taeda/distributed/ddp/power_sgd.h"
#include "taeda/distributed/ddp/reducer.h"
#include "taeda/distributed/sync_batch_norm.h"
#include "taeda/distributed/zero/partition.h"
#include "waiting.h"

namespace taeda::python {

namespace {

namespace dist = distributed;
namespace power_sgd = dist::algorithms::ddp_comm_hooks::powerSGD_hook;
using dist::CommHook;
using dist::GradBucket;
using dist::ProcessGroupPtr;
using dist::Reducer;
using Tensors = std::vector<Tensor>;
using PowerSGDStatePtr = std::shared_ptr<power_sgd::PowerSGDState>;

/// The tensor that a future of Python's, which is waited for, has: itself or the only one of a
/// list.
Tensor result_of(PyObject* future) {
  const HoldGil gil;
  Ref value(PyObject_CallMethod(future, "wait", nullptr));
  if (!value) throw PythonError();
  if (is_sequence(value.get()) && PySequence_Fast_GET_SIZE(value.get()) == 1)
    value = Ref::borrow(PySequence_Fast_GET_ITEM(value.get(), 0));
  if (!is_tensor(value.get())) {
    PyErr_Format(PyExc_TypeError,
                 "Communication hook: expected its future to hold a torch.Tensor, got %s",
                 Py_TYPE(value.get())->tp_name);
    throw PythonError();
  }
  return tensor_of(value.get());
}

/// hook(bucket), which gives something with `wait()`.
CommHook as_comm_hook(const py::object& hook) {
  return [kept = std::make_shared<Kept>(hook.ptr())](GradBucket& bucket) {
    const HoldGil gil;
    const py::object given = py::cast(bucket);
    const Ref future(PyObject_CallOneArg(kept->get(), given.ptr()));
    if (!future) throw PythonError();
    if (!PyObject_HasAttrString(future.get(), "wait")) {
      PyErr_Format(PyExc_TypeError,
                   "Communication hook: return annotation should be torch.futures.Future, got %s",
                   Py_TYPE(future.get())->tp_name);
      throw PythonError();
    }
    return std::async(std::launch::deferred, [result = std::make_shared<Kept>(future.get())] {
      return result_of(result->get());
    });
  };
}

void add_bucket(py::module_& m) {
  py::class_<GradBucket>(m, "GradBucket", "Gradients of some parameters as one flat tensor.")
      .def("index", &GradBucket::index, "Its number; those with smaller ones are sent before.")
      .def("is_last", &GradBucket::is_last)
      .def("buffer", &GradBucket::buffer, "This rank's gradients, of one dimension, undivided.")
      .def("set_buffer", &GradBucket::set_buffer, py::arg("buffer"))
      .def("gradients", &GradBucket::gradients, "Its parts, each with its parameter's sizes.")
      .def("parameters", &GradBucket::parameters);
}

std::unique_ptr<Reducer, DeleteWithoutGil> make_reducer(
    const std::vector<std::pair<std::string, Tensor>>& named, const ProcessGroupPtr& group,
    std::optional<double> bucket_mb, bool find_unused, bool static_graph, bool keep_buckets) {
  OrderedDict<std::string, Tensor> parameters("Parameter");
  for (const auto& [name, parameter] : named) parameters.insert(name, parameter);
  Reducer::Options options{.find_unused = find_unused,
                           .static_graph = static_graph,
                           .keep_buckets = keep_buckets,
                           .site = {}};
  if (bucket_mb) {
    options.limits.others = static_cast<int64_t>(*bucket_mb * (1 << 20));
    options.limits.first = std::min(options.limits.first, options.limits.others);
  }
  return std::unique_ptr<Reducer, DeleteWithoutGil>(
      new Reducer(std::move(parameters), group, options));
}

// A thread that has the GIL must not wait for the reducer: one that has the reducer may call a
// hook.
void add_reducer(py::module_& m) {
  const auto released = py::call_guard<ReleaseGil>();
  py::class_<Reducer, std::unique_ptr<Reducer, DeleteWithoutGil>>(m, "Reducer")
      .def(py::init(&make_reducer), py::arg("parameters"), py::arg("group"),
           py::arg("bucket_cap_mb"), py::arg("find_unused"), py::arg("static_graph"),
           py::arg("keep_buckets"))
      .def("after_forward", &Reducer::after_forward, released)
      .def("set_synchronize", &Reducer::set_synchronize, released)
      .def("take_part_without_gradients", &Reducer::take_part_without_gradients, released)
      .def("set_divisor", &Reducer::set_divisor, released)
      .def("num_buckets", &Reducer::num_buckets, released)
      .def("set_comm_hook",
           [](Reducer& reducer, const py::object& hook) {
             CommHook made = as_comm_hook(hook);
             const ReleaseGil waiting;
             reducer.set_comm_hook(std::move(made));
           })
      .def("set_power_sgd", [](Reducer& reducer, const PowerSGDStatePtr& state) {
        const ReleaseGil waiting;
        reducer.set_comm_hook(
            [state](GradBucket& bucket) { return power_sgd::powerSGD_hook(state, bucket); });
      });
  m.def("give_out", [](const std::vector<int64_t>& params, std::vector<int64_t> elements) {
    std::vector<int> owners = dist::detail::give_out(params, elements);
    return std::make_pair(std::move(owners), std::move(elements));
  });
  m.def("broadcast_values", [](const Tensors& tensors, int root, const ProcessGroupPtr& group) {
    const ReleaseGil waiting;
    dist::broadcast_values(tensors, root, *group, {});
  });
  m.def("sync_batch_norm", &nn::sync_batch_norm, released,
        "A batch norm's forward in training with the other processes of a group.");
}

void add_power_sgd(py::module_& m) {
  py::class_<power_sgd::PowerSGDState, PowerSGDStatePtr>(m, "PowerSGDState")
      .def(py::init([](const ProcessGroupPtr& group, int64_t rank, int64_t start, double rate,
                       bool feedback, bool warm, double epsilon, uint64_t seed) {
        return std::make_shared<power_sgd::PowerSGDState>(
            group, power_sgd::PowerSGDOptions{rank, start, rate, feedback, warm, epsilon, seed});
      }));
}

}  // namespace

void add_data_parallel(py::module_& m) {
  add_bucket(m);
  add_reducer(m);
  add_power_sgd(m);
}

}  // namespace taeda::python
