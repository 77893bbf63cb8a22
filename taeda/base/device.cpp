#include "taeda/base/device.h"

#include <optional>
#include <ostream>

#include "taeda/base/device_types.h"
#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

void Device::check(DeviceType type, int index) {
  device_type_info(type);  // throws if there is none
  TAEDA_CHECK(index >= -1, "Device index must be -1 or non-negative, got ", index);
  TAEDA_CHECK(index < kMaxDeviceIndex, "Device index must be below ", kMaxDeviceIndex, ", got ",
              index);
}

Device::Device(const std::string& text) {
  TAEDA_CHECK(!text.empty(), "Device string must not be empty");
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  std::string reason;
  std::optional<DeviceType> type = find_device_type(name);
  if (!type) type = detail::load_device_type(name, &reason);
  if (!type)
    throw Error(detail::concat("Expected one of ", detail::device_type_names(),
                               " device type at start of device string: ", text,
                               reason.empty() ? "" : " (", reason, reason.empty() ? "" : ")"));
  type_ = *type;
  if (colon == std::string::npos) return;
  const std::string digits = text.substr(colon + 1);
  const bool number = !digits.empty() && digits.size() <= 3 &&
                      digits.find_first_not_of("0123456789") == std::string::npos &&
                      (digits.size() == 1 || digits[0] != '0');
  TAEDA_CHECK(number && std::stoi(digits) < kMaxDeviceIndex, "Invalid device string: '", text, "'");
  *this = Device(type_, std::stoi(digits));
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

}  // namespace taeda::inline v0_2
