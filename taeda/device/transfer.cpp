#include "taeda/device/transfer.h"

#include <memory>

#include "taeda/base/error.h"
#include "taeda/base/tracing.h"
#include "taeda/device/allocator.h"
#include "taeda/device/graph.h"
#include "taeda/device/host_graph.h"
#include "taeda/device/registry.h"
#include "taeda/device/stream.h"

namespace taeda::inline v0_2 {

namespace {

/// Between the host and an accelerator, on the accelerator's current stream.
void copy_with_host(void* dst, const void* src, size_t bytes, Device device, bool to_device,
                    bool non_blocking) {
  const Stream stream = current_stream(device);
  const int index = stream.device().index();
  Backend& backend = backend_of(device.type());
  TAEDA_CHECK(captures_under_way() == 0 || !backend.is_capturing(index, stream.id()) ||
                  (non_blocking && allocator::is_pinned(device.type(), to_device ? src : dst)),
              "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU "
              "tensor is pinned and the copy is non_blocking. Please use tensor.pin_memory() or "
              "allocate the tensor with pin_memory=True.");
  backend.copy(dst, to_device ? index : -1, src, to_device ? -1 : index, bytes, index, stream.id());
  const void* host = to_device ? src : dst;
  const bool pinned = allocator::record_pinned_use(host, stream.device(), stream.id());
  // From pageable memory the backend returned when it was done with the host side. What arrives on
  // the host must be there when a blocking copy returns.
  if (pinned && !non_blocking) stream.synchronize();
}

/// Between devices of one type: the source's stream does the copy, the destination's waits for it.
void copy_between(void* dst, Device dst_device, const void* src, Device src_device, size_t bytes) {
  const Stream from = current_stream(src_device), to = current_stream(dst_device);
  from.wait_stream(to);
  backend_of(src_device.type())
      .copy(dst, to.device().index(), src, from.device().index(), bytes, from.device().index(),
            from.id());
  to.wait_stream(from);
}

/// As CUDA's tools call the directions: host, device, peer.
const char* name_of_copy(Device from, Device to) {
  if (from.is_cpu()) return to.is_cpu() ? "Memcpy HtoH" : "Memcpy HtoD";
  if (to.is_cpu()) return "Memcpy DtoH";
  return from == to ? "Memcpy DtoD" : "Memcpy PtoP";
}

void tell(tracing::Span& span, const char* name, size_t bytes, Device from, Device to) {
  span.enter(tracing::Kind::Copy, name);
  span.set_copy(static_cast<int64_t>(bytes), from, to);
}

}  // namespace

void transfer(void* dst, Device dst_device, const void* src, Device src_device, size_t bytes,
              bool non_blocking) {
  if (bytes == 0 || dst_device.is_meta()) return;
  tracing::Span span;
  if (tracing::wants(tracing::kSpans | tracing::kScopes)) [[unlikely]]
    tell(span, name_of_copy(src_device, dst_device), bytes, src_device, dst_device);
  if (dst_device.is_cpu() && src_device.is_cpu()) {
    return backend_of(kCPU).copy(dst, -1, src, -1, bytes, 0, 0);
  }
  detail::check_not_recording("copy between devices");
  if (dst_device.is_cpu()) {
    copy_with_host(dst, src, bytes, src_device, false, non_blocking);
  } else if (src_device.is_cpu()) {
    copy_with_host(dst, src, bytes, dst_device, true, non_blocking);
  } else if (dst_device.type() == src_device.type()) {
    copy_between(dst, dst_device, src, src_device, bytes);
  } else {
    const auto staging = std::make_unique_for_overwrite<char[]>(bytes);
    copy_with_host(staging.get(), src, bytes, src_device, false, false);
    copy_with_host(dst, staging.get(), bytes, dst_device, true, false);
  }
}

void fill_zero(void* dst, Device device, size_t bytes) {
  if (bytes == 0 || device.is_meta()) return;
  tracing::Span span;
  if (tracing::wants(tracing::kSpans | tracing::kScopes)) [[unlikely]]
    tell(span, "Memset", bytes, device, device);
  const Stream stream = current_stream(device);
  const int index = device.is_cpu() ? 0 : stream.device().index();
  backend_of(device.type()).fill_zero(dst, bytes, index, stream.id());
}

}  // namespace taeda::inline v0_2
