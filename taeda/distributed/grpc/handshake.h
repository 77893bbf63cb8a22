// The greetings of a stream: who the other side is, before anything else is said.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "handshake.pb.h"
#include "taeda/distributed/grpc/authentication.h"

namespace taeda::inline v0_2::distributed::grpc_link {

using taeda_link::Challenge;
using taeda_link::Hello;
using taeda_link::Proof;
using taeda_link::Welcome;

inline constexpr uint32_t kVersion = 1;
/// Of a frame before the sender proved who it is.
inline constexpr size_t kMostGreetingBytes = size_t{4} << 10;
/// How long a client that has connected may take to prove who it is.
inline constexpr std::chrono::seconds kGreetingTimeout(10);

/// Whom a server lets in.
struct Admission {
  std::string job, secret;
  int64_t world_size = 0;    ///< 0: not told
  std::string service = {};  ///< as in Hello
  std::string server = {};   ///< as in Challenge
};

/// The server's side.
class ServerHandshake {
 public:
  /// Takes a greeting; `answer` is what to send then. Any other status than OK ends the stream.
  grpc::Status receive(const Admission& admission, const std::string& payload, std::string* answer);
  /// Whether the client is in.
  bool over() const { return over_; }
  const Hello& client() const { return hello_; }
  /// The key for codes of later frames.
  std::string session_key(const Admission& admission) const {
    return greetings_.session_key(admission.secret);
  }

 private:
  grpc::Status receive_hello(const Admission& admission, const std::string& payload,
                             std::string* answer);
  grpc::Status receive_proof(const Admission& admission, const std::string& payload,
                             std::string* answer);
  grpc::Status refusal(const Admission& admission) const;

  Hello hello_;
  Greetings greetings_;
  bool greeted_ = false, over_ = false;
};

/// The client's side: hello(), prove() what the server answers, believe() what it says then.
class ClientHandshake {
 public:
  ClientHandshake(Hello hello, std::string secret);

  std::string hello();
  /// Throws DistributedError, beginning with "the server", for one that is not the job's.
  std::string prove(const std::string& challenge);
  void believe(const std::string& welcome) const;
  std::string session_key() const { return greetings_.session_key(secret_); }
  /// Which server that is, once it was challenged.
  const std::string& server() const { return server_; }

 private:
  Hello hello_;
  std::string server_;
  const std::string secret_;
  Greetings greetings_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_link
