// A TCPStore's own part: its connection, and the server where this process is the master.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/distributed/grpc_engine.h"
#include "taeda/distributed/store/grpc/connection.h"
#include "taeda/distributed/store/grpc/server.h"

namespace taeda::inline v0_2::distributed::grpc_store {

class Client final : public detail::TcpStoreClient {
 public:
  Client(const std::string& host, const TCPStoreOptions& options);

  uint16_t port() const override { return port_; }
  void set(const std::string& key, std::string_view value, Timeout timeout) override;
  std::string get(const std::string& key, Timeout timeout) override;
  int64_t add(const std::string& key, int64_t amount, Timeout timeout) override;
  std::string compare_set(const std::string& key, std::string_view expected,
                          std::string_view desired, Timeout timeout) override;
  bool delete_key(const std::string& key, Timeout timeout) override;
  bool check(const std::vector<std::string>& keys, Timeout timeout) override;
  void wait(const std::vector<std::string>& keys, Timeout timeout) override;
  int64_t num_keys(Timeout timeout) override;

 private:
  void connect(const TCPStoreOptions& options);
  void wait_for_workers(int64_t world_size, Timeout timeout);
  Response call(Request request, Timeout timeout);
  Response answered(const Request& request, Timeout timeout);
  [[noreturn]] void fail(const std::string& what) const;

  std::shared_ptr<Server> server_;  // outlives the connection to it
  std::string host_, address_;
  uint16_t port_ = 0;
  std::string name_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_store
