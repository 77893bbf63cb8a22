// A network between two processes that a test can break.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace taeda {

/// Passes on what comes to a port of its own to another port of this machine, and back.
class Relay {
 public:
  explicit Relay(const std::string& port) : to_(static_cast<uint16_t>(std::stoi(port))) {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here = address(0);
    socklen_t size = sizeof here;
    ::bind(listening_, reinterpret_cast<sockaddr*>(&here), size);
    ::listen(listening_, 16);
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&here), &size);
    port_ = std::to_string(ntohs(here.sin_port));
    thread_ = std::thread([this] { run(); });
  }
  ~Relay() {
    if (thread_.joinable()) end();
  }

  const std::string& port() const { return port_; }
  /// Ends all connections; new ones may come.
  void cut() { cut_ = true; }
  /// Passes nothing on any more, and says so to nobody.
  void stop() { stopped_ = true; }
  /// Is there no more: connections end, and new ones are refused.
  void end() {
    ended_ = true;
    thread_.join();
    ::close(listening_);
  }

 private:
  struct Pair {
    int from, to;
  };

  static sockaddr_in address(uint16_t port) {
    sockaddr_in out = {};
    out.sin_family = AF_INET;
    out.sin_port = htons(port);
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return out;
  }

  void run() {
    while (!ended_) {
      if (stopped_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      std::vector<pollfd> files = {{listening_, POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        files.push_back({pair.from, POLLIN, 0});
        files.push_back({pair.to, POLLIN, 0});
      }
      ::poll(files.data(), files.size(), /*milliseconds=*/5);
      if (cut_.exchange(false)) close_all();
      for (size_t i = pairs_.size(); i-- > 0;) {
        const Pair pair = pairs_[i];
        const bool goes_on = (!files[1 + 2 * i].revents || pass(pair.from, pair.to)) &&
                             (!files[2 + 2 * i].revents || pass(pair.to, pair.from));
        if (!goes_on) close(i);
      }
      if (files[0].revents) accept();
    }
    close_all();
  }

  void accept() {
    const int from = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    const int to = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in there = address(to_);
    pairs_.push_back({from, to});
    if (::connect(to, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0)
      close(pairs_.size() - 1);
  }
  static bool pass(int from, int to) {
    char buffer[4096];
    const ssize_t n = ::recv(from, buffer, sizeof buffer, 0);
    return n > 0 && ::send(to, buffer, static_cast<size_t>(n), MSG_NOSIGNAL) == n;
  }
  void close(size_t i) {
    ::close(pairs_[i].from);
    ::close(pairs_[i].to);
    pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void close_all() {
    while (!pairs_.empty()) close(pairs_.size() - 1);
  }

  const uint16_t to_;
  int listening_ = -1;
  std::string port_;
  std::vector<Pair> pairs_;
  std::atomic<bool> cut_ = false, stopped_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace taeda
