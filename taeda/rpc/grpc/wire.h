// The transport of the engine `rpc`: a server for those who ask this worker, a stream to each that
// it asks.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "taeda/distributed/grpc/gate.h"
#include "taeda/rpc/grpc/callee.h"
#include "taeda/rpc/grpc/caller.h"
#include "taeda/rpc/transport.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

class Wire final : public rpc::Transport, private grpc::CallbackGenericService {
 public:
  /// Listens on loopback or the interface that is named. Throws DistributedError.
  explicit Wire(Options options);
  ~Wire() override;

  std::string address() const override { return address_; }
  void meet(int64_t id, const std::string& name, const std::string& address) override;
  void call(int64_t to, Packet request, Done done) override;
  std::string loss_of(int64_t id) override;
  void stop() override;

 private:
  struct Peer {
    std::string name;
    std::shared_ptr<grpc::Channel> channel;
    std::shared_ptr<Caller> caller;
    bool lost = false;  ///< the last connection has ended
  };

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;
  void listen();
  std::shared_ptr<Caller> caller_for(int64_t to, const std::shared_ptr<Caller>& ended);

  const Options options_;
  grpc_link::Hello hello_;
  std::string address_;
  std::shared_ptr<Office> office_;
  std::mutex mutex_;
  bool stopped_ = false;
  const std::shared_ptr<OpenStreams> streams_ = std::make_shared<OpenStreams>();
  std::map<int64_t, Peer> peers_;
  std::vector<std::weak_ptr<Callee>> callees_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
