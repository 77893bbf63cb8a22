#include "taeda/distributed/group/gloo/checked.h"

#include <gloo/common/error.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace taeda::inline v0_2::distributed {

namespace {

namespace tcp = gloo::transport::tcp;

/// Of a proof: that it is there, that the other one is waited for, and the proof itself.
constexpr int kMostBeforeProof = 3;

}  // namespace

std::string without_place(const std::string& text) {
  const size_t end = text.starts_with('[') ? text.find("] ") : std::string::npos;
  return end == std::string::npos ? text : text.substr(end + 2);
}

/// Gloo's own destructor does the same, when its thread might still find a part of this object that
/// is no more.
CheckedPair::~CheckedPair() {
  std::lock_guard lock(m_);
  if (state_ != CLOSED) changeState(CLOSED);
}

void CheckedPair::connect(const std::vector<char>& address) {
  try {
    Pair::connect(address);
  } catch (const std::exception& e) {
    throw gloo::IoException("rank " + std::to_string(rank_) + ": " + without_place(e.what()));
  }
}

std::string CheckedPair::name() {
  std::lock_guard lock(m_);
  return peer_.str();
}

std::string CheckedPair::failure() {
  std::lock_guard lock(m_);
  if (!ex_) return {};
  try {
    std::rethrow_exception(ex_);
  } catch (const std::exception& e) {
    return without_place(e.what());
  }
}

/// On Gloo's thread, which calls again where the lock cannot be had: who has it may wait for that
/// thread.
void CheckedPair::handleEvents(int events) {
  std::unique_lock lock(m_, std::try_to_lock);
  if (!lock) return;
  try {
    if (state_ == LISTENING)
      handleListening();
    else if (state_ == CONNECTING)
      handleConnecting();
    else if (state_ == CONNECTED)
      handleReadWrite(events);
  } catch (const std::exception& e) {
    fail(without_place(e.what()));
  }
}

/// With the lock held, on Gloo's thread. What stands before a message is read and looked at here,
/// the rest is Gloo's.
bool CheckedPair::read() {
  if (state_ != CONNECTED) return false;
  auto& head = rx_.preamble;
  if (rx_.nread >= sizeof head) return Pair::read();
  while (rx_.nread < sizeof head) {
    const ssize_t n = ::recv(fd_, reinterpret_cast<char*>(&head) + rx_.nread,
                             sizeof head - rx_.nread, /*flags=*/0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return false;
    if (n <= 0) {
      fail(n < 0 ? std::strerror(errno) : "closed by the other side");
      return false;
    }
    rx_.nread += static_cast<size_t>(n);
  }
  if (const char* const why = objection()) {
    fail(why);
    return false;
  }
  return Pair::read();
}

/// To what stands before a message; null where a peer may send it now.
const char* CheckedPair::objection() {
  const auto& head = rx_.preamble;
  const bool message = head.opcode == tcp::Op::SEND_UNBOUND_BUFFER;
  const bool notice =
      head.opcode == tcp::Op::NOTIFY_SEND_READY || head.opcode == tcp::Op::NOTIFY_RECV_READY;
  if (!(message || notice) || head.nbytes != sizeof head + (message ? head.length : 0))
    return "what arrived is no message of Gloo's";
  if (!shown_ && (head.slot != kProofSlot || ++heard_ > kMostBeforeProof))
    return "what arrived is not the proof that comes first";
  if (notice) return nullptr;
  shown_ = true;
  const auto waiting = localPendingRecv_.find(head.slot);
  const bool fits =
      waiting != localPendingRecv_.end() && std::get<2>(waiting->second.front()) == head.length;
  return fits ? nullptr : "a message arrived that nobody has asked for";
}

/// With the lock held.
void CheckedPair::fail(const std::string& why) {
  if (ex_) return;
  // Of a connection that was not complete Gloo's thread may have lost sight, and would end the
  // process for that: closed, it is forgotten in any case.
  if (state_ != CONNECTED && fd_ >= 0) ::close(std::exchange(fd_, -1));
  signalException("the connection to " + peer_.str() + ": " + why);
}

std::unique_ptr<gloo::transport::Pair>& CheckedContext::createPair(int peer) {
  auto& pair = pairs_.at(static_cast<size_t>(peer));
  pair = std::make_unique<CheckedPair>(this, device_.get(), peer, getTimeout());
  return pair;
}

std::shared_ptr<gloo::transport::Context> CheckedDevice::createContext(int rank, int size) {
  return std::make_shared<CheckedContext>(shared_from_this(), rank, size);
}

}  // namespace taeda::inline v0_2::distributed
