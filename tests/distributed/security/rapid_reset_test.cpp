// Strangers who begin streams and reset them: a store keeps little of it.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include "tests/distributed/security/rapid_reset.h"

#include <gmock/gmock.h>
#include <poll.h>

#include <atomic>
#include <mutex>

#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/stores.h"

namespace taeda::distributed {
namespace {

constexpr const char* kStorePath = "/taeda_store.StoreService/Join";

TEST(RapidReset, AStoreEndsTheConnectionAndServesItsMembers) {
  const Security security = {.secret = kTestSecret};
  TCPStore server("localhost",
                  {.port = 0, .is_master = true, .job = "tests", .security = security});
  const TCPStoreOptions client = {.port = server.port(), .job = "tests", .security = security};
  TCPStore member("localhost", client);
  EXPECT_LT(streams_of_one_connection(server.port(), kStorePath, kManyStreams), kManyStreams);
  EXPECT_LT(growth_under_attack(server.port(), kStorePath), kMostGrowth);
  EXPECT_EQ(member.add("n", 1), 1);
  EXPECT_EQ(TCPStore("localhost", client).add("n", 1), 2) << "who comes later is let in";
}

/// Passes on what a member and its server say, until it begins streams in the member's name.
class Hijacker {
 public:
  explicit Hijacker(int server) : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here = {};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    ::bind(listening_, reinterpret_cast<sockaddr*>(&here), size);
    ::listen(listening_, 1);
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&here), &size);
    port_ = ntohs(here.sin_port);
    thread_ = std::thread([this, server] { pass_on(server); });
  }
  ~Hijacker() {
    end();
    ::close(listening_);
  }

  uint16_t port() const { return port_; }
  /// The connection to the server, which nobody else writes to any more.
  int end() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
    return server_;
  }

 private:
  void pass_on(int server) {
    const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    server_ = Resetter::connected(server);
    pollfd both[] = {{client, POLLIN, 0}, {server_, POLLIN, 0}};
    for (bool goes_on = true; goes_on && !ended_;) {
      ::poll(both, 2, /*milliseconds=*/5);
      for (int i : {0, 1})
        if (both[i].revents) goes_on = goes_on && pass(both[i].fd, both[1 - i].fd);
    }
    ::close(client);
  }
  static bool pass(int from, int to) {
    char buffer[4096];
    const ssize_t n = ::recv(from, buffer, sizeof buffer, 0);
    return n > 0 && ::send(to, buffer, static_cast<size_t>(n), MSG_NOSIGNAL) == n;
  }

  const int listening_;
  uint16_t port_ = 0;
  int server_ = -1;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

TEST(RapidReset, AMembersConnectionIsEndedToo) {
  const Security security = {.secret = kTestSecret};
  TCPStoreOptions options = {.port = 0, .is_master = true, .job = "tests", .security = security};
  TCPStore server("localhost", options);
  options = {.port = server.port(), .job = "tests", .security = security};
  TCPStore member("localhost", options);
  const size_t before = resident_mebibytes();
  {
    Hijacker between(server.port());
    options.port = between.port();
    TCPStore hijacked("localhost", options);
    EXPECT_EQ(hijacked.add("n", 1), 1);
    Resetter attack(between.end(), kStorePath, 1001);
    for (int n = 0; n < kManyStreams && attack.begin_and_reset(100);) n += 100;
    EXPECT_TRUE(attack.is_ended());
  }
  EXPECT_LT(resident_mebibytes(), before + kMostGrowth);
  EXPECT_EQ(member.add("n", 1), 2);
}

}  // namespace
}  // namespace taeda::distributed

#endif
