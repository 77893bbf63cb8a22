// A store that one process of the job serves and the others reach over the network.
#pragma once

#include <memory>

#include "taeda/distributed/own_process.h"
#include "taeda/distributed/security.h"
#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed {

struct TCPStoreOptions {
  /// the port; 0 lets the system choose, and TCPStore::port() tells. 29500 by default
  uint16_t port = 29500;
  bool is_master = false;  ///< whether this process serves the store; false by default
  /// How many processes take part. The master waits for them, and whoever was told another number
  /// is refused.
  std::optional<int64_t> world_size = {};
  bool wait_for_workers = true;
  std::chrono::milliseconds timeout = kDefaultTimeout;
  /// Whether masters of one process with the same port share a server; else, by default, that is an
  /// Error.
  bool multi_tenant = false;
  /// Where the master listens, if not on the address of `host`: listen_address() in network.h.
  std::string interface_name = {};
  /// Clients whose job has another name are refused; without a value, job_name() in job.h.
  std::optional<std::string> job = {};
  /// Without a value, Security::from_environment().
  std::optional<Security> security = {};
};

namespace detail {
class TcpStoreClient;
}

/// A gRPC service in the master's process, which ends with the master's object, and its clients.
/// Needs the engine `grpc`. `host` "localhost" or a loopback address serves this machine alone;
/// anything else needs a secret or mutual TLS (`Security`). Who waits for keys costs nothing: the
/// server answers when they are there.
///
/// Keys have at most 64 KiB, values 8 MiB. Throws DistributedError naming host and port when the
/// server cannot listen, does not answer within the timeout, ends, or refuses this process.
class TCPStore final : public Store {
 public:
  explicit TCPStore(const std::string& host, const TCPStoreOptions& options = {});
  TCPStore(const std::string& host, uint16_t port, std::optional<int64_t> world_size = {},
           bool is_master = false, std::chrono::milliseconds timeout = kDefaultTimeout,
           bool wait_for_workers = true);
  ~TCPStore() override;
  TCPStore(const TCPStore&) = delete;
  TCPStore& operator=(const TCPStore&) = delete;

  void set(const std::string& key, std::string_view value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, std::string_view expected,
                          std::string_view desired) override;
  bool delete_key(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            std::optional<std::chrono::milliseconds> timeout = {}) override;
  int64_t num_keys() override;

  const std::string& host() const { return host_; }
  uint16_t port() const;

 private:
  detail::TcpStoreClient& client(const char* operation) const;

  std::string host_;
  OwnProcess process_;
  std::unique_ptr<detail::TcpStoreClient> client_;
};

}  // namespace taeda::inline v0_2::distributed
