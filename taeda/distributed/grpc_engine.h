// What libtaeda_grpc.so does for the library: it serves TCPStore. Other engines stand on gRPC, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace taeda::inline v0_2::distributed {

struct TCPStoreOptions;

namespace detail {

/// A connection to a store's server, and the server where this process is the master. The functions
/// are those of `Store`, each with how long it may take.
class TcpStoreClient {
 public:
  using Timeout = std::chrono::milliseconds;

  virtual ~TcpStoreClient() = default;
  virtual uint16_t port() const = 0;
  virtual void set(const std::string& key, std::string_view value, Timeout timeout) = 0;
  virtual std::string get(const std::string& key, Timeout timeout) = 0;
  virtual int64_t add(const std::string& key, int64_t amount, Timeout timeout) = 0;
  virtual std::string compare_set(const std::string& key, std::string_view expected,
                                  std::string_view desired, Timeout timeout) = 0;
  virtual bool delete_key(const std::string& key, Timeout timeout) = 0;
  virtual bool check(const std::vector<std::string>& keys, Timeout timeout) = 0;
  virtual void wait(const std::vector<std::string>& keys, Timeout timeout) = 0;
  virtual int64_t num_keys(Timeout timeout) = 0;
};

}  // namespace detail

/// The table of functions of the engine `grpc`.
struct GrpcEngine {
  /// Job and security of the options have values.
  std::unique_ptr<detail::TcpStoreClient> (*open_store)(const std::string& host,
                                                        const TCPStoreOptions& options);
};

/// Loads the engine; throws DistributedError, saying what to install, where it is missing.
const GrpcEngine& grpc_engine(const std::string& needed_by);

/// The table of functions of engine `name`, one of those that stand on gRPC. Throws
/// DistributedError like load_engine(), in a process that was forked from one that used gRPC, and
/// where gRPC's threads have no room.
const void* load_grpc_engine(const std::string& name, const std::string& needed_by);

}  // namespace taeda::distributed
