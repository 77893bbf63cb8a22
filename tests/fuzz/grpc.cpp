// What the engine `grpc` gets from the network: frames, greetings, requests to a store.
#if defined(TAEDA_HAS_GRPC)

#include <algorithm>
#include <utility>

#include "taeda/distributed/grpc/handshake.h"
#include "taeda/distributed/store/grpc/state.h"
#include "taeda/rpc/grpc/frames.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/wire.h"

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

/// What a server hears from a client, and a client from a server; the first byte says whether with
/// a secret.
void read_greetings(std::string_view bytes) {
  Numbers numbers(bytes);
  const std::string secret = numbers.byte() % 2 ? "sixteen bytes or more" : "";
  const grpc_link::Admission admission{.job = "job", .secret = secret, .world_size = 2};
  grpc_link::ServerHandshake server;
  for (const std::string_view message : messages_in(numbers.rest())) {
    std::string answer;
    if (!server.receive(admission, std::string(message), &answer).ok() || server.over()) break;
  }
  grpc_link::ClientHandshake client({}, secret);
  client.hello();
  bool first = true;
  for (const std::string_view message : messages_in(numbers.rest())) {
    if (std::exchange(first, false))
      client.prove(std::string(message));
    else
      client.believe(std::string(message));
  }
}

/// Requests of two clients to a small store; the second one leaves in between.
void read_requests(std::string_view bytes) {
  constexpr size_t kKeys = 8, kBytes = 256;
  grpc_store::State state(kKeys, kBytes);
  const char clients[2] = {};
  size_t answers = 0, asked = 0;
  for (const std::string_view message : messages_in(bytes)) {
    grpc_store::Request request;
    if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) continue;
    if (asked++ % 8 == 7) state.remove(&clients[1]);
    state.handle(&clients[asked % 2], request, [&](const grpc_store::Response&) { ++answers; });
    if (answers > asked) __builtin_trap();  // an answer for each request, and no more
  }
  for (const char& client : clients) state.remove(&client);
}

}  // namespace

Reader fuzz_frames() { return {&read_frames, &repaired_frames}; }

Reader fuzz_greetings() { return {&read_greetings}; }

Reader fuzz_store() { return {&read_requests}; }

}  // namespace taeda::fuzz

#endif
