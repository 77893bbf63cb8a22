#include "taeda/device/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::detail {

namespace {

/// A whole text as a number; nothing for other texts, such as "max".
std::optional<size_t> number(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

void take_smaller(std::optional<size_t>& limit, const std::string& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return;
  if (const auto found = number(word)) limit = std::min(limit.value_or(*found), *found);
}

/// A hierarchy of control groups: where it is mounted, which group lies there, and ours.
struct Hierarchy {
  std::string mount, mounted_group, group;
};

/// Our group in the hierarchy that a line of /proc/self/cgroup is about: "0::/a/b" of version 2,
/// "4:memory:/a/b" of version 1.
std::optional<std::string> group_in(const std::string& line, bool second_version) {
  const size_t first = line.find(':'), second = line.find(':', first + 1);
  if (second == std::string::npos) return {};
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const bool about_memory = second_version
                                ? controllers.empty()
                                : ("," + controllers + ",").find(",memory,") != std::string::npos;
  return about_memory ? std::optional(line.substr(second + 1)) : std::nullopt;
}

/// The hierarchy that a line of /proc/self/mountinfo mounts, if it is the one asked for:
/// "31 23 0:26 /root /sys/fs/cgroup rw ... - cgroup2 cgroup2 rw", the last word being options.
std::optional<Hierarchy> mounted_by(const std::string& line, bool second_version) {
  const size_t dash = line.find(" - ");
  if (dash == std::string::npos) return {};
  std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
  std::string id, parent, device, root, mount, type, source, options;
  before >> id >> parent >> device >> root >> mount;
  after >> type >> source >> options;
  const bool wanted = second_version ? type == "cgroup2"
                                     : type == "cgroup" && ("," + options + ",").find(",memory,") !=
                                                               std::string::npos;
  return wanted ? std::optional(Hierarchy{mount, root, ""}) : std::nullopt;
}

std::optional<Hierarchy> find_hierarchy(const std::string& root, bool second_version) {
  std::optional<Hierarchy> out;
  std::ifstream mounts(root + "/proc/self/mountinfo"), groups(root + "/proc/self/cgroup");
  for (std::string line; !out && std::getline(mounts, line);)
    out = mounted_by(line, second_version);
  if (!out) return {};
  for (std::string line; std::getline(groups, line);)
    if (const auto group = group_in(line, second_version)) {
      out->group = *group;
      return out;
    }
  return {};
}

/// The limits of a group and of all around it that can be seen.
void take_limits(const Hierarchy& h, const std::string& root, bool second_version,
                 std::optional<size_t>& limit) {
  // In a container the mount shows a group in the middle, and ours may be named from the outside or
  // be out of sight: then what is mounted is the nearest that can be read.
  std::string inner = h.group;
  if (h.mounted_group != "/")
    inner = inner.starts_with(h.mounted_group) ? inner.substr(h.mounted_group.size()) : "";
  if (inner.starts_with("/..")) inner = "";
  while (true) {
    const std::string folder = root + h.mount + (inner == "/" ? "" : inner) + "/";
    if (second_version) {
      take_smaller(limit, folder + "memory.max");
      take_smaller(limit, folder + "memory.high");  // beyond it a process is slowed down
    } else {
      take_smaller(limit, folder + "memory.limit_in_bytes");
    }
    const size_t slash = inner.rfind('/');
    if (slash == std::string::npos) return;
    inner.resize(slash);
  }
}

}  // namespace

size_t machine_memory() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

std::optional<size_t> cgroup_memory_limit(const std::string& root) {
  std::optional<size_t> limit;
  for (const bool second_version : {false, true})  // systems may have both
    if (const auto h = find_hierarchy(root, second_version))
      take_limits(*h, root, second_version, limit);
  return limit;
}

HostMemory HostMemory::of_this_process() {
  return {machine_memory(), cgroup_memory_limit(), std::getenv("TAEDA_CPU_CACHE_BYTES"),
          std::getenv("LOCAL_WORLD_SIZE")};
}

size_t host_cache_limit(const HostMemory& memory) {
  if (memory.cache_bytes && *memory.cache_bytes) {
    const auto bytes = number(memory.cache_bytes);
    TAEDA_CHECK_VALUE(bytes, "TAEDA_CPU_CACHE_BYTES: expected a number of bytes, got '",
                      memory.cache_bytes, "'");
    return *bytes;
  }
  const size_t ours = std::min(memory.machine, memory.group.value_or(memory.machine));
  const size_t processes =
      number(memory.local_world_size ? memory.local_world_size : "").value_or(1);
  return ours / 4 / std::max<size_t>(processes, 1);
}

}  // namespace taeda::detail
