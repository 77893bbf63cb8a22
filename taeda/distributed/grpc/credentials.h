// Mutual TLS for both sides, or none.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "taeda/distributed/security.h"

namespace taeda::inline v0_2::distributed::grpc_link {

/// Throws DistributedError naming a file that cannot be read.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const Security& security);
std::shared_ptr<grpc::ChannelCredentials> client_credentials(const Security& security);

}  // namespace taeda::inline v0_2::distributed::grpc_link
