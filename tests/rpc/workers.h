// Workers of a test: threads of this process, over gRPC or without a network.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "taeda/rpc/agent.h"

namespace taeda::distributed::rpc {

/// How the workers of a test reach each other. ThreadSanitizer sees the first alone.
enum class Net : uint8_t { Memory, Grpc };
std::ostream& operator<<(std::ostream& out, Net net);

/// Why workers cannot use a net; empty if they can.
std::string missing(Net net);

/// Messages that are handed over in memory, by any number of workers of one job.
TransportFactory memory_net();

/// Calls f(rank) on a thread for each of `size` workers "worker0", "worker1", ..., who then shut
/// down gracefully; rethrows the first error.
void run_workers(Net net, int64_t size, const std::function<void(int64_t)>& f,
                 const std::function<RpcBackendOptions(int64_t)>& options = {});

}  // namespace taeda::distributed::rpc
