#include "taeda/parallel/data_parallel.h"

#include "taeda/base/warning.h"
#include "taeda/device/accelerator.h"
#include "taeda/parallel/imbalance.h"

namespace taeda::inline v0_2::nn::parallel {

std::vector<Tensor> detail::Splitter::split_tensor(const Tensor& t) {
  std::vector<Tensor> chunks = scatter_tensor(t, devices_, dim_);
  TAEDA_CHECK_VALUE(!parts_ || *parts_ == chunks.size(),
                    "scatter: the tensors among the inputs are cut into different numbers of "
                    "chunks along dimension ",
                    dim_, ": ", *parts_, " and ", chunks.size(), " for ", devices_.size(),
                    " devices (the last one has shape ", t.sizes(), ")");
  parts_ = chunks.size();
  return chunks;
}

Device detail::device_of(const Module& module) {
  for (const Tensor& p : module.parameters()) return p.device();
  for (const Tensor& b : module.buffers()) return b.device();
  return Device(kCPU);
}

namespace {

DeviceType accelerator_for(const Module& module) {
  const DeviceType type = detail::device_of(module).type();
  return Device(type).is_accelerator() ? type : accelerator::preferred_type().value_or(kCUDA);
}

std::vector<Device> all_of(DeviceType type) {
  std::vector<Device> out;
  for (int i = 0; i < device_count(type); ++i) out.push_back(Device(type, i));
  return out;
}

}  // namespace

Device DeviceId::on(DeviceType type) const {
  return resolve(device_ ? *device_ : Device(type, index_));
}

std::vector<Device> DeviceIds::resolve_for(const Module& module) const {
  const DeviceType type = accelerator_for(module);
  if (!ids_) return all_of(type);
  std::vector<Device> out;
  for (const DeviceId& id : *ids_) {
    if (id.is_index() && device_count(type) == 0) continue;
    out.push_back(id.on(type));
  }
  return out;
}

namespace {

/// Says once in a program that devices are unlike each other.
void warn_if_unbalanced(const std::vector<Device>& devices) {
  std::vector<DeviceProperties> properties;
  for (const Device d : devices) properties.push_back(backend_of(d.type()).properties(d.index()));
  const std::string warning = imbalance_warning(devices, properties);
  if (!warning.empty()) TAEDA_WARN_ONCE(warning);
}

}  // namespace

DataParallelBase::DataParallelBase(std::shared_ptr<Module> module, std::vector<Device> devices,
                                   const std::optional<DeviceId>& output_device, int64_t dim)
    : devices_(std::move(devices)), dim_(dim), wrapped_(std::move(module)) {
  register_module("module", wrapped_);
  if (devices_.empty()) return;
  warn_if_unbalanced(devices_);
  output_device_ = output_device ? output_device->on(devices_[0].type()) : devices_[0];
  if (devices_.size() == 1)
    wrapped_->to(devices_[0]);
  else
    replicas_ = std::make_unique<Replicas>(wrapped_, devices_);
}

void DataParallelBase::forget_replicas() const {
  if (!replicas_) return;
  std::lock_guard lock(replicas_->mutex());
  replicas_->forget();
}

void DataParallelBase::check_placement() const {
  const auto check = [&](const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors)
      TAEDA_CHECK(t.device() == devices_[0],
                  "module must have its parameters and buffers on device ", devices_[0],
                  " (device_ids[0]) but found one of them on device: ", t.device());
  };
  check(wrapped_->parameters());
  check(wrapped_->buffers());
}

}  // namespace taeda::inline v0_2::nn::parallel
