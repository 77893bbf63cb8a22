#include "taeda/rpc/grpc/duplex.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

grpc::ByteBuffer frame_of(const std::string& greeting) {
  const grpc::Slice slice(greeting);
  return grpc::ByteBuffer(&slice, 1);
}

std::string text_of(const grpc::ByteBuffer& frame) {
  std::vector<grpc::Slice> slices;
  std::string out;
  if (frame.Dump(&slices).ok())
    for (const grpc::Slice& s : slices)
      out.append(reinterpret_cast<const char*>(s.begin()), s.size());
  return out;
}

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
