#include "taeda/io/random_state.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "taeda/base/device_types.h"
#include "taeda/base/error.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/generator.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::io {

namespace {

std::vector<Device> all_devices() {
  std::vector<Device> out = accelerator::devices();
  out.insert(out.begin(), Device(kCPU));
  return out;
}

/// The device that a state was saved under, if it is here; looks for the plug-in of its type.
std::optional<Device> device_called(const std::string& name) {
  const std::string type = name.substr(0, name.find(':'));
  std::string ignored;
  if (!find_device_type(type) && !taeda::detail::load_device_type(type, &ignored)) return {};
  const Device device(name);
  if (device.is_cpu()) return Device(kCPU);
  return device.index() < device_count(device.type()) ? std::optional(device) : std::nullopt;
}

}  // namespace

OrderedDict<std::string, Tensor> RandomState::state_dict() const {
  OrderedDict<std::string, Tensor> out;
  for (const Device& device : all_devices()) {
    const std::vector<uint8_t> bytes = default_generator(device).get_state();
    Tensor t = empty({static_cast<int64_t>(bytes.size())}, TensorOptions(kByte).device(kCPU));
    std::memcpy(t.data_ptr(), bytes.data(), bytes.size());
    out.insert(device.str(), t);
  }
  return out;
}

void RandomState::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  TAEDA_CHECK_VALUE(state.contains("cpu"), "the random state of the CPU is missing");
  const auto bytes_of = [](const Tensor& t) {
    const auto* data = t.data_ptr<uint8_t>();
    return ArrayRef<uint8_t>(data, static_cast<size_t>(t.numel()));
  };
  std::vector<std::pair<Generator, const Tensor*>> found;
  for (const auto& [name, t] : state) {
    const std::optional<Device> device = device_called(name);
    if (!device) continue;
    TAEDA_CHECK_VALUE(t.dtype() == kByte && t.is_contiguous(), "the random state of ", *device,
                      " should be a vector of bytes");
    const Generator& generator = default_generator(*device);
    try {
      generator.clone().set_state(bytes_of(t));
    } catch (const OutOfMemoryError&) {
      throw;
    } catch (const Error& e) {
      throw ValueError(taeda::detail::concat("the random state of ", *device, ": ", e.message()));
    }
    found.emplace_back(generator, &t);
  }
  for (const auto& [generator, t] : found) generator.set_state(bytes_of(*t));
}

}  // namespace taeda::io
