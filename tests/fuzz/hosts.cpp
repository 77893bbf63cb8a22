// The file of a cluster's machines, as `taeda launch --hosts` reads it.
#include "tests/fuzz/reader.h"

#if defined(TAEDA_HAS_TOML)

#include "tools/taeda/launch/hosts.h"

namespace taeda::fuzz {

Reader fuzz_hosts() {
  return {[](std::string_view bytes) {
    const MemoryFile file(bytes);
    const tool::Cluster cluster = tool::read_cluster(file.path());
    for (const tool::Machine& machine : cluster.machines)
      tool::command_on(cluster, machine, {"launch"});
  }};
}

}  // namespace taeda::fuzz

#endif
