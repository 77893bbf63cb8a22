#include "taeda/distributed/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::string text_of(const sockaddr* address, socklen_t size) {
  char host[NI_MAXHOST];
  const int error = ::getnameinfo(address, size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? host : "";
}

/// What the system knows of `host`; with AI_NUMERICHOST in `flags` only addresses are understood.
AddressList look_up(const std::string& host, const std::string& port, int flags, int* error) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  *error = ::getaddrinfo(host.c_str(), port.empty() ? nullptr : port.c_str(), &hints, &found);
  return AddressList(*error == 0 ? found : nullptr, ::freeaddrinfo);
}

bool is_address(const std::string& host) {
  int error = 0;
  return look_up(host, "", AI_NUMERICHOST, &error) != nullptr;
}

}  // namespace

std::string resolve(const std::string& host) {
  if (host == "localhost") return "127.0.0.1";
  int error = 0;
  const AddressList found = look_up(host, "", 0, &error);
  TAEDA_CHECK_AS(DistributedError, found, "the host name '", host, "' has no address (",
                 ::gai_strerror(error), ")");
  return text_of(found->ai_addr, found->ai_addrlen);
}

std::string interface_address(const std::string& name) {
  if (is_address(name)) return name;
  ifaddrs* first = nullptr;
  TAEDA_CHECK_AS(DistributedError, ::getifaddrs(&first) == 0,
                 "the network interfaces are not to be had (", std::strerror(errno), ")");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, ::freeifaddrs);
  std::set<std::string> names;
  std::string v4, v6;
  for (const ifaddrs* entry = first; entry; entry = entry->ifa_next) {
    names.insert(entry->ifa_name);
    if (!entry->ifa_addr || name != entry->ifa_name) continue;
    if (entry->ifa_addr->sa_family == AF_INET && v4.empty())
      v4 = text_of(entry->ifa_addr, sizeof(sockaddr_in));
    if (entry->ifa_addr->sa_family == AF_INET6 && v6.empty())
      v6 = text_of(entry->ifa_addr, sizeof(sockaddr_in6));
  }
  std::string known;
  for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
  TAEDA_CHECK_AS(DistributedError, !v4.empty() || !v6.empty(), "the network interface '", name,
                 "' has no address; there are ", known);
  return v4.empty() ? v6 : v4;
}

std::string listen_address(const std::string& host, const std::string& interface_name) {
  if (!interface_name.empty()) return interface_address(interface_name);
  if (host == "localhost" || is_loopback(host)) return resolve(host);
  if (const char* text = std::getenv("TAEDA_DISTRIBUTED_INTERFACE"); text && *text)
    return interface_address(text);
  return resolve(host);
}

std::string address_towards(const std::string& host) {
  const std::string there = resolve(host);
  int error = 0;
  const AddressList found = look_up(there, "9", AI_NUMERICHOST, &error);
  TAEDA_CHECK_AS(DistributedError, found, "'", there, "' is no address (", ::gai_strerror(error),
                 ")");
  const int s = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage here = {};
  socklen_t size = sizeof here;
  // A datagram socket that is connected has sent nothing, but the system has chosen its way.
  const bool known = s >= 0 && ::connect(s, found->ai_addr, found->ai_addrlen) == 0 &&
                     ::getsockname(s, reinterpret_cast<sockaddr*>(&here), &size) == 0;
  const int reason = errno;
  if (s >= 0) ::close(s);
  TAEDA_CHECK_AS(DistributedError, known, "there is no way to ", there, " (", std::strerror(reason),
                 ")");
  return text_of(reinterpret_cast<sockaddr*>(&here), size);
}

namespace {

std::mutex meeting_mutex;
std::string& meeting_host() {
  static auto* host = new std::string;
  return *host;
}

}  // namespace

void set_meeting_host(const std::string& host) {
  std::lock_guard lock(meeting_mutex);
  meeting_host() = host;
}

std::string own_address(const std::string& interface_name, const char* also) {
  if (!interface_name.empty()) return interface_address(interface_name);
  for (const char* variable : {"TAEDA_DISTRIBUTED_INTERFACE", also})
    if (const char* text = variable ? std::getenv(variable) : nullptr; text && *text)
      return interface_address(text);
  std::string host;
  {
    std::lock_guard lock(meeting_mutex);
    host = meeting_host();
  }
  const std::string address = host.empty() ? "" : address_towards(host);
  return address.empty() || is_loopback(address) ? resolve("localhost") : address;
}

bool is_loopback(const std::string& address) {
  in_addr v4;
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  return ::inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string endpoint(const std::string& host, uint16_t port) {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string listen_objection(const std::string& address, uint16_t port) {
  int error = 0;
  const AddressList found = look_up(address, std::to_string(port), AI_NUMERICHOST, &error);
  if (!found) return ::gai_strerror(error);
  const int s = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return std::strerror(errno);
  const int on = 1;  // as servers do: connections of an earlier one that are still closing
  ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool can = ::bind(s, found->ai_addr, found->ai_addrlen) == 0 && ::listen(s, 1) == 0;
  const std::string out = can ? "" : std::strerror(errno);
  ::close(s);
  return out;
}

uint16_t port_of(int socket) {
  sockaddr_storage here = {};
  socklen_t size = sizeof here;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &size) != 0) return 0;
  return ntohs(here.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(here).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(here).sin_port);
}

std::string self_objection(const std::string& address) {
  int error = 0;
  const AddressList found = look_up(address, "0", AI_NUMERICHOST, &error);
  if (!found) return ::gai_strerror(error);
  const int s = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return std::strerror(errno);
  std::string out;
  if (::bind(s, found->ai_addr, found->ai_addrlen) == 0 && ::listen(s, 1) == 0)
    out = connect_objection(address, port_of(s), std::chrono::seconds(5));
  ::close(s);
  return out;
}

std::string connect_objection(const std::string& host, uint16_t port,
                              std::chrono::milliseconds timeout) {
  int error = 0;
  const AddressList found = look_up(host, std::to_string(port), 0, &error);
  if (!found) return ::gai_strerror(error);
  const int s = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s < 0) return std::strerror(errno);
  int reason = ::connect(s, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  pollfd connected = {s, POLLOUT, 0};
  if (reason == EINPROGRESS && ::poll(&connected, 1, static_cast<int>(timeout.count())) == 1) {
    socklen_t size = sizeof reason;
    ::getsockopt(s, SOL_SOCKET, SO_ERROR, &reason, &size);
  }
  ::close(s);
  return reason == EINPROGRESS ? "no answer" : reason ? std::strerror(reason) : "";
}

}  // namespace taeda::inline v0_2::distributed
