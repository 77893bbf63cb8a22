// A worker's stream to another one: what it asks there.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "taeda/rpc/grpc/duplex.h"
#include "taeda/rpc/transport.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

/// The one method that workers serve.
inline constexpr const char* kMethod = "/taeda_rpc.Worker/Talk";
/// The service as greetings name it.
inline constexpr const char* kService = "worker of taeda.distributed.rpc";

/// How many streams gRPC still holds.
///
/// gRPC ends its threads when its last channel goes, and must not be left to do that on one of
/// them. A stream holds its channel and goes on such a thread, so who owns the channels keeps them
/// until no stream is left.
class OpenStreams {
 public:
  void enter();
  void leave();
  void wait_until_none();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

class Caller final : public Duplex<grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 public:
  using Done = rpc::Transport::Done;

  /// Connects; lives until the stream has ended. `name` is the other worker's, for errors.
  static std::shared_ptr<Caller> open(const std::shared_ptr<grpc::Channel>& channel,
                                      const grpc_link::Hello& hello, const std::string& secret,
                                      const std::string& name,
                                      const std::shared_ptr<OpenStreams>& streams);
  Caller(const std::shared_ptr<grpc::Channel>& channel, const grpc_link::Hello& hello,
         const std::string& secret, std::string name, std::shared_ptr<OpenStreams> streams);

  /// Sends a request; `done` is called when it was answered or the stream has ended. False, without
  /// having taken anything, if it has already.
  bool call(Packet& request, Done& done);
  /// Whether the stream has ended, and why.
  bool has_ended();
  std::string why_ended();
  void close() { end({grpc::StatusCode::CANCELLED, "this worker was shut down"}); }

  void OnDone(const grpc::Status& status) override;

 private:
  grpc::Status receive_greeting(const std::string& text, std::optional<std::string>* answer,
                                bool* over) override;
  void receive(uint64_t number, Packet packet) override;
  void let_go(const grpc::Status& why) override;

  const std::shared_ptr<grpc::Channel> channel_;
  const std::string name_;
  const std::shared_ptr<OpenStreams> streams_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  std::shared_ptr<Caller> self_;  // until OnDone
  grpc_link::ClientHandshake handshake_;
  bool proved_ = false;
  std::optional<grpc::Status> own_reason_;

  std::mutex calls_mutex_;
  std::map<uint64_t, Done> calls_;
  uint64_t last_number_ = 0;
  bool done_ = false;
  std::string why_;  ///< when it is done
};

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
