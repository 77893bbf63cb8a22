#include "taeda/distributed/grpc_engine.h"

#include "taeda/distributed/engine.h"

namespace taeda::inline v0_2::distributed {

const GrpcEngine& grpc_engine(const std::string& needed_by) {
  return *static_cast<const GrpcEngine*>(
      load_engine("grpc", needed_by,
                  "the Debian packages libgrpc++-dev, protobuf-compiler-grpc, libprotobuf-dev, "
                  "protobuf-compiler and libssl-dev"));
}

}  // namespace taeda::distributed
