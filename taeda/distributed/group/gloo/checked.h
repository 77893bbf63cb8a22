// Gloo's transport over TCP, with connections that look at what arrives. Gloo itself ends the
// process where that is no message of its protocol, or a message that nobody waits for: what its
// thread throws nobody catches.
#pragma once

#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>

#include <memory>
#include <string>
#include <vector>

namespace taeda::inline v0_2::distributed {

/// Gloo tells messages apart by numbers of 64 bits. Its collectives use 0x01 to 0x08 in the highest
/// byte.
inline constexpr uint64_t kMessageSlot = uint64_t{0x90} << 56;
/// Of what each side shows first, as proof that it is of the group.
inline constexpr uint64_t kProofSlot = uint64_t{0x91} << 56;

/// Gloo's text without the place in its sources.
std::string without_place(const std::string& text);

/// A connection to one rank. It ends with an error that names the other side where anything arrives
/// that a peer does not send, or before it has shown its proof.
class CheckedPair final : public gloo::transport::tcp::Pair {
 public:
  using gloo::transport::tcp::Pair::Pair;
  ~CheckedPair() override;

  /// Errors name the rank.
  void connect(const std::vector<char>& address) override;
  /// What errors of the connection call its other side.
  std::string name();
  /// Why it has ended; empty while it stands.
  std::string failure();

  void handleEvents(int events) override;

 private:
  bool read() override;
  const char* objection();
  void fail(const std::string& why);

  bool shown_ = false;  ///< the proof, or what is to be one, has arrived
  int heard_ = 0;       ///< how much before
};

class CheckedContext final : public gloo::transport::tcp::Context {
 public:
  using gloo::transport::tcp::Context::Context;
  std::unique_ptr<gloo::transport::Pair>& createPair(int rank) override;
};

class CheckedDevice final : public gloo::transport::tcp::Device {
 public:
  using gloo::transport::tcp::Device::Device;
  std::shared_ptr<gloo::transport::Context> createContext(int rank, int size) override;
};

}  // namespace taeda::inline v0_2::distributed
