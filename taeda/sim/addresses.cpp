#include "taeda/sim/addresses.h"

#include "taeda/base/error.h"
#include "taeda/sim/fault.h"

namespace taeda::inline v0_2::sim {

namespace {

[[noreturn]] void throw_bad(const AddressOf& of, const void* p, int64_t bytes,
                            const std::string& why) {
  throw Error(taeda::detail::concat("simulated device: ", of.str(), " has ", bytes, " bytes at ", p,
                                    ", ", why));
}

}  // namespace

std::string AddressOf::str() const {
  return taeda::detail::concat("argument ", argument, " (", part, " ", index, ") of kernel '",
                               kernel, "'");
}

void check_device_memory(const SimDevice& device, const AddressOf& of, const void* p,
                         int64_t bytes) {
  if (bytes == 0) return;
  if (bytes > 0 && device.memory().is_live(p, static_cast<size_t>(bytes))) [[likely]]
    return;
  const std::optional<Device> owner = device_at(p);
  throw_bad(
      of, p, bytes,
      !owner ? taeda::detail::concat("which is not memory of ", device.device())
      : *owner == device.device()
          ? taeda::detail::concat("which reach beyond a live allocation of ", *owner)
          : taeda::detail::concat("which is memory of ", *owner, ", not of ", device.device()));
}

void check_tensor(const SimDevice& device, const AddressOf& of, const Tensor& t) {
  const Layout& layout = t.layout();
  const StorageImpl& storage = *t.storage().get();
  const int64_t item = t.element_size(), bytes = layout.extent() * item;
  if (bytes == 0) return;
  const int64_t begin = layout.offset * item;
  const char* const p = static_cast<const char*>(storage.address()) + begin;
  if (t.device() != device.device())
    throw_bad(of, p, bytes,
              taeda::detail::concat("on ", t.device(), ", but runs on ", device.device()));
  if (begin < 0 || begin + bytes > static_cast<int64_t>(storage.nbytes()))
    throw_bad(of, p, bytes,
              taeda::detail::concat("which reach beyond the tensor's storage of ", storage.nbytes(),
                                    " bytes on ", device.device()));
  check_device_memory(device, of, p, bytes);
}

void check_host_memory(const AddressOf& of, const void* p) {
  if (const std::optional<Device> owner = device_at(p))
    throw Error(taeda::detail::concat("simulated device: ", of.str(), " at ", p, " is memory of ",
                                      *owner, ", not of the host"));
}

}  // namespace taeda::sim
