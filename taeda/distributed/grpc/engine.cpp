// What libtaeda_grpc.so exports.

#include "taeda/distributed/engine.h"

#include <openssl/crypto.h>

#include "taeda/distributed/grpc_engine.h"
#include "taeda/distributed/store/grpc/client.h"
#include "taeda/rpc/grpc/wire.h"

namespace {

/// Threads of gRPC, and those that a failed group left waiting for the store, go on until the
/// process has ended. OpenSSL must not free its tables under them when it begins to; this comes
/// before anything else uses OpenSSL, or has no effect.
[[maybe_unused]] const int openssl_stays = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);

std::unique_ptr<taeda::distributed::detail::TcpStoreClient> open_store(
    const std::string& host, const taeda::distributed::TCPStoreOptions& options) {
  return std::make_unique<taeda::distributed::grpc_store::Client>(host, options);
}

std::unique_ptr<taeda::distributed::rpc::Transport> open_rpc(
    taeda::distributed::rpc::Transport::Options options) {
  return std::make_unique<taeda::distributed::grpc_rpc::Wire>(std::move(options));
}

constexpr taeda::distributed::GrpcEngine functions = {.open_store = open_store,
                                                      .open_rpc = open_rpc};

}  // namespace

const taeda::distributed::Engine taeda_engine = {.name = "grpc", .functions = &functions};
