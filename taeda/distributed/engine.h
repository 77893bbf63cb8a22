// Engines: libraries of their own, libtaeda_<name>.so, that are loaded when what they do is first
// asked for. A program that never asks pays nothing for them, and libtaeda does not link to them.
//
// Such a library links to libtaeda and defines `taeda_engine`:
//
//     const taeda::distributed::Engine taeda_engine = {.name = "grpc", .functions = &functions};
#pragma once

#include <string>

#include "taeda/device/plugin.h"

namespace taeda::inline v0_2::distributed {

inline constexpr uint64_t kEngineMagic = 0x656e696e'6c706174;

/// What an engine's library exports. The first two members stay where they are for ever: they are
/// read before anything else is believed.
struct Engine {
  uint64_t magic = kEngineMagic;
  Plugin::Abi abi = {};
  const char* name = nullptr;       ///< one of kEngineNames, as in the file's name
  const void* functions = nullptr;  ///< a table whose type the header of the feature declares
};

/// The table of functions of engine `name`, which is loaded at the first call. Throws
/// DistributedError with who needs it, why it cannot be had, and what to install: the engine's own
/// package where this library was built with it, else the `packages` that it is built from.
const void* load_engine(const std::string& name, const std::string& needed_by,
                        const std::string& packages);

/// Whether load_engine() would succeed; loads the engine.
bool has_engine(const std::string& name);

/// Why load_engine() would fail, and what to install where this library was built with that engine;
/// empty where it would succeed. Loads the engine.
std::string engine_objection(const std::string& name);

}  // namespace taeda::distributed

/// The one name that an engine exports.
extern "C" [[gnu::visibility("default")]] const taeda::distributed::Engine taeda_engine;
