// How much of the machine's memory a process may have, and how much of that the host's cache keeps.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace taeda::inline v0_2::detail {

/// Bytes of the machine.
size_t machine_memory();

/// The smallest limit, in bytes, among the control groups (cgroups v1 and v2) that hold this
/// process and those that hold them; nothing where none is set. `root` is put before every path
/// that is read.
std::optional<size_t> cgroup_memory_limit(const std::string& root = "");

/// What decides about the cache; texts of environment variables are null where they are not set.
struct HostMemory {
  size_t machine = 0;
  std::optional<size_t> group = {};
  const char* cache_bytes = nullptr;       ///< TAEDA_CPU_CACHE_BYTES
  const char* local_world_size = nullptr;  ///< LOCAL_WORLD_SIZE, by launchers: processes of the job
                                           ///< on this machine

  static HostMemory of_this_process();
};

/// Bytes of freed host memory that may be kept: TAEDA_CPU_CACHE_BYTES, or else a quarter of the
/// smaller of machine and group, shared evenly among the processes of a job. Throws ValueError for
/// a variable that is no number of bytes.
size_t host_cache_limit(const HostMemory& memory);

}  // namespace taeda::detail
