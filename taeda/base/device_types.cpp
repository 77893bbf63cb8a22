#include "taeda/base/device_types.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace {

constexpr DeviceTypeInfo kBuiltIn[] = {{"cpu", "CPU", kBFloat16, 0},
                                       {"cuda", "CUDA", kHalf, 10},
                                       {"sim", "Sim", kHalf, 0},
                                       {"meta", "Meta", kHalf, 0}};
constexpr int kBuiltInTypes = 4;

/// Entries never change once they are there, and the number of types is raised after the entry is
/// written: readers take no lock, so that a signal handler may ask for a name.
constinit std::atomic<const DeviceTypeInfo*> table[kDeviceTypes] = {&kBuiltIn[0], &kBuiltIn[1],
                                                                    &kBuiltIn[2], &kBuiltIn[3]};
constinit std::atomic<int> known{kBuiltInTypes};

const DeviceTypeInfo* entry(DeviceType type) {
  const int t = static_cast<int>(type);
  return t >= 0 && t < kDeviceTypes ? table[t].load(std::memory_order_acquire) : nullptr;
}

/// A copy that outlives its source: whoever registers may be unloaded before a tensor is printed.
const char* copied(const char* text) {
  const size_t bytes = std::strlen(text) + 1;
  return static_cast<const char*>(std::memcpy(new char[bytes], text, bytes));
}

}  // namespace

const char* to_string(DeviceType type) {
  const DeviceTypeInfo* info = entry(type);
  return info ? info->name : "unknown";
}

bool detail::is_device_type_name(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto rest = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= 32 && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), rest);
}

DeviceType register_device_type(const DeviceTypeInfo& info) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  TAEDA_CHECK_VALUE(info.name && detail::is_device_type_name(info.name),
                    "register_device_type: expected a name of at most 32 small letters, digits and "
                    "_ that begins with a letter, got '",
                    info.name ? info.name : "", "'");
  TAEDA_CHECK_VALUE(!find_device_type(info.name), "register_device_type: the name '", info.name,
                    "' is already taken");
  TAEDA_CHECK_VALUE(is_reduced_floating(info.lower_precision), "register_device_type: expected ",
                    "Half or BFloat16 as the lower precision of '", info.name, "', got ",
                    to_string(info.lower_precision));
  const int t = known.load(std::memory_order_relaxed);
  TAEDA_CHECK_VALUE(t < kDeviceTypes, "register_device_type: there is no room for '", info.name,
                    "' beside ", detail::device_type_names());
  auto* kept = new DeviceTypeInfo(info);
  kept->name = copied(info.name);
  kept->title = copied(info.title ? info.title : info.name);
  table[t].store(kept, std::memory_order_release);
  known.store(t + 1, std::memory_order_release);
  return static_cast<DeviceType>(t);
}

const DeviceTypeInfo& device_type_info(DeviceType type) {
  const DeviceTypeInfo* info = entry(type);
  TAEDA_CHECK(info, "no device type has the number ", static_cast<int>(type));
  return *info;
}

SmallVector<DeviceType, kDeviceTypes> device_types() {
  SmallVector<DeviceType, kDeviceTypes> out;
  const int n = known.load(std::memory_order_acquire);
  for (int t = 0; t < n; ++t) out.push_back(static_cast<DeviceType>(t));
  return out;
}

std::optional<DeviceType> find_device_type(std::string_view name) {
  for (const DeviceType type : device_types())
    if (name == to_string(type)) return type;
  return {};
}

std::string detail::device_type_names() {
  std::string out;
  for (const DeviceType type : device_types())
    out += (out.empty() ? "" : ", ") + std::string(to_string(type));
  return out;
}

}  // namespace taeda::inline v0_2
