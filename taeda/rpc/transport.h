// How messages get to other workers. libtaeda_rpc.so has the one that programs use.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "taeda/distributed/security.h"
#include "taeda/rpc/archive.h"

namespace taeda::inline v0_2::distributed::rpc {

/// Carries requests and what is answered. Any thread may call it.
class Transport {
 public:
  using Reply = std::function<void(Packet)>;
  /// Called once for each call: with an empty error, or with why there is no answer.
  using Done = std::function<void(Packet answer, const std::string& error)>;
  /// Called for each request, and for each at most once calls `reply`. Must not block.
  using OnRequest = std::function<void(int64_t from, Packet request, Reply reply)>;

  struct Options {
    int64_t id = -1;
    std::string name = {};
    int64_t world_size = 0;
    std::string job = {};
    Security security = {};
    std::string interface_name = {};  ///< where to listen, if not on loopback
    OnRequest on_request = {};
  };

  virtual ~Transport() = default;
  /// Where others reach this worker: what their `meet` is given.
  virtual std::string address() const = 0;
  /// Tells where a worker is.
  virtual void meet(int64_t id, const std::string& name, const std::string& address) = 0;
  /// Does not wait. A worker that is gone is an error at once, one that says nothing is none.
  virtual void call(int64_t to, Packet request, Done done) = 0;
  /// Why a worker cannot be reached any more; empty if it can, or as long as that is not known.
  /// Does not wait: asked from time to time, it connects where nothing is connected, and says what
  /// came of it.
  virtual std::string loss_of(int64_t) { return {}; }
  /// Ends all connections; calls under way fail. When it returns nothing is called any more.
  virtual void stop() = 0;
};

/// Makes a process's transport when RPC starts.
using TransportFactory = std::function<std::unique_ptr<Transport>(Transport::Options)>;

/// The table of functions of the engine `rpc`.
struct TransportEngine {
  std::unique_ptr<Transport> (*open)(Transport::Options options);
};
/// Through the engine `rpc`, over gRPC. Throws DistributedError where it is missing or cannot
/// listen.
std::unique_ptr<Transport> open_grpc_transport(Transport::Options options);

}  // namespace taeda::inline v0_2::distributed::rpc
