// A store's client whose connection is lost while the server goes on: a process that stood still,
// or a network that was away.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <list>
#include <mutex>
#include <thread>

#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"

namespace taeda::distributed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

/// Carries bytes between who connects to it and a server, and can let go of all connections.
class Road {
 public:
  explicit Road(uint16_t to)
      : to_(to), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 16);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~Road() {
    over_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    break_off();
    for (std::thread& t : carrying_) t.join();
    ::close(listener_);
  }
  Road(const Road&) = delete;
  Road& operator=(const Road&) = delete;

  uint16_t port() const { return port_; }
  void lead_to(uint16_t port) { to_ = port; }
  /// All connections end, as after too long a silence.
  void break_off() {
    std::lock_guard lock(mutex_);
    for (const int s : sockets_) ::shutdown(s, SHUT_RDWR);
  }

 private:
  void accept_all() {
    while (!over_) {
      const int from = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (from < 0) continue;
      const int to = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = loopback(to_);
      ::connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address);
      std::lock_guard lock(mutex_);
      sockets_.insert(sockets_.end(), {from, to});
      carrying_.emplace_back([this, from, to] { carry(from, to); });
    }
  }
  void carry(int a, int b) {
    char bytes[4096];
    pollfd ends[] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    for (bool open = true; open && ::poll(ends, 2, -1) > 0;)
      for (int i = 0; i < 2 && open; ++i) {
        if (!ends[i].revents) continue;
        const ssize_t n = ::recv(ends[i].fd, bytes, sizeof bytes, 0);
        open = n > 0 && ::send(ends[1 - i].fd, bytes, static_cast<size_t>(n), MSG_NOSIGNAL) == n;
      }
    std::lock_guard lock(mutex_);
    sockets_.remove(a);
    sockets_.remove(b);
    ::close(a);
    ::close(b);
  }

  std::atomic<uint16_t> to_;
  const int listener_;
  uint16_t port_ = 0;
  std::atomic<bool> over_{false};
  std::mutex mutex_;
  std::list<int> sockets_;
  std::list<std::thread> carrying_;
  std::thread accepting_;
};

class Reconnecting : public testing::TestWithParam<std::string> {
 protected:
  TCPStoreOptions options(uint16_t port, bool is_master = false) const {
    return {.port = port,
            .is_master = is_master,
            .timeout = std::chrono::seconds(30),
            .job = "tests",
            .security = Security{.secret = GetParam()}};
  }
  TCPStore server_{"localhost", options(0, true)};
  Road road_{server_.port()};
  TCPStore client_{"localhost", options(road_.port())};
};
INSTANTIATE_TEST_SUITE_P(, Reconnecting, testing::Values("", kTestSecret), [](const auto& info) {
  return info.param.empty() ? "Unproven" : "Proven";
});

TEST_P(Reconnecting, CallsGoOnWhereTheConnectionWasLost) {
  client_.set("key", "value");
  road_.break_off();
  EXPECT_EQ(client_.get("key"), "value");
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    road_.break_off();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    server_.set("late", "too");
  });
  EXPECT_EQ(client_.get("late"), "too") << "a wait goes on as well";
  later.join();
}

TEST_P(Reconnecting, WhatCountsCountsOnce) {
  std::thread breaking([&] {
    for (int i = 0; i < 15; ++i) {
      road_.break_off();
      std::this_thread::sleep_for(std::chrono::milliseconds(20 * i));
    }
  });
  std::vector<std::thread> threads;
  std::atomic<int64_t> greatest{0};
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        const int64_t sum = client_.add("n", 1);
        for (int64_t known = greatest;
             known < sum && !greatest.compare_exchange_weak(known, sum);) {
        }
      }
    });
  for (std::thread& t : threads) t.join();
  breaking.join();
  EXPECT_EQ(server_.add("n", 0), 300);
  EXPECT_EQ(greatest, 300);
}

TEST_P(Reconnecting, AnotherServerIsNotTakenForTheOneThatWasLost) {
  TCPStore other("localhost", options(0, true));
  client_.set("key", "value");
  road_.lead_to(other.port());
  road_.break_off();
  EXPECT_THAT(error_of([&] { client_.set("key", "of another store"); }),
              AllOf(HasSubstr("is gone"), HasSubstr("another one listens in its place")));
  EXPECT_FALSE(other.check({"key"}));
}

}  // namespace
}  // namespace taeda::distributed

#endif
