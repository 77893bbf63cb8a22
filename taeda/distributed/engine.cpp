#include "taeda/distributed/engine.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// Why `library` cannot be used as engine `name`; empty if it can.
std::string objection(const Engine* engine, const std::string& file, const std::string& name) {
  if (!engine) return file + " is no engine of Taeda: it exports no taeda_engine";
  if (engine->magic != kEngineMagic)
    return file + " is no engine of Taeda: its taeda_engine begins like none";
  if (std::strncmp(engine->abi.text, kPluginAbi, sizeof engine->abi.text) != 0) {
    const std::string theirs(engine->abi.text, strnlen(engine->abi.text, sizeof engine->abi.text));
    return file + " was built for the ABI '" + theirs + "', but this is '" + kPluginAbi +
           "': build it again";
  }
  if (!engine->name || engine->name != name || !engine->functions)
    return file + " is no engine of Taeda that is called '" + name + "'";
  return {};
}

const Engine* open_engine(const std::string& name, std::string* reason) {
  const taeda::detail::PluginLibrary library = taeda::detail::open_plugin_library(name, reason);
  if (!library.handle) return nullptr;
  const auto* engine = static_cast<const Engine*>(dlsym(library.handle, "taeda_engine"));
  *reason = objection(engine, library.file, name);
  if (reason->empty()) return engine;
  dlclose(library.handle);
  return nullptr;
}

/// The engine, loaded once. A failure is not remembered: the search path may change.
const Engine* find_engine(const std::string& name, std::string* reason) {
  static std::mutex mutex;
  static auto* loaded = new std::map<std::string, const Engine*>;  // never unloaded
  std::lock_guard lock(mutex);
  if (const auto it = loaded->find(name); it != loaded->end()) return it->second;
  const Engine* engine = open_engine(name, reason);
  if (engine) loaded->emplace(name, engine);
  return engine;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Whether this library was built with the engine. Packages have engines of their own, which may be
/// left out where the library is installed.
bool is_built(const std::string& name) {
  constexpr std::string_view kBuilt = " " TAEDA_ENGINES " ";
  return kBuilt.find(" " + name + " ") != std::string_view::npos;
}

/// How an engine is had that this library was built with.
std::string cure(const std::string& name) {
  const std::string part = name == "mpi" ? "mpi" : name == "nccl" ? "cuda" : "distributed";
  return "This Taeda was built with it: install its package "
         "(`apt install libtaeda" TAEDA_ABI_VERSION "-" +
         part + "`), or put libtaeda_" + name + ".so beside libtaeda";
}

}  // namespace

const void* load_engine(const std::string& name, const std::string& needed_by,
                        const std::string& packages) {
  std::string reason;
  const Engine* engine = find_engine(name, &reason);
  TAEDA_CHECK_AS(DistributedError, engine, needed_by, " needs the engine '", name, "': ", reason,
                 ". ",
                 is_built(name) ? cure(name)
                                : "Install " + packages + " and build Taeda with TAEDA_" +
                                      upper(name) + "=ON");
  return engine->functions;
}

std::string engine_objection(const std::string& name) {
  std::string reason;
  if (find_engine(name, &reason)) return {};
  return is_built(name) ? reason + ". " + cure(name) : reason;
}

bool has_engine(const std::string& name) {
  std::string ignored;
  return find_engine(name, &ignored) != nullptr;
}

}  // namespace taeda::distributed
