#include "taeda/io/random_state.h"

#include <cstring>
#include <utility>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create.h"

namespace taeda::io {

namespace {

std::vector<Device> all_devices() {
  std::vector<Device> out = {Device(kCPU)};
  for (DeviceType type : {kCUDA, kSim})
    for (int i = 0; i < device_count(type); ++i) out.emplace_back(type, i);
  return out;
}

}  // namespace

OrderedDict<std::string, Tensor> RandomState::state_dict() const {
  OrderedDict<std::string, Tensor> out;
  for (const Device& device : all_devices()) {
    const std::vector<uint8_t> bytes = default_generator(device).get_state();
    Tensor t = empty({static_cast<int64_t>(bytes.size())}, kByte);
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
  for (const Device& device : all_devices()) {
    const Tensor* t = state.find(device.str());
    if (!t) continue;
    TAEDA_CHECK_VALUE(t->dtype() == kByte && t->is_contiguous(), "the random state of ", device,
                      " should be a vector of bytes");
    const Generator& generator = default_generator(device);
    try {
      generator.clone().set_state(bytes_of(*t));
    } catch (const Error& e) {
      throw ValueError(taeda::detail::concat("the random state of ", device, ": ", e.message()));
    }
    found.emplace_back(generator, t);
  }
  for (const auto& [generator, t] : found) generator.set_state(bytes_of(*t));
}

}  // namespace taeda::io
