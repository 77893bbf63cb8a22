// Finding the CUDA backend: simulated devices under its name, or the plug-in library.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "taeda/device/builtin.h"

namespace taeda::builtin {

namespace {

constexpr const char* kPluginFile = "libtaeda_cuda.so";
constexpr const char* kEntryPoint = "taeda_plugin_backend";

/// The folder of the library (or program) that holds this function.
std::filesystem::path own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace

Backend* cuda_backend(std::string* reason) {
  if (const char* text = std::getenv("TAEDA_SIM_AS_CUDA"); text && *text)
    return sim_as_cuda_backend(text, reason);
  const std::filesystem::path file = own_folder() / kPluginFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    *reason =
        "no CUDA plug-in (" + std::string(kPluginFile) + ") was found beside the taeda library";
    return nullptr;
  }
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    *reason = "the CUDA plug-in could not be loaded: " + std::string(dlerror());
    return nullptr;
  }
  // The plug-in fills its kernel slots in here, and gives a backend even where there is no driver:
  // that backend has no devices and says why.
  using Entry = Backend* (*)();
  auto entry = reinterpret_cast<Entry>(dlsym(library, kEntryPoint));
  if (!entry) {
    *reason = "the CUDA plug-in lacks its entry point: " + std::string(dlerror());
    return nullptr;
  }
  return entry();
}

}  // namespace taeda::builtin
