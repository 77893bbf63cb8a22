// The store that whoever starts the processes of a job serves to them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed::cluster {

/// Tells a process that a store is served at this endpoint already: "127.0.0.1:41234".
inline constexpr const char* kAgentStore = "TAEDA_AGENT_STORE";
/// How often the program was started again; each start has keys of its own.
inline constexpr const char* kRestartCount = "TORCHELASTIC_RESTART_COUNT";

/// Whether the environment says that a store is served at `host` and `port`.
bool agent_serves(const std::string& host, uint16_t port);

/// Before this process serves a store to others of its machine and asks it itself: throws
/// DistributedError, saying why, where it cannot reach its own address for `host`.
void check_own_address(const std::string& host);

/// The part of the agent's store that this start of the program uses.
StorePtr part_of_this_start(StorePtr store);

/// Variables, as ChildOptions takes them.
using Variables = std::map<std::string, std::optional<std::string>>;

/// What tells a process which one of its job it is.
Variables place_variables(int64_t rank, int64_t world_size, int64_t local_rank,
                          int64_t local_world_size);
/// What tells a process where its store is served.
Variables store_variables(const std::string& host, uint16_t port, int64_t restarts);

}  // namespace taeda::inline v0_2::distributed::cluster
