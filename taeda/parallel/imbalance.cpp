#include "taeda/parallel/imbalance.h"

#include <algorithm>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::nn::parallel {

std::string imbalance_warning(const std::vector<Device>& devices,
                              const std::vector<DeviceProperties>& properties) {
  const auto compare = [&](const auto& property) -> std::string {
    const auto by_property = [&](const DeviceProperties& a, const DeviceProperties& b) {
      return property(a) < property(b);
    };
    const auto least = std::min_element(properties.begin(), properties.end(), by_property);
    const auto most = std::max_element(properties.begin(), properties.end(), by_property);
    if (properties.empty() || property(*least) >= 0.75 * property(*most)) return "";
    return taeda::detail::concat(
        "There is an imbalance between your GPUs. You may want to exclude GPU ",
        devices[static_cast<size_t>(least - properties.begin())].index(),
        " which has less than 75% of the memory or cores of GPU ",
        devices[static_cast<size_t>(most - properties.begin())].index(),
        ". You can do so by setting the device_ids argument to DataParallel, or by setting the "
        "CUDA_VISIBLE_DEVICES environment variable.");
  };
  const std::string memory =
      compare([](const DeviceProperties& p) { return static_cast<double>(p.total_memory); });
  if (!memory.empty()) return memory;
  return compare(
      [](const DeviceProperties& p) { return static_cast<double>(p.multi_processor_count); });
}

}  // namespace taeda::nn::parallel
