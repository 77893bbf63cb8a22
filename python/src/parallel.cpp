// Several devices in one process: what torch.nn.parallel is made of.
#include "parallel.h"

#include <algorithm>
#include <memory>

#include "bindings.h"
#include "taeda/parallel/broadcast.h"
#include "taeda/parallel/comm.h"
#include "taeda/parallel/lane.h"
#include "taeda/parallel/pipe/schedule.h"
#include "taeda/parallel/values.h"
#include "taeda/taeda.h"
#include "taeda/tensor/grad_mode.h"
#include "waiting.h"

namespace taeda::python {

namespace {

using nn::parallel::FlatLayout;
using nn::parallel::Values;
using Tensors = std::vector<Tensor>;

/// Gives several devices the values of tensors, and takes their gradients back. Memory and streams
/// are kept from pass to pass.
class Broadcast {
 public:
  explicit Broadcast(std::vector<Device> devices)
      : devices_(std::move(devices)), values_(devices_) {
    for (std::vector<Stream>* streams : {&streams_.flatten, &streams_.add, &streams_.add_opposite})
      for (const Device device : devices_)
        if (!device.is_cpu()) streams->push_back(new_stream(device));
  }

  /// The tensors on the first `count` devices. Those with one number in `groups`, which a module
  /// has, travel together.
  std::vector<Tensors> send(const Tensors& originals, const std::vector<size_t>& groups,
                            size_t count) {
    const ReleaseGil released;
    std::vector<Tensors> copies(count);
    {
      const InferenceMode normal(false);
      const NoGradGuard values_only;
      Tensors plain;
      for (const Tensor& t : originals) plain.push_back(t.detach());
      values_.begin(std::move(plain), groups);
      for (size_t i = 0; i < count; ++i) {
        for (const Tensor& t : originals) copies[i].push_back(make_alias(t, t.layout(), t.dtype()));
        const DeviceGuard guard(devices_[i]);
        values_.place(i, copies[i]);
      }
      values_.send(count);
    }
    if (GradMode::is_enabled()) record(originals, groups, copies);
    return copies;
  }

 private:
  /// A module's gradients are put together on each device.
  void record(const Tensors& originals, const std::vector<size_t>& groups,
              const std::vector<Tensors>& copies) const {
    std::vector<size_t> wanted, of_wanted, order;
    Tensors leaves;
    for (size_t k = 0; k < originals.size(); ++k) {
      if (!originals[k].requires_grad()) continue;
      order.push_back(wanted.size());
      wanted.push_back(k);
      of_wanted.push_back(groups[k]);
      leaves.push_back(originals[k]);
    }
    for (const auto& members : nn::parallel::make_buckets(leaves, order, of_wanted, {0, 0})) {
      Tensors together;
      std::vector<Tensors> on_devices(copies.size());
      for (const size_t w : members) {
        together.push_back(leaves[w]);
        for (size_t i = 0; i < copies.size(); ++i) on_devices[i].push_back(copies[i][wanted[w]]);
      }
      auto layout = std::make_shared<const FlatLayout>(together);
      nn::parallel::record_broadcast(together, on_devices, std::move(layout), streams_);
    }
  }

  const std::vector<Device> devices_;
  Values values_;
  nn::parallel::GradientStreams streams_;
};

/// The way from a stage of a pipeline to the next, and back for gradients.
class Way {
 public:
  Way(Device from, Device to) : lanes_{{from, to}, {to, from}} {}
  Tensors carry(const Tensors& tensors) const {
    const ReleaseGil released;
    return nn::detail::receive(nn::detail::send(tensors, lanes_));
  }

 private:
  const nn::detail::Lanes lanes_;
};

/// The order in which the stages of a pipeline work on the parts of a batch: (stage, part), ...
std::vector<std::pair<size_t, size_t>> forward_order(size_t stages, size_t parts) {
  std::vector<std::pair<size_t, size_t>> out;
  nn::detail::run_orders(
      nn::detail::forward_orders(stages, parts),
      [&](const nn::detail::StageAction& a) { out.emplace_back(a.stage, a.micro_batch); });
  return out;
}

}  // namespace

void add_parallel(PyObject* module) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  py::module_ m = as_module(module).def_submodule("_parallel", "Several devices.");
  m.def("scatter", &nn::parallel::scatter_tensor, released);
  m.def("gather", &nn::parallel::gather_tensors, released);
  m.def("forward_order", &forward_order);
  m.def("reduce_add", &nn::parallel::reduce_add, released);
  m.def("current_streams", &current_streams);
  m.def("set_current_streams", &set_current_streams);
  py::class_<Broadcast, std::unique_ptr<Broadcast, DeleteWithoutGil>>(m, "Broadcast")
      .def(py::init([](std::vector<Device> devices) {
        return std::unique_ptr<Broadcast, DeleteWithoutGil>(new Broadcast(std::move(devices)));
      }))
      .def("send", &Broadcast::send);
  py::class_<Way>(m, "Way").def(py::init<Device, Device>()).def("carry", &Way::carry);
}

}  // namespace taeda::python
