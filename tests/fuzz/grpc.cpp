// What the engine `grpc` gets from the network: greetings, requests to a store.
#if defined(TAEDA_HAS_GRPC)

#include <utility>

#include "taeda/distributed/grpc/handshake.h"
#include "taeda/distributed/store/grpc/state.h"
#include "tests/fuzz/reader.h"

namespace taeda::fuzz {
namespace {

using namespace distributed;

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

Reader fuzz_greetings() { return {&read_greetings}; }

Reader fuzz_store() { return {&read_requests}; }

}  // namespace taeda::fuzz

#endif
