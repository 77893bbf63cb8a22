// What the engine `rpc` gets from the network.
#if defined(TAEDA_HAS_GRPC)

#include "taeda/rpc/grpc/frames.h"

#include <algorithm>

#include "tests/fuzz/reader.h"
#include "tests/fuzz/values.h"

namespace taeda::fuzz {
namespace {

using namespace distributed;

/// Frames of one stream, and the values of each message that is complete.
void read_frames(std::string_view bytes) {
  grpc_rpc::Incoming incoming;
  for (const std::string_view frame : messages_in(bytes)) {
    const size_t half = frame.size() / 2;  // in two pieces of memory, as gRPC may have it
    const grpc::Slice slices[] = {grpc::Slice(frame.data(), half),
                                  grpc::Slice(frame.data() + half, frame.size() - half)};
    grpc_rpc::Incoming::Message message;
    if (incoming.take(grpc::ByteBuffer(slices, 2), &message)) read_values(message.packet);
  }
}

/// Each first frame of a message says how long a message is that ends with it.
std::string repaired_frames(std::string bytes) {
  constexpr size_t kLength = 2, kHead = kLength + 9, kBodies = kHead + 8, kSizes = kBodies + 4;
  for (size_t at = 0; bytes.size() - at >= kSizes;) {
    const size_t end = std::min<size_t>(bytes.size(), at + kLength + little_at(bytes, at, 2));
    const size_t bodies = little_at(bytes, at + kBodies, 4) % 3;
    if (bytes[at + kLength] == 1 && end - at >= kSizes + 8 * bodies) {
      size_t left = end - at - kSizes - 8 * bodies;
      put_little(bytes, at + kBodies, bodies, 4);
      for (size_t i = 0; i < bodies; ++i) {
        const size_t size = std::min<size_t>(little_at(bytes, at + kSizes + 8 * i, 8), left);
        put_little(bytes, at + kSizes + 8 * i, size, 8);
        left -= size;
      }
      put_little(bytes, at + kHead, left, 8);
    }
    at = end;
  }
  return bytes;
}

}  // namespace

Reader fuzz_frames() { return {&read_frames, &repaired_frames}; }

}  // namespace taeda::fuzz

#endif
