#include "taeda/base/device.h"

#include <ostream>

#include "taeda/base/error.h"

namespace taeda {

const char* to_string(DeviceType type) {
  switch (type) {
    case kCPU: return "cpu";
    case kCUDA: return "cuda";
    case kSim: return "sim";
  }
  return "unknown";
}

Device::Device(const std::string& text) {
  TAEDA_CHECK(!text.empty(), "Device string must not be empty");
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (name == "cpu")
    type_ = kCPU;
  else if (name == "cuda")
    type_ = kCUDA;
  else if (name == "sim")
    type_ = kSim;
  else
    throw Error(detail::concat(
        "Expected one of cpu, cuda, sim device type at start of device string: ", text));
  if (colon == std::string::npos) return;
  const std::string digits = text.substr(colon + 1);
  const bool number = !digits.empty() && digits.size() <= 3 &&
                      digits.find_first_not_of("0123456789") == std::string::npos &&
                      (digits.size() == 1 || digits[0] != '0');
  TAEDA_CHECK(number && std::stoi(digits) < 128, "Invalid device string: '", text, "'");
  index_ = static_cast<int8_t>(std::stoi(digits));
  TAEDA_CHECK(type_ != kCPU || index_ == 0, "CPU device index must be -1 or zero, got ",
              int{index_});
}

int Device::accelerator_index(int64_t index) {
  TAEDA_CHECK(index >= 0, "Device index must not be negative");
  TAEDA_CHECK(index < 128, "Device index must be less than 128, got ", index);
  return static_cast<int>(index);
}

std::string Device::str() const {
  return has_index() ? detail::concat(to_string(type_), ":", index())
                     : std::string(to_string(type_));
}

std::string Device::repr() const {
  return has_index() ? detail::concat("device(type='", to_string(type_), "', index=", index(), ")")
                     : detail::concat("device(type='", to_string(type_), "')");
}

std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

}  // namespace taeda
