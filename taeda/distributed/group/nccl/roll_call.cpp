#include "taeda/distributed/group/nccl/roll_call.h"

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::distributed::nccl {

namespace {

Tensor pinned(int64_t count, DeviceType type) {
  Storage storage = Storage::allocate_pinned(type, static_cast<size_t>(count) * RollCall::kBytes);
  const int64_t sizes[] = {count};
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Layout::contiguous(sizes), kLong));
}

}  // namespace

RollCall::RollCall(uint64_t id, int ranks, Device device)
    : device_(make_tensor({ranks + 1}, kLong, device)), host_(pinned(ranks + 1, device.type())) {
  host_.data_ptr<int64_t>()[0] = static_cast<int64_t>(id);
  backend_of(device.type())
      .copy(own(), device.index(), host_.data_ptr(), -1, kBytes, device.index(),
            current_stream(device).id());
}

void RollCall::fetch() const {
  if (host_.numel() == 1) return;
  const Device device = device_.device();
  char* const to = static_cast<char*>(host_.data_ptr()) + kBytes;
  backend_of(device.type())
      .copy(to, -1, all(), device.index(), static_cast<size_t>(host_.numel() - 1) * kBytes,
            device.index(), current_stream(device).id());
  host_.storage()->add_copy(current_stream(device), true);
}

void RollCall::compare() const {
  const auto* ids = static_cast<const int64_t*>(host_.data_ptr());
  for (int64_t i = 1; i < host_.numel(); ++i)
    if (ids[i] != ids[0])
      throw CommunicatorError(
          "nccl: ranks that had called different things have met, and what they got means nothing",
          -1);
}

}  // namespace taeda::inline v0_2::distributed::nccl
