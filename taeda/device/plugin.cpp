#include "taeda/device/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>

#include "taeda/base/error.h"
#include "taeda/device/builtin.h"

namespace taeda::inline v0_2 {

namespace {

namespace fs = std::filesystem;

static_assert(std::string_view(kPluginAbi).starts_with("taeda " TAEDA_ABI_VERSION ","),
              "kPluginAbi must name the first two numbers of the project's version");

constexpr std::string_view kPrefix = "libtaeda_", kSuffix = ".so";

/// The plug-ins that brought types, by type. Libraries are never unloaded: their kernels stand in
/// slots, and tensors may outlive anything.
constinit std::atomic<const Plugin*> plugins[kDeviceTypes] = {};

std::recursive_mutex& loading() {
  static auto* mutex = new std::recursive_mutex;  // a library's own start-up code may name types
  return *mutex;
}

/// The file with this code, as the system has it mapped. The loader's name for it may be relative
/// to what was the working directory once, or that of a program without its folder.
fs::path own_file() {
  const auto code = reinterpret_cast<uintptr_t>(&own_file);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    int path = 0;
    const int fields = std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n",
                                   &begin, &end, &path);
    if (fields == 2 && begin <= code && code < end) return line.substr(static_cast<size_t>(path));
  }
  return {};
}

/// Types of devices that programs ask about which run anywhere: Device("mps") is a value without
/// a plug-in, too, and whatever allocates there is an error.
constexpr const char* kPyTorchTypes[] = {"hpu", "ipu", "mps", "mtia", "xla", "xpu"};

/// Where plug-ins lie: beside the library (or program) that holds this code, then in the variable's
/// folders. One that is relative would be another with every working directory, and is left out.
struct PluginFolders {
  std::vector<fs::path> all;
  std::vector<std::string> left_out;

  PluginFolders() {
    if (const fs::path file = own_file(); file.is_absolute()) all.push_back(file.parent_path());
    const char* text = secure_getenv("TAEDA_PLUGIN_PATH");
    for (std::string_view rest = text ? text : ""; !rest.empty();) {
      const size_t colon = rest.find(':');
      add(std::string(rest.substr(0, colon)));
      rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    }
  }

 private:
  void add(const std::string& folder) {
    if (fs::path(folder).is_absolute())
      all.emplace_back(folder);
    else if (!folder.empty())
      left_out.push_back(folder);
  }
};

constexpr const char* kLeftOut =
    "it is in TAEDA_PLUGIN_PATH, but is no absolute path, and plug-ins are never looked for "
    "relative to the working directory";

/// What `library` exports, if it can work with this one.
const Plugin* checked(void* library, const fs::path& file, const std::string& name,
                      std::string* reason) {
  const auto* plugin = static_cast<const Plugin*>(dlsym(library, "taeda_plugin"));
  if (!plugin) {
    *reason = file.string() + " is no plug-in of Taeda: it exports no taeda_plugin";
  } else if (plugin->magic != kPluginMagic) {
    *reason = file.string() + " is no plug-in of Taeda: its taeda_plugin begins like none";
  } else if (std::strncmp(plugin->abi.text, kPluginAbi, sizeof plugin->abi.text) != 0) {
    const std::string theirs(plugin->abi.text, strnlen(plugin->abi.text, sizeof plugin->abi.text));
    *reason = file.string() + " was built for the ABI '" + theirs + "', but this is '" +
              kPluginAbi + "': build it again";
  } else if (!plugin->start || !plugin->type.name) {
    *reason = file.string() + " is no plug-in of Taeda: its taeda_plugin lacks a name or `start`";
  } else if (plugin->type.name != name) {
    const bool taken = find_device_type(plugin->type.name).has_value();
    *reason = file.string() + " calls its type of device '" + plugin->type.name + "', " +
              (taken ? "a name that is already taken" : "unlike its file");
  } else {
    return plugin;
  }
  dlclose(library);
  return nullptr;
}

/// Finds and loads libtaeda_<name>.so; null, with the reason.
const Plugin* load_plugin(const std::string& name, std::string* reason) {
  const detail::PluginLibrary library = detail::open_plugin_library(name, reason);
  return library.handle ? checked(library.handle, library.file, name, reason) : nullptr;
}

/// Whether a library libtaeda_<name>.so could bring a type of device.
bool may_be_device_type(const std::string& name) {
  return detail::is_device_type_name(name) &&
         std::find(std::begin(kEngineNames), std::end(kEngineNames), name) ==
             std::end(kEngineNames);
}

Backend* start(const Plugin& plugin, DeviceType type, std::string* reason) {
  try {
    if (Backend* backend = plugin.start(type)) return backend;
    *reason = "its plug-in gave no backend";
  } catch (const std::exception& e) {
    *reason = "its plug-in did not start: " + std::string(e.what());
  }
  return nullptr;
}

}  // namespace

detail::PluginLibrary detail::open_plugin_library(const std::string& name, std::string* reason) {
  const std::string base = std::string(kPrefix) + name + std::string(kSuffix);
  std::string looked_in;
  const PluginFolders folders;
  for (const fs::path& folder : folders.all) {
    const fs::path file = folder / base;
    looked_in += (looked_in.empty() ? "" : ", ") + folder.string();
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return {library, file};
    *reason = file.string() + " could not be loaded: " + dlerror();
    return {};
  }
  *reason = "no plug-in " + base + " was found in " + looked_in;
  for (const std::string& folder : folders.left_out)
    *reason += "; '" + folder + "' was left out: " + kLeftOut;
  return {};
}

std::optional<DeviceType> detail::load_device_type(const std::string& name, std::string* reason) {
  if (!may_be_device_type(name)) return {};
  std::lock_guard lock(loading());
  if (const auto type = find_device_type(name)) return type;  // another thread was faster
  const Plugin* plugin = load_plugin(name, reason);
  const bool only_named = std::find(std::begin(kPyTorchTypes), std::end(kPyTorchTypes), name) !=
                          std::end(kPyTorchTypes);
  if (!plugin && !only_named) return {};
  try {
    const DeviceType type =
        register_device_type(plugin ? plugin->type : DeviceTypeInfo{name.c_str()});
    plugins[static_cast<int>(type)].store(plugin, std::memory_order_release);
    return type;
  } catch (const Error& e) {
    *reason = e.message();
    return {};
  }
}

Backend* detail::start_plugin(DeviceType type, std::string* reason) {
  const Plugin* plugin = plugins[static_cast<int>(type)].load(std::memory_order_acquire);
  if (plugin) return start(*plugin, type, reason);
  *reason = "no backend was set for this type";
  return nullptr;
}

Backend* builtin::cuda_backend(std::string* reason) {
  if (const char* text = std::getenv("TAEDA_SIM_AS_CUDA"); text && *text)
    return sim_as_cuda_backend(text);
  std::lock_guard lock(loading());
  const Plugin* plugin = load_plugin(to_string(kCUDA), reason);
  return plugin ? start(*plugin, kCUDA, reason) : nullptr;
}

std::vector<UnusablePlugin> load_plugins() {
  std::map<std::string, std::string> found;  // by name, so that the order is nobody's accident
  const PluginFolders folders;
  for (const fs::path& folder : folders.all) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (file.size() <= kPrefix.size() + kSuffix.size() || !file.starts_with(kPrefix) ||
          !file.ends_with(kSuffix))
        continue;
      found[file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size())] = "";
    }
  }
  std::vector<UnusablePlugin> out;
  for (const std::string& folder : folders.left_out) out.push_back({folder, kLeftOut});
  for (auto& [name, reason] : found)
    if (may_be_device_type(name) && !find_device_type(name) &&
        !detail::load_device_type(name, &reason))
      out.push_back({name, reason});
  return out;
}

}  // namespace taeda::inline v0_2
