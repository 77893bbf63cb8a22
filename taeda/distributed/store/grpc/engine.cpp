// What libtaeda_grpc.so exports.

#include "taeda/distributed/engine.h"

#include "taeda/distributed/grpc_engine.h"
#include "taeda/distributed/store/grpc/client.h"

namespace {

std::unique_ptr<taeda::distributed::detail::TcpStoreClient> open_store(
    const std::string& host, const taeda::distributed::TCPStoreOptions& options) {
  return std::make_unique<taeda::distributed::grpc_store::Client>(host, options);
}

constexpr taeda::distributed::GrpcEngine functions = {.open_store = open_store};

}  // namespace

const taeda::distributed::Engine taeda_engine = {.name = "grpc", .functions = &functions};
