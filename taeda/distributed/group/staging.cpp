#include "taeda/distributed/group/staging.h"

#include <map>
#include <mutex>

#include "taeda/distributed/group/work.h"
#include "taeda/ops/create.h"
#include "taeda/ops/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// The stream of a device on which results arrive.
Stream arrival_stream(Device device) {
  static std::mutex mutex;
  static auto* streams = new std::map<std::pair<DeviceType, int>, Stream>;
  std::lock_guard lock(mutex);
  const auto [it, added] = streams->try_emplace({device.type(), device.index()});
  if (added) it->second = new_stream(device);
  return it->second;
}

Tensor host_memory(int64_t count, ScalarType dtype, Device device) {
  if (device.is_cpu()) return make_tensor({count}, dtype, kCPU);
  Storage storage =
      Storage::allocate_pinned(device.type(), static_cast<size_t>(count * element_size(dtype)));
  const int64_t sizes[] = {count};
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Layout::contiguous(sizes), dtype));
}

}  // namespace

Staging::Staging(std::vector<Tensor> tensors, Use use, bool apart)
    : tensors_(std::move(tensors)), use_(use) {
  const NoGradGuard values_only;
  const Tensor& first = tensors_.at(0);
  const Device device = first.device();
  own_memory_ = !apart && tensors_.size() == 1 && device.is_cpu() && first.is_contiguous();
  if (own_memory_) {
    const int64_t sizes[] = {first.numel()};
    flat_ = make_alias(first, Layout{DimVector(sizes), DimVector{1}, first.storage_offset()},
                       first.dtype());
    return;
  }
  int64_t count = 0;
  for (const Tensor& t : tensors_) count += t.numel();
  flat_ = host_memory(count, first.dtype(), device);
  if (use_ != Use::Out) copy_parts(false);
  if (!device.is_cpu() && use_ != Use::In) called_.record(current_stream(device));
}

Elements Staging::elements() const { return {flat_.data_ptr(), flat_.numel(), flat_.dtype()}; }

void Staging::copy_parts(bool to_tensors) const {
  int64_t at = 0;
  for (const Tensor& t : tensors_) {
    const Tensor part = flat_.narrow(0, at, t.numel()).view(t.sizes());
    at += t.numel();
    if (to_tensors)
      t.detach().copy_(part, true);
    else
      part.copy_(t.detach(), true);
  }
}

void Staging::deliver(Work& work) {
  const NoGradGuard values_only;
  const Device device = tensors_[0].device();
  if (own_memory_) {
    if (!tensors_[0].is_inference()) tensors_[0].unsafe_impl()->bump_version();
  } else if (device.is_cpu()) {
    copy_parts(true);
  } else {
    const Stream stream = arrival_stream(device);
    stream.wait_event(called_);
    const StreamGuard guard(stream);
    copy_parts(true);
    for (const Tensor& t : tensors_) {
      if (t.numel() == 0) continue;
      t.storage()->use_after(stream);
      if (t.storage()->resizable()) t.record_stream(stream.id());
    }
    work.arrived_.emplace_back().record(stream);
  }
}

}  // namespace taeda::distributed
