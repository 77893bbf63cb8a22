// The server of a TCPStore, in the master's process.
#pragma once

#include <grpcpp/server.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "taeda/distributed/grpc/gate.h"
#include "taeda/distributed/store/grpc/session.h"
#include "taeda/distributed/store/tcp_store.h"

namespace taeda::inline v0_2::distributed::grpc_store {

class Server final : public StoreService::CallbackService {
 public:
  /// Listens where the options say. Throws DistributedError naming address and port.
  Server(const std::string& host, const TCPStoreOptions& options);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The server of `options`: with multi_tenant one that this process has on the port already.
  static std::shared_ptr<Server> get(const std::string& host, const TCPStoreOptions& options);

  /// Where this process reaches it.
  const std::string& address() const { return address_; }
  uint16_t port() const { return port_; }

  grpc::ServerBidiReactor<Frame, Frame>* Join(grpc::CallbackServerContext* context) override;

 private:
  void listen(const std::string& address, const TCPStoreOptions& options);

  std::string address_;
  uint16_t port_ = 0;
  std::shared_ptr<House> house_;
  std::mutex mutex_;
  bool open_ = true;
  std::vector<std::weak_ptr<Session>> sessions_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_store
