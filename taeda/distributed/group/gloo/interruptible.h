// Gloo's transport, with waits that can be ended, and messages that know which call they are of.
// Gloo does not wake who waits for a message that is half sent or half received when its connection
// closes: only the wait's own timeout would.
#pragma once

#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <memory>
#include <mutex>
#include <set>

#include "taeda/distributed/group/gloo/checked.h"

namespace taeda::inline v0_2::distributed {

/// Hands everything on to Gloo's context for TCP, whose connections are checked, and knows the
/// buffers that are waited for.
class InterruptibleTransport final : public gloo::transport::Context {
 public:
  explicit InterruptibleTransport(std::shared_ptr<gloo::transport::Context> tcp);

  std::unique_ptr<gloo::transport::Pair>& getPair(int peer) override { return tcp_->getPair(peer); }
  std::unique_ptr<gloo::transport::Pair>& createPair(int peer) override {
    return tcp_->createPair(peer);
  }
  std::unique_ptr<gloo::transport::UnboundBuffer> createUnboundBuffer(void* data,
                                                                      size_t size) override;

  /// For a scope, what the calling thread exchanges belongs to the call with this number: Gloo
  /// tells messages apart by 64 bits, its tags are half of them, and the number is all. Gloo's own
  /// bits, of which a call uses a few, are what it is changed by.
  class Calling {
   public:
    explicit Calling(uint64_t id);
    ~Calling();
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;

   private:
    const uint64_t before_;
  };

  /// Closes all connections. Waits under way and later ones throw. Any thread may call it.
  void close() noexcept;
  /// The connection to `peer`.
  CheckedPair& pair(int peer) { return static_cast<CheckedPair&>(*tcp_->getPair(peer)); }

  /// The buffers that exist.
  struct Buffers {
    std::mutex mutex;
    std::set<gloo::transport::UnboundBuffer*> live;
    bool interrupted = false;
  };

 private:
  const std::shared_ptr<gloo::transport::Context> tcp_;
  const std::shared_ptr<Buffers> buffers_ = std::make_shared<Buffers>();
};

}  // namespace taeda::inline v0_2::distributed
