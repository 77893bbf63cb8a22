#include "taeda/data/prefetch.h"

#include <map>
#include <mutex>

#include "taeda/device/registry.h"
#include "taeda/ops/create/copy.h"

namespace taeda::inline v0_2::data::detail {

namespace {

Stream copy_stream(Device device) {
  static std::mutex mutex;
  static auto* streams = new std::map<std::string, Stream>;
  const Device d = resolve(device);
  std::lock_guard lock(mutex);
  Stream& stream = (*streams)[d.str()];
  if (stream.device().is_cpu()) stream = new_stream(d);
  return stream;
}

/// A copy in memory that devices of the type copy from without staging.
Tensor pinned_copy(const Tensor& t, DeviceType type) {
  Storage storage = Storage::allocate_pinned(type, static_cast<size_t>(t.nbytes()));
  const Tensor out(make_intrusive<TensorImpl>(
      std::move(storage), Layout{t.sizes(), strides_like(t.layout()), 0}, t.dtype()));
  out.copy_(t);
  return out;
}

}  // namespace

BatchCopier::BatchCopier(Device device) : stream_(copy_stream(device)) {
  TAEDA_CHECK_VALUE(device.is_accelerator(), "prefetch: expected an accelerator, got ", device);
}

void BatchCopier::copy(Tensor& t) const {
  if (!t.defined() || t.device() == device()) return;
  const StreamGuard guard(stream_);
  const bool pageable = t.is_cpu() && !t.is_pinned();
  const Tensor source = pageable ? pinned_copy(t.detach(), device().type()) : t;
  t = source.to(device(), /*non_blocking=*/true);
}

Event BatchCopier::copied() const {
  Event event;
  event.record(stream_);
  return event;
}

void BatchCopier::hand_over(Tensor& t) const {
  if (t.defined() && t.device() == device()) t.record_stream(current_stream(device()).id());
}

}  // namespace taeda::inline v0_2::data::detail
