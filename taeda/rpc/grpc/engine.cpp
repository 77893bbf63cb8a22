// What libtaeda_rpc.so exports.

#include "taeda/distributed/engine.h"

#include <utility>

#include "taeda/rpc/grpc/wire.h"

namespace {

namespace rpc = taeda::distributed::rpc;

std::unique_ptr<rpc::Transport> open(rpc::Transport::Options options) {
  return std::make_unique<taeda::distributed::grpc_rpc::Wire>(std::move(options));
}

constexpr rpc::TransportEngine transport = {.open = open};

}  // namespace

const taeda::distributed::Engine taeda_engine = {.name = "rpc", .functions = &transport};
