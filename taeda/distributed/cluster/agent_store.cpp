#include "taeda/distributed/cluster/agent_store.h"

#include <cstdlib>

#include "taeda/base/error.h"
#include "taeda/distributed/network.h"
#include "taeda/distributed/store/prefix_store.h"

namespace taeda::inline v0_2::distributed::cluster {

bool agent_serves(const std::string& host, uint16_t port) {
  const char* served = std::getenv(kAgentStore);
  return served && served == endpoint(host, port);
}

void check_own_address(const std::string& host) {
  const std::string address = listen_address(host), objection = self_objection(address);
  TAEDA_CHECK_AS(DistributedError, objection.empty(), "this machine cannot reach its own address ",
                 address, " (", objection, ")",
                 is_loopback(address) ? ": its loopback interface is down; `ip link set lo up`, as "
                                        "root, brings it up"
                                      : "");
}

StorePtr part_of_this_start(StorePtr store) {
  const char* restarts = std::getenv(kRestartCount);
  return std::make_shared<PrefixStore>(
      "start " + std::string(restarts && *restarts ? restarts : "0"), std::move(store));
}

Variables place_variables(int64_t rank, int64_t world_size, int64_t local_rank,
                          int64_t local_world_size) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(world_size)},
          {"LOCAL_RANK", std::to_string(local_rank)},
          {"LOCAL_WORLD_SIZE", std::to_string(local_world_size)}};
}

Variables store_variables(const std::string& host, uint16_t port, int64_t restarts) {
  return {{"MASTER_ADDR", host},
          {"MASTER_PORT", std::to_string(port)},
          {kAgentStore, endpoint(host, port)},
          {kRestartCount, std::to_string(restarts)}};
}

}  // namespace taeda::inline v0_2::distributed::cluster
