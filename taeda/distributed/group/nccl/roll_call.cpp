#include "taeda/distributed/group/nccl/roll_call.h"

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create.h"

namespace taeda::inline v0_2::distributed::nccl {

namespace {

Tensor pinned(int64_t count, DeviceType type) {
  Storage storage = Storage::allocate_pinned(type, static_cast<size_t>(count) * sizeof(int32_t));
  const int64_t sizes[] = {count};
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Layout::contiguous(sizes), kInt));
}

}  // namespace

RollCall::RollCall(uint32_t tag, int ranks, Device device)
    : device_(make_tensor({ranks + 1}, kInt, device)), host_(pinned(ranks + 1, device.type())) {
  host_.data_ptr<int32_t>()[0] = static_cast<int32_t>(tag);
  backend_of(device.type())
      .copy(own(), device.index(), host_.data_ptr(), -1, sizeof tag, device.index(),
            current_stream(device).id());
}

void RollCall::fetch() const {
  if (host_.numel() == 1) return;
  const Device device = device_.device();
  char* const to = static_cast<char*>(host_.data_ptr()) + sizeof(uint32_t);
  backend_of(device.type())
      .copy(to, -1, all(), device.index(), static_cast<size_t>(host_.numel() - 1) * sizeof(int32_t),
            device.index(), current_stream(device).id());
  host_.storage()->add_copy(current_stream(device), true);
}

void RollCall::compare() const {
  const auto* tags = static_cast<const int32_t*>(host_.data_ptr());
  for (int64_t i = 1; i < host_.numel(); ++i)
    if (tags[i] != tags[0])
      throw CommunicatorError(
          "nccl: ranks that had called different things have met, and what they got means nothing",
          -1);
}

}  // namespace taeda::inline v0_2::distributed::nccl
