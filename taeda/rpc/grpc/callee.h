// Another worker's stream to this one: what it asks here.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <memory>

#include "taeda/distributed/grpc/gate.h"
#include "taeda/rpc/grpc/duplex.h"
#include "taeda/rpc/transport.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

/// What all streams to a worker have in common.
struct Office {
  grpc_link::Admission admission;
  rpc::Transport::OnRequest on_request;
  std::shared_ptr<grpc_link::Gate> gate;
  std::atomic<size_t> streams{0};
};

class Callee final : public Duplex<grpc::ServerGenericBidiReactor> {
 public:
  /// Begins to listen to the client; lives until the stream has ended.
  static std::shared_ptr<Callee> start(std::shared_ptr<Office> office, const std::string& peer);
  Callee(std::shared_ptr<Office> office, std::string peer);
  ~Callee() override;

  void close(const grpc::Status& why) { end(why); }
  void OnCancel() override { end(grpc::Status::CANCELLED); }
  void OnDone() override;

 private:
  grpc::Status receive_greeting(const std::string& text, std::optional<std::string>* answer,
                                bool* over) override;
  void receive(uint64_t number, Packet packet) override;
  void let_go(const grpc::Status& why) override { Finish(why); }

  const std::shared_ptr<Office> office_;
  const std::string peer_;  // as gRPC calls it
  std::shared_ptr<Callee> self_;  // until OnDone
  grpc::Alarm greeting_ends_;
  grpc_link::ServerHandshake handshake_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
