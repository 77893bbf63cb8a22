// `taeda info`: what a report of a fault should tell about the machine and the build.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/capability.h"
#include "taeda/device/cuda.h"
#include "taeda/device/plugin.h"
#include "taeda/distributed/engine.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"

extern char** environ;

namespace taeda::tool {

namespace {

/// The value of the first line "<key> : value" in a file of /proc or /etc; empty without one.
std::string value_in(const std::string& path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find(separator);
    if (!line.starts_with(key) || at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    return value;
  }
  return "";
}

/// Those instruction sets of this CPU that kernels care about.
std::string cpu_features() {
  std::istringstream flags(value_in("/proc/cpuinfo", "flags", ':'));
  std::string out;
  for (std::string flag; flags >> flag;)
    for (const char* known :
         {"sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512_vnni",
          "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8"})
      if (flag == known) out += (out.empty() ? "" : " ") + flag;
  return out;
}

/// Why a component that was built cannot be had here; empty where it can. Those that are libraries
/// of their own may not be installed.
std::string lack_of(std::string component) {
  for (char& c : component) c = static_cast<char>(std::tolower(c));
  if (component == "cuda") {
    std::string reason;
    return taeda::detail::open_plugin_library(component, &reason).handle ? "" : reason;
  }
  const bool is_engine = std::find(std::begin(kEngineNames), std::end(kEngineNames), component) !=
                         std::end(kEngineNames);
  return is_engine ? distributed::engine_objection(component) : "";
}

Json components() {
  Json out = Json::object();
  std::istringstream list(TAEDA_COMPONENTS);
  for (std::string line; std::getline(list, line, '|');) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon), built = line.substr(colon + 2);
    const std::string lack = built.starts_with("yes") ? lack_of(name) : "";
    out.set(name, lack.empty() ? built : "built, but not to be had here: " + lack);
  }
  return out;
}

/// Variables that change what Taeda or the libraries below it do.
Json environment() {
  std::vector<std::string> found;
  for (char** e = environ; *e; ++e)
    for (const char* prefix : {"TAEDA_", "OMP_", "GOMP_", "KMP_", "DNNL_", "ONEDNN_", "CUDA_",
                               "NVIDIA_", "NCCL_", "LD_LIBRARY_PATH=", "LD_PRELOAD="})
      if (std::string_view(*e).starts_with(prefix)) found.emplace_back(*e);
  std::sort(found.begin(), found.end());
  Json out = Json::object();
  for (const std::string& text : found) {
    const size_t at = text.find('=');
    out.set(text.substr(0, at), text.substr(at + 1));
  }
  return out;
}

Json devices() {
  Json out = Json::object();
  for (const Device& d : accelerators())
    out.set(d.str(), accelerator::get_device_properties(d.type(), d.index()).name);
  for (const MissingType& m : missing_accelerators()) out.set(m.name, "none: " + m.reason);
  return out;
}

Json collect() {
  utsname os{};
  ::uname(&os);
  const std::string distribution = value_in("/etc/os-release", "PRETTY_NAME", '=');
  return {
      {"taeda", TAEDA_VERSION},
      {"build", TAEDA_BUILD_TYPE},
      {"compiler", __VERSION__},
      {"system", distribution + (distribution.empty() ? "" : ", ") + os.sysname + " " + os.release +
                     " " + os.machine},
      {"cpu", value_in("/proc/cpuinfo", "model name", ':')},
      {"cpu features", cpu_features()},
      {"cpu kernels",
       std::string(cpu::name(cpu::cpu_capability())) + " (the best for this machine and build: " +
           cpu::name(cpu::best_capability(cpu::built_capabilities(), cpu::machine_capability())) +
           ")"},
      {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
      {"threads", get_num_threads()},
      {"memory", bytes_text(static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                            static_cast<double>(::sysconf(_SC_PAGESIZE)))},
      {"components", components()},
      {"devices", devices()},
      {"environment", environment()},
  };
}

int run_info(bool json) {
  const Json info = collect();
  if (json) {
    print_json(info);
    return 0;
  }
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  for (const auto& [name, value] : info.members()) {
    if (!value.is_object()) {
      std::printf("%-14s%s\n", (name + ":").c_str(), text(value).c_str());
      continue;
    }
    std::printf("%s:%s\n", name.c_str(), value.empty() ? " none" : "");
    for (const auto& [key, inner] : value.members())
      std::printf("  %-14s%s\n", key.c_str(), text(inner).c_str());
  }
  return 0;
}

}  // namespace

void add_info(const Command& app) {
  const Command c = app.add_command("info", "Describe the build and the machine, for reports",
                                    {"taeda info", "taeda info --json"});
  auto json = std::make_shared<bool>(false);
  c.add_flag("--json", *json, "Print JSON");
  c.on_call([json] { return run_info(*json); });
}

}  // namespace taeda::tool
