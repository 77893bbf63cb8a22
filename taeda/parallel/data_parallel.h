// Splitting each batch over several devices, as torch.nn.DataParallel.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/parallel/parallel_apply.h"
#include "taeda/parallel/replicate.h"
#include "taeda/parallel/scatter_gather.h"

namespace taeda::inline v0_2::nn::parallel {

/// A device by name, or by index among the accelerators that are there.
/// Throws Error for one that is not there.
class DeviceId {
 public:
  template <std::integral I>
  DeviceId(I index) : index_(static_cast<int>(index)) {}
  DeviceId(Device device) : device_(device) {}
  DeviceId(const char* name) : device_(Device(name)) {}
  DeviceId(const std::string& name) : device_(Device(name)) {}
  /// The device; an index means one of type `type`. Throws Error unless it exists.
  Device on(DeviceType type) const;
  bool is_index() const { return !device_; }

 private:
  std::optional<Device> device_;
  int index_ = 0;
};

/// The devices of a DataParallel: `{0, 1}`, `{"sim:0", "sim:1"}`, a vector; by default all.
class DeviceIds {
 public:
  DeviceIds() = default;
  DeviceIds(std::initializer_list<DeviceId> ids) : ids_(ids) {}
  template <std::convertible_to<DeviceId> Id>
  DeviceIds(const std::vector<Id>& ids) : ids_(std::in_place, ids.begin(), ids.end()) {}
  DeviceIds(std::nullopt_t) {}

  /// The devices, with indices. All are those of the type that the module is on or, while it is on
  /// the CPU, of the preferred one (accelerator::preferred_type), or else "cuda". Indices, too,
  /// mean that type; empty if it has no devices. Throws Error for a device that does not exist.
  std::vector<Device> resolve_for(const Module& module) const;

 private:
  std::optional<std::vector<DeviceId>> ids_;
};

/// What DataParallel does whatever the module's class.
class DataParallelBase : public Module {
 public:
  const std::vector<Device>& devices() const { return devices_; }
  Device output_device() const { return output_device_; }
  int64_t dim() const { return dim_; }
  /// Makes the replicas anew at the next call. Needed only after a change that they cannot see:
  /// Note [Replicas].
  void forget_replicas() const;

 protected:
  DataParallelBase(std::shared_ptr<Module> module, std::vector<Device> devices,
                   const std::optional<DeviceId>& output_device, int64_t dim);
  /// Throws Error unless the module's parameters and buffers are on the first device.
  void check_placement() const;

  std::vector<Device> devices_;  // none: the module runs where it is
  Device output_device_;
  int64_t dim_;
  std::shared_ptr<Module> wrapped_;
  std::unique_ptr<Replicas> replicas_;  // with several devices
};

namespace detail {
/// Throws ValueError where there is none.
template <class M>
const std::shared_ptr<M>& given(const std::shared_ptr<M>& module) {
  TAEDA_CHECK_VALUE(module, "DataParallel expects a module, but got a null pointer");
  return module;
}
}  // namespace detail

/// Runs a module on several devices at once: each call splits the tensors among the arguments along
/// `dim`, gives every device its chunks and a replica of the module, and puts the results together
/// on `output_device` (by default the first device). Arguments and results are tensors or
/// containers of them (scatter_gather.h); each replica gets a copy of other arguments. Gradients
/// reach the module's own parameters, and equal those of one device up to rounding.
///
/// The parameters must be on the first device when it is called; every module in the tree must be
/// Cloneable. Without accelerators, or with one device, the module itself is called. See Note
/// [Replicas] for buffers and for what replicas keep; module hooks run in each replica.
template <class M>
class DataParallelImpl : public DataParallelBase {
 public:
  explicit DataParallelImpl(std::shared_ptr<M> module, const DeviceIds& device_ids = {},
                            const std::optional<DeviceId>& output_device = {}, int64_t dim = 0)
      : DataParallelBase(module, device_ids.resolve_for(*detail::given(module)), output_device,
                         dim),
        module_(std::move(module)) {}

  /// The module that was given.
  const std::shared_ptr<M>& module() const { return module_; }

  template <class... Args>
  auto forward(const Args&... args)
      -> std::decay_t<decltype(call(std::declval<M&>(),
                                    std::declval<const std::decay_t<Args>&>()...))> {
    if (devices_.empty()) return call(*module_, args...);
    check_placement();
    const std::tuple<std::decay_t<Args>...> all(args...);
    if (devices_.size() == 1) return detail::call_with(*module_, scatter(all, devices_, dim_)[0]);
    std::lock_guard lock(replicas_->mutex());
    std::vector<std::tuple<std::decay_t<Args>...>> inputs;
    const auto& clones = replicas_->follow([&] {
      inputs = sizeof...(Args) == 0 ? std::vector{all} : scatter(all, devices_, dim_);
      return inputs.size();
    });
    std::vector<std::shared_ptr<M>> modules;
    for (size_t i = 0; i < inputs.size(); ++i)
      modules.push_back(std::static_pointer_cast<M>(clones[i]));
    const std::vector<Device> used(devices_.begin(),
                                   devices_.begin() + static_cast<ptrdiff_t>(inputs.size()));
    return gather(parallel_apply(modules, inputs, used), output_device_, dim_);
  }

  /// On `device` the copy runs on that device alone.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override {
    auto copy = std::dynamic_pointer_cast<M>(module_->clone(device));
    const auto devices = device ? std::vector<Device>{*device} : devices_;
    auto out = std::make_shared<DataParallelImpl>(std::move(copy), devices,
                                                  device ? *device : output_device_, dim_);
    copy_mode_to(*out);
    return out;
  }

 private:
  std::shared_ptr<M> module_;
};

/// Holder of a DataParallelImpl: `nn::DataParallel model(net)` for a module `net`, which may be a
/// holder or a shared pointer.
template <class M>
class DataParallel : public ModuleHolder<DataParallelImpl<M>> {
 public:
  using Impl = DataParallelImpl<M>;
  DataParallel(std::nullptr_t) : ModuleHolder<Impl>(nullptr) {}
  explicit DataParallel(std::shared_ptr<M> module, const DeviceIds& device_ids = {},
                        const std::optional<DeviceId>& output_device = {}, int64_t dim = 0)
      : ModuleHolder<Impl>(
            std::make_shared<Impl>(std::move(module), device_ids, output_device, dim)) {}
  explicit DataParallel(const ModuleHolder<M>& module, const DeviceIds& device_ids = {},
                        const std::optional<DeviceId>& output_device = {}, int64_t dim = 0)
      : DataParallel(module.ptr(), device_ids, output_device, dim) {}
};

namespace detail {
template <class M>
std::shared_ptr<M> pointer(const std::shared_ptr<M>& module) {
  return module;
}
template <class M>
std::shared_ptr<M> pointer(const ModuleHolder<M>& module) {
  return module.ptr();
}
}  // namespace detail

/// One call of a module on several devices, without keeping replicas: torch::nn::parallel's
/// function. The module may be on any device; with one device it is moved there. `input` is a
/// tensor or a std::tuple of arguments. Throws Error if there are no devices.
template <class ModuleType, class Input>
auto data_parallel(const ModuleType& module, const Input& input, const DeviceIds& device_ids = {},
                   const std::optional<DeviceId>& output_device = {}, int64_t dim = 0) {
  const auto original = detail::pointer(module);
  std::vector<Device> devices = device_ids.resolve_for(*original);
  TAEDA_CHECK(!devices.empty(), "Expected at least one CUDA device to be available");
  const Device target = output_device ? output_device->on(devices[0].type()) : devices[0];
  const auto inputs = scatter(input, devices, dim);
  if (devices.size() == 1) {
    original->to(devices[0]);
    return gather(std::vector{detail::call_with(*original, inputs[0])}, target, dim);
  }
  devices.resize(inputs.size());
  return gather(parallel_apply(replicate(original, devices), inputs, devices), target, dim);
}

}  // namespace taeda::inline v0_2::nn::parallel

namespace taeda::inline v0_2::nn {
using parallel::DataParallel;
}  // namespace taeda::inline v0_2::nn
