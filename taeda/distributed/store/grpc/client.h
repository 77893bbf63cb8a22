// A TCPStore's own part: its connection, and the server where this process is the master.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
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
  using Clock = Connection::Clock;
  using ConnectionPtr = std::shared_ptr<Connection>;

  void connect(Timeout timeout);
  ConnectionPtr greet(Clock::time_point deadline, std::string* reason);
  ConnectionPtr connection();
  ConnectionPtr renew(const ConnectionPtr& lost, const std::string& operation,
                      Clock::time_point deadline);
  /// A request that has no answer yet.
  class Asked {
   public:
    Asked(Client& client, Request& request);
    ~Asked();
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

   private:
    Client& client_;
    uint64_t number_ = 0;
  };
  void wait_for_workers(int64_t world_size, Timeout timeout);
  Response call(Request request, Timeout timeout);
  Response answered(const Request& request, Timeout timeout);
  [[noreturn]] void fail(const std::string& what) const;

  std::shared_ptr<Server> server_;  // outlives the connection to it
  std::string host_, address_;
  uint16_t port_ = 0;
  std::string name_;
  std::string secret_;
  Hello hello_;
  std::shared_ptr<grpc::Channel> channel_;
  std::timed_mutex renewing_;  ///< one thread connects again, for all
  std::mutex mutex_;           ///< of what follows
  ConnectionPtr connection_;
  std::optional<Clock::time_point> lost_since_;
  std::set<uint64_t> unanswered_;
  uint64_t last_number_ = 0;
};

}  // namespace taeda::inline v0_2::distributed::grpc_store
