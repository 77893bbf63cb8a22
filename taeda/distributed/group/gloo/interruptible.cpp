#include "taeda/distributed/group/gloo/interruptible.h"

#include <gloo/common/error.h>

#include <chrono>
#include <utility>
#include <vector>

namespace taeda::inline v0_2::distributed {

namespace {

using gloo::transport::UnboundBuffer;
using Buffers = InterruptibleTransport::Buffers;

thread_local uint64_t this_threads_call = 0;

class InterruptibleBuffer final : public UnboundBuffer {
 public:
  InterruptibleBuffer(std::unique_ptr<UnboundBuffer> tcp, std::shared_ptr<Buffers> all)
      : UnboundBuffer(tcp->ptr, tcp->size),
        call_(this_threads_call),
        tcp_(std::move(tcp)),
        all_(std::move(all)) {
    std::lock_guard lock(all_->mutex);
    all_->live.insert(tcp_.get());
  }
  ~InterruptibleBuffer() override {
    std::lock_guard lock(all_->mutex);
    all_->live.erase(tcp_.get());
  }

  bool waitRecv(int* rank, std::chrono::milliseconds timeout) override {
    throw_if(interrupted());
    throw_if(!tcp_->waitRecv(rank, timeout));
    return true;
  }
  bool waitSend(int* rank, std::chrono::milliseconds timeout) override {
    throw_if(interrupted());
    throw_if(!tcp_->waitSend(rank, timeout));
    return true;
  }
  void abortWaitRecv() override { tcp_->abortWaitRecv(); }
  void abortWaitSend() override { tcp_->abortWaitSend(); }
  void send(int to, uint64_t slot, size_t offset, size_t nbytes) override {
    tcp_->send(to, call_ ^ slot, offset, nbytes);
  }
  void recv(int from, uint64_t slot, size_t offset, size_t nbytes) override {
    tcp_->recv(from, call_ ^ slot, offset, nbytes);
  }
  void recv(std::vector<int> from, uint64_t slot, size_t offset, size_t nbytes) override {
    tcp_->recv(std::move(from), call_ ^ slot, offset, nbytes);
  }

 private:
  bool interrupted() const {
    std::lock_guard lock(all_->mutex);
    return all_->interrupted;
  }
  /// Gloo's collectives do not look at what a wait returns.
  static void throw_if(bool interrupted) {
    if (interrupted) throw gloo::IoException("the connections were closed");
  }

  const uint64_t call_;
  const std::unique_ptr<UnboundBuffer> tcp_;
  const std::shared_ptr<Buffers> all_;
};

}  // namespace

InterruptibleTransport::Calling::Calling(uint64_t id)
    : before_(std::exchange(this_threads_call, id)) {}
InterruptibleTransport::Calling::~Calling() { this_threads_call = before_; }

InterruptibleTransport::InterruptibleTransport(std::shared_ptr<gloo::transport::Context> tcp)
    : Context(tcp->rank, tcp->size), tcp_(std::move(tcp)) {
  setTimeout(tcp_->getTimeout());
}

std::unique_ptr<UnboundBuffer> InterruptibleTransport::createUnboundBuffer(void* data,
                                                                           size_t size) {
  return std::make_unique<InterruptibleBuffer>(tcp_->createUnboundBuffer(data, size), buffers_);
}

/// A wait that times out closes all connections of Gloo's context, which is the only way to do that
/// while others use them.
void InterruptibleTransport::close() noexcept {
  try {
    if (size > 1) tcp_->createUnboundBuffer(nullptr, 0)->waitRecv(std::chrono::milliseconds(1));
  } catch (const std::exception&) {
  }
  std::lock_guard lock(buffers_->mutex);
  buffers_->interrupted = true;
  for (UnboundBuffer* buffer : buffers_->live) {
    buffer->abortWaitRecv();
    buffer->abortWaitSend();
  }
}

}  // namespace taeda::inline v0_2::distributed
