// Device types in libraries of their own. `libtaeda_<name>.so` is looked for when a program first
// says <name>: beside libtaeda, then in the absolute folders of TAEDA_PLUGIN_PATH (with colons
// between; not read by programs with raised privileges). examples/device_plugin is one.
//
// Such a library links to libtaeda and defines `taeda_plugin`:
//
//     const taeda::Plugin taeda_plugin = {.type = {.name = "toy"}, .start = start_toy};
#pragma once

#include <string>
#include <vector>

#include "taeda/base/device_types.h"
#include "taeda/device/backend.h"

namespace taeda::inline v0_2 {

/// The first word of every plug-in, which tells it from other libraries.
inline constexpr uint64_t kPluginMagic = 0x6e696775'6c706174;

/// What a plug-in and the library must have in common: layouts of classes and slots (the version up
/// to its second number) and those of the standard library.
inline constexpr const char kPluginAbi[] =
#if defined(_LIBCPP_VERSION)
    "taeda 0.2, libc++";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
    "taeda 0.2, libstdc++ with C++11 strings";
#else
    "taeda 0.2, libstdc++ with old strings";
#endif

/// What a plug-in exports. The first two members stay where they are for ever: they are read before
/// anything else is believed.
/// One of another ABI is refused.
struct Plugin {
  struct Abi {
    char text[64] = {};
    constexpr Abi() {
      for (size_t i = 0; i < sizeof kPluginAbi; ++i) text[i] = kPluginAbi[i];
    }
  };

  uint64_t magic = kPluginMagic;
  Abi abi = {};
  DeviceTypeInfo type;
  /// Called once, when a device of the type is first asked for: fills the kernel slots of `type`
  /// and returns its backend. Never null: a backend without devices says why it has none. What it
  /// throws becomes the reason for which there are none.
  Backend* (*start)(DeviceType type) = nullptr;
};

/// Plug-ins that bring no type of device: engines that other rooms load by these names.
inline constexpr const char* kEngineNames[] = {"gloo", "grpc", "mpi", "nccl", "rpc"};

/// A library that lies where plug-ins are looked for and cannot be used.
struct UnusablePlugin {
  std::string name, reason;
};

/// Loads all plug-ins that are found, so that their types are known though nobody has named them.
std::vector<UnusablePlugin> load_plugins();

namespace detail {

struct PluginLibrary {
  void* handle = nullptr;
  std::string file;
};

/// Loads libtaeda_<name>.so from where plug-ins lie, whatever it exports; without a handle, and
/// with the reason, when there is none or it does not load.
PluginLibrary open_plugin_library(const std::string& name, std::string* reason);

/// The backend of a type that a plug-in brought; null, with the reason, when it does not start.
Backend* start_plugin(DeviceType type, std::string* reason);

}  // namespace detail

}  // namespace taeda

/// The one name that a plug-in exports.
extern "C" [[gnu::visibility("default")]] const taeda::Plugin taeda_plugin;
