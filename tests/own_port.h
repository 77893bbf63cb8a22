// A port that a test can name before somebody listens at it.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace taeda {

/// A TCP port that nobody else on this machine is given while this process lives. A socket that
/// does not listen stays bound to it, so connections are refused until a server listens there; it
/// can, if it sets SO_REUSEADDR. A port that was merely free a moment ago may be another test's by
/// then.
inline uint16_t own_port() {
  sockaddr_in6 all = {};
  all.sin6_family = AF_INET6;
  sockaddr_in all_v4 = {};
  all_v4.sin_family = AF_INET;
  const auto bound = [](sockaddr* address, socklen_t size) -> uint16_t {
    const int s = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(s, address, size) != 0 || ::getsockname(s, address, &size) != 0) {
      ::close(s);
      return 0;
    }
    return address->sa_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(address)->sin6_port
                                          : reinterpret_cast<sockaddr_in*>(address)->sin_port;
  };
  uint16_t port = bound(reinterpret_cast<sockaddr*>(&all), sizeof all);
  if (port == 0) port = bound(reinterpret_cast<sockaddr*>(&all_v4), sizeof all_v4);
  if (port == 0) throw std::runtime_error("no port can be bound");
  return ntohs(port);
}

}  // namespace taeda
