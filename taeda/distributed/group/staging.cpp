#include "taeda/distributed/group/staging.h"

#include <map>
#include <mutex>

#include "taeda/base/checked_int.h"
#include "taeda/distributed/group/work.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
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

Tensor contiguous_memory(int64_t count, ScalarType dtype, Device device, bool stays) {
  if (device.is_cpu() || stays) return make_tensor({count}, dtype, device);
  Storage storage =
      Storage::allocate_pinned(device.type(), static_cast<size_t>(count * element_size(dtype)));
  const int64_t sizes[] = {count};
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Layout::contiguous(sizes), dtype));
}

/// Keeps the memory of `t` from being reused before `stream`, which did not allocate it, is done.
void keep_for(const Tensor& t, const Stream& stream) {
  if (t.numel() > 0 && t.storage()->resizable()) t.record_stream(stream.id());
}

}  // namespace

Staging::Staging(std::vector<Tensor> tensors, Use use, Place place, bool apart)
    : tensors_(std::move(tensors)), use_(use) {
  const NoGradGuard values_only;
  const Tensor& first = tensors_.at(0);
  const Device device = first.device();
  stays_ = place == Place::Device;
  own_memory_ =
      !apart && tensors_.size() == 1 && (device.is_cpu() || stays_) && first.is_contiguous();
  if (own_memory_) {
    const int64_t sizes[] = {first.numel()};
    flat_ = make_alias(first, Layout{DimVector(sizes), DimVector{1}, first.storage_offset()},
                       first.dtype());
    if (stays_) called_.record(current_stream(device));
    return;
  }
  CheckedInt sum = 0;
  for (const Tensor& t : tensors_) sum = sum + t.numel();
  const int64_t count = (sum * element_size(first.dtype())).value("collective") /
                        static_cast<int64_t>(element_size(first.dtype()));
  flat_ = contiguous_memory(count, first.dtype(), device, stays_);
  if (use_ != Use::Out) copy_parts(false);
  if (stays_ || (!device.is_cpu() && use_ != Use::In)) called_.record(current_stream(device));
}

Elements Staging::elements() const {
  if (stays_) {
    const Stream stream = current_stream(flat_.device());
    stream.wait_event(called_);
    keep_for(flat_, stream);
  }
  return {flat_.data_ptr(), flat_.numel(), flat_.dtype(), flat_.device()};
}

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
  if (own_memory_) {
    if (!tensors_[0].is_inference()) tensors_[0].unsafe_impl()->bump_version();
  } else if (tensors_[0].is_cpu()) {
    copy_parts(true);
  } else if (stays_) {
    copy_parts(true);
    for (const Tensor& t : tensors_) keep_for(t, current_stream(t.device()));
  } else {
    bring(work);
  }
}

/// From the host to an accelerator.
void Staging::bring(Work& work) const {
  const Stream stream = arrival_stream(tensors_[0].device());
  stream.wait_event(called_);
  const StreamGuard guard(stream);
  copy_parts(true);
  for (const Tensor& t : tensors_) {
    if (t.numel() > 0) t.storage()->use_after(stream);
    keep_for(t, stream);
  }
  work.arrived_.emplace_back().record(stream);
}

}  // namespace taeda::inline v0_2::distributed
